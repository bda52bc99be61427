// SPDX-License-Identifier: MIT OR Apache-2.0
//! The front end of the IDL compiler, as one program: each test file is a module, so that all of them are
//! linked once.

mod agrees_with_omniidl;
mod catalogue;
mod components;
mod diagnostics;
mod hostile_input;
mod invalid_input;
mod model_contents;
mod preprocessing;
mod valid_input;
