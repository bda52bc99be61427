// SPDX-License-Identifier: MIT OR Apache-2.0
//! The demonstration, and the pages that describe the mapping, as one program: each test file is a module, so that all of them are
//! linked once.

mod loads;
mod mapping;
mod self_interop;
mod value_factories;
mod values;
mod wire;
