// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compile IDL from a build script
