// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of types that are known at run time, part by part (CORBA 3.3 Part 1, "Dynamic Management of Any Values").

mod basic;
mod basic_sequences;
mod comparison;
mod component_values;
mod components;
mod data;
mod elements;
mod enumeration;
mod error;
mod factory;
mod fixed;
mod initial;
mod members;
mod node;
mod octets;
mod structure;
mod union;
mod value;
mod valuetype;

pub use elements::{DynArray, DynSequence};
pub use enumeration::DynEnum;
pub use error::DynAnyError;
pub use fixed::DynFixed;
pub use node::DynAny;
pub use structure::DynStruct;
pub use union::DynUnion;
pub use valuetype::{DynValue, DynValueBox};
