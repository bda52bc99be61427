// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codec, as one program: each test file is a module, so that all of them are
//! linked once.

mod any;
mod blocks;
mod by_hand;
mod fixed;
mod fragment_boundaries;
mod hostile;
mod interpret;
mod laws;
mod layout;
mod named_types;
mod natural;
mod typecode;
mod views;
