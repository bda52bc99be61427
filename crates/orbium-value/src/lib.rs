// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values: what a `valuetype` of IDL describes (CORBA 3.3 Part 1, clause 9; Part 2, 9.3.4).
//!
//! This crate has no notion of requests, references, adapters or the compiler. It stores the state
//! of values, and writes and reads graphs of them over `orbium-cdr`.
//!
//! * A [`ValueBase`] is a handle on any value: cheap to clone, shared, never null. Null is
//!   `None` of an `Option`. Generated handles, one for each value type, deref to it.
//! * [`idl_value!`] declares a value type: its handle and the struct of its state.
//! * A [`Class`] describes a value type at run time: ids, bases, derived types.
//! * Values of types that were not compiled are read by their TypeCodes ([`read_described`]),
//!   with the same handles; their state is [`Linked`] data.
//!
//! ```
//! use orbium_value::idl_value;
//!
//! idl_value! {
//!     /// A point.
//!     pub struct Point(PointState): POINT_TYPE = "IDL:Point:1.0", Plain, [] {
//!         public x: i32,
//!         public y: i32,
//!     }
//! }
//!
//! let point = Point::new(PointState { x: 1, y: 2 });
//! let same = point.clone();
//! same.write().x = 5;
//! assert_eq!(point.read().x, 5);
//! ```
//!
//! Sharing and cycles survive a message:
//!
//! ```
//! use orbium_cdr::{CdrReader, CdrWriter, Decode, Encode, Format};
//! use orbium_value::idl_value;
//!
//! idl_value! {
//!     /// A link of a chain.
//!     pub struct Link(LinkState): LINK_TYPE = "IDL:Link:1.0", Plain, [] {
//!         public next: Option<Link> = &LINK_TYPE,
//!         public number: i32,
//!     }
//! }
//!
//! let link = Link::new(LinkState { next: None, number: 7 });
//! link.write().next = Some(link.clone()); // a cycle
//!
//! let mut writer = CdrWriter::new(Format::native());
//! let value = Some(link.clone());
//! value.encode(&mut writer);
//! let mut bytes = writer.finish().unwrap();
//!
//! let copy = Option::<Link>::decode(&mut CdrReader::new(&mut bytes, Format::native()));
//! let copy = copy.unwrap().unwrap();
//! assert_eq!(copy.read().number, 7);
//! assert_eq!(copy.read().next, Some(copy.clone()));
//!
//! // A cycle is freed once it is broken.
//! link.unlink();
//! copy.unlink();
//! ```
#![forbid(unsafe_code)]

mod abstract_interface;
mod address_hash;
mod base;
mod class;
mod custom;
mod described;
mod event_base;
mod facet;
mod factories;
mod guard;
mod handle;
mod mapping;
mod state;
mod unlink;
mod wire;

pub use abstract_interface::Abstract;
#[doc(hidden)]
pub use base::{never_new, stateless, unreadable};
pub use class::Kind;
pub use custom::{CustomMarshal, DataInput, DataOutput};
pub use described::read_described;
pub use event_base::EventBase;
pub use facet::Facet;
pub use factories::{Factories, ValueOwner};
pub use guard::{Read, Write};
pub use handle::{Class, ClassOf, HasState, ValueBase, ValueType};
#[doc(hidden)]
pub use handle::{Custom, made, read_into};
pub use state::State;
#[doc(hidden)]
pub use wire::in_any::{copy_abstract, copy_value};
pub use wire::linked::Linked;
#[doc(hidden)]
pub use wire::read::read_new;
pub use wire::read::read_value;
pub use wire::write::write_value;

/// Names for the macros.
#[doc(hidden)]
pub mod codegen {
    pub use orbium_cdr;
}

/// Maximum nesting of values that are written or read; deeper graphs are refused.
///
/// Each level uses stack: this depth fits into the threads of an ORB.
pub const MAX_DEPTH: u32 = 256;

/// Maximum nesting of values within anys within values that is read; deeper ones are refused.
pub const MAX_ANY_DEPTH: u32 = 4;

/// Maximum octets of a repository id in a message: ids are compared and looked up for each value,
/// and by an indirection a value of few octets can have a long one.
pub(crate) const MAX_ID_LENGTH: usize = 1024;

/// Maximum number of values of one message; larger graphs are refused.
pub const MAX_VALUES: usize = 1 << 20;
