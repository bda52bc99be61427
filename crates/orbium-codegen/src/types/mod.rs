// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types of IDL as Rust has them, their values and their TypeCodes.

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
