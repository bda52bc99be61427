// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checked model: the definitions of a valid IDL file, the input of code generation.
//!
//! A [`Model`] is an arena of [`Definition`]s. A definition is identified by its [`DefId`], and
//! every reference between definitions (a base, a type, a raised exception) is such an id, so
//! recursive types need no special treatment. All rules have been checked before a model exists:
//! names resolve, constants are evaluated, bounds are positive, forward declared structs are
//! complete, labels are distinct and of the discriminator's type.
//!
//! Shape of the tree:
//!
//! - [`Model::top_level`] and [`Model::contents`] give the definitions in a scope in the order in
//!   which they were defined (a forward declaration alone does not count as a place, unless it is
//!   all there is). A reopened module is one definition with the contents of all its openings.
//! - Operations, attributes and constants are definitions of their own; members of structs, cases
//!   of unions, parameters and enumerators are plain data inside their owner.
//! - A struct, union or enum defined in place (`struct S { enum E { a } kind; };`) is an ordinary
//!   definition among the contents of the scope it belongs to.
//!
//! ```
//! use orbium_idl_model::{DefinitionKind, Type};
//!
//! # fn show(model: &orbium_idl_model::Model) {
//! for id in model.top_level() {
//!     let module = &model[*id];
//!     println!("{} is {}", module.scoped_name(), module.repository_id);
//!     for child in model.contents(*id) {
//!         match &model[*child].kind {
//!             DefinitionKind::Struct(s) => {
//!                 for member in &s.members {
//!                     if let Type::Sequence { element, .. } = model.resolve_alias(&member.ty) {
//!                         println!("{} holds many {}", member.name, model.type_name(element));
//!                     }
//!                 }
//!             }
//!             DefinitionKind::Interface(i) => println!("{} bases", i.bases.len()),
//!             _ => {}
//!         }
//!     }
//! }
//! # }
//! ```
#![forbid(unsafe_code)]

mod build;
mod by_id;
mod constant_value;
mod definition;
mod excerpt;
mod id;
mod query;
mod types;

use std::collections::HashMap;

pub use by_id::{DefMap, DefSet};
pub use constant_value::{ConstValue, Fixed};
pub use definition::{
    Alias, Annotation, AnnotationParameter, AnnotationValue, Attribute, Case, Constant, Definition,
    DefinitionKind, Direction, Enum, Enumerator, Exception, Factory, Interface, InterfaceKind,
    Member, Module, Operation, Parameter, StateMember, Struct, Union, Unmapped, ValueBox,
    ValueKind, ValueType,
};
pub use excerpt::{Excerpt, Location};
pub use id::DefId;
pub use types::Type;

/// The definitions of IDL files and the files that they include.
#[derive(Debug, Clone, Default)]
pub struct Model {
    definitions: Vec<Definition>,
    top_level: Vec<DefId>,
    by_name: HashMap<String, DefId>,
}
