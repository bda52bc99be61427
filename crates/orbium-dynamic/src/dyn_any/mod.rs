// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of types that are determined at run time, part by part (CORBA 3.3 Part 1, "Dynamic
//! Management of Any Values").

mod basic;
mod comparison;
mod components;
mod data;
mod error;
mod factory;
mod initial;
mod node;
mod value;
mod valuetype;

pub use basic::enumeration::DynEnum;
pub use basic::fixed::DynFixed;
pub use components::elements::{DynArray, DynSequence};
pub use components::structure::DynStruct;
pub use components::union::DynUnion;
pub use error::DynAnyError;
pub use node::DynAny;
pub use valuetype::{DynValue, DynValueBox};
