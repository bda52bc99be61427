// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust from a checked IDL model
