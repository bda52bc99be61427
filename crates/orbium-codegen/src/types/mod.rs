// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust types of IDL types, their values and their TypeCodes.

pub(crate) mod codec;
mod constants;
pub(crate) mod data;
pub(crate) mod facts;
mod rust_types;
mod typecodes;
mod unions;
mod value_operations;
mod values;
mod view;
