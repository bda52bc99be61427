// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common Data Representation (CORBA 3.3 Part 2, clause 9.3): IDL values to
//! bytes and back.
//!
//! This crate has no notion of sockets, requests, threads or clocks. It never reads past its input,
//! never allocates more than the input can justify, and never reads padding.
//!
//! * [`CdrWriter`] appends values to a buffer it keeps; large blocks of octets
//!   are *gathered*: kept by reference and not copied.
//! * [`CdrReader`] walks a message in place and hands out borrowed slices and
//!   strings wherever the layout on the wire is the layout in memory.
//! * [`Encode`] and [`Decode`] are implemented by every mapped IDL type.
//! * A [`View`] is read in place: its strings and slices are those of the message.
//! * [`FixedSize`] types are moved with one bounds check; where their layout in
//!   memory is their layout in CDR, sequences of them are moved in one copy.
//! * [`TypeCode`] describes a type, [`Any`] carries a value together with its
//!   type, and [`walk_value`] interprets the two side by side.
//!
//! ```
//! use orbium_cdr::{CdrReader, CdrWriter, Decode, Encode, Format};
//!
//! let values = vec![1i32, 2, 3];
//! let mut writer = CdrWriter::new(Format::native());
//! values.encode(&mut writer);
//! let mut bytes = writer.finish().unwrap();
//!
//! let mut reader = CdrReader::new(&mut bytes, Format::native());
//! assert_eq!(Vec::<i32>::decode(&mut reader).unwrap(), values);
//! ```
#![deny(unsafe_code)]

mod allocation;
mod any;
mod block;
mod boxed_state;
mod error;
mod format;
mod fragment_boundaries;
mod interpret;
mod layout;
mod mapping;
mod owner;
mod reader;
mod typecode;
mod view;
mod writer;

pub use any::{Any, AnyError};
pub use error::{CdrError, CdrErrorKind};
pub use format::{ByteOrder, CharSet, Format, WideSet};
#[doc(hidden)]
pub use interpret::copy_kept;
pub use interpret::{
    Block, Group, Leaf, OwnerWithValues, Profile, Reference, Run, ValueCopier, Visitor, copy_graph,
    copy_value, skip_value, walk_value,
};
pub use layout::fixed_size::{FixedIn, FixedOut, FixedSize};
pub use layout::{Field, Layout};
pub use mapping::char::{Char, CharOutOfRange, LongDouble, WChar};
pub use mapping::codec::{
    ArrayOf, BoundedSequence, BoundedString, Codec, SequenceOf, SequenceOfArrays, WideString,
};
pub use mapping::decimal::{Fixed, FixedError, write_packed_decimal};
pub use mapping::nillable::{DecodeNillable, EncodeNillable};
pub use mapping::parameter::Parameter;
pub use mapping::value::{Decode, Encode};
pub use owner::Owner;
pub use reader::{CdrReader, MAX_NESTING};
pub use typecode::{CopyValue, Member, MemberRef, TCKind, Type, TypeCode, TypeRef, Typed};
pub use view::{Arena, AsArgument, View, ViewCodec};
pub use writer::{CdrWriter, Piece, Pieces, WrittenState};
