// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs with generations, buffer pools and other small concurrent structures
