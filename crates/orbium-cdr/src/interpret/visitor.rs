// SPDX-License-Identifier: MIT OR Apache-2.0
//! Visitor of a value: the events of the interpreter's walk.

use super::blocks::Block;
use crate::{
    CdrError, CdrErrorKind, CdrReader, Char, LongDouble, TCKind, TypeCode, TypeRef, WChar,
};

/// A value without parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf<'v> {
    /// No value at all: of `tk_null` and `tk_void`.
    Nothing,
    /// `boolean`.
    Boolean(bool),
    /// `octet`.
    Octet(u8),
    /// `char`.
    Char(Char),
    /// `wchar`.
    WChar(WChar),
    /// `short`.
    Short(i16),
    /// `unsigned short`.
    UShort(u16),
    /// `long`.
    Long(i32),
    /// `unsigned long`.
    ULong(u32),
    /// `long long`.
    LongLong(i64),
    /// `unsigned long long`.
    ULongLong(u64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `long double`.
    LongDouble(LongDouble),
    /// `fixed`: the value times 10^scale.
    Fixed {
        /// The digits as one integer.
        unscaled: i128,
        /// The total number of digits.
        digits: u16,
        /// The number of digits after the point.
        scale: i16,
    },
    /// `string`.
    String(&'v str),
    /// `wstring`.
    WString(&'v str),
    /// An enumerator.
    Enum {
        /// Its number.
        ordinal: u32,
        /// Its name.
        name: &'v str,
    },
    /// `TypeCode`.
    TypeCode(&'v TypeCode),
    /// An object reference.
    Reference(Reference<'v>),
    /// `Principal`.
    Principal(&'v [u8]),
}

/// An object reference in its encoded form; nil has no profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'v> {
    /// The repository id; may be empty.
    pub type_id: &'v str,
    /// The profiles in order.
    pub profiles: &'v [Profile<'v>],
}

/// A tagged profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile<'v> {
    /// The tag of the protocol.
    pub tag: u32,
    /// The undecoded body.
    pub data: &'v [u8],
}

/// A value with parts.
#[derive(Clone, Copy, Debug)]
pub enum Group<'v> {
    /// A struct; members follow.
    Struct(TypeRef<'v>),
    /// An exception; members follow.
    Exception(TypeRef<'v>),
    /// A union; the member selected follows, if any.
    Union(TypeRef<'v>, Leaf<'v>),
    /// A sequence of that many elements.
    Sequence(TypeRef<'v>, u32),
    /// An array of that many elements.
    Array(TypeRef<'v>, u32),
    /// An `any`; a value of the type follows.
    Any(TypeRef<'v>),
}

/// Receives the parts of a value from the interpreter.
///
/// Types are passed with aliases resolved. An error ends the walk.
pub trait Visitor {
    /// The error that ends a walk.
    type Error: From<CdrError>;

    /// A value without parts.
    ///
    /// # Errors
    /// Any error ends the walk, here and below.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Self::Error>;

    /// The parts of a value follow.
    #[allow(clippy::missing_errors_doc)]
    fn begin(&mut self, group: Group<'_>) -> Result<(), Self::Error>;

    /// The named member of a struct, union or exception follows.
    #[allow(clippy::missing_errors_doc)]
    fn member(&mut self, name: &str) -> Result<(), Self::Error>;

    /// The parts of a value are through.
    #[allow(clippy::missing_errors_doc)]
    fn end(&mut self, group: Group<'_>) -> Result<(), Self::Error>;

    /// The elements of a sequence or array of primitives, in one piece and in
    /// native byte order. By default each is reported as a leaf.
    #[allow(clippy::missing_errors_doc)]
    #[inline]
    fn run(&mut self, run: Run<'_>) -> Result<(), Self::Error> {
        run.leaves().try_for_each(|leaf| self.leaf(leaf))
    }

    /// Whether [`block`](Self::block) accepts elements of a fixed size; by default they are walked
    /// member by member.
    fn takes_blocks(&self) -> bool {
        false
    }

    /// All elements of a sequence or array of a fixed-size type but the first, which was walked, in
    /// their encoded form after it.
    ///
    /// # Errors
    /// [`CdrErrorKind::NotSupported`] by default: only called if
    /// [`takes_blocks`](Self::takes_blocks).
    fn block(&mut self, block: Block<'_>) -> Result<(), Self::Error> {
        let _ = block;
        Err(CdrError::new(CdrErrorKind::NotSupported, 0).into())
    }

    /// A value of a valuetype or of an abstract interface, to be read from `reader`, for example by
    /// [`copy_graph`](crate::copy_graph).
    ///
    /// # Errors
    /// [`CdrErrorKind::NotSupported`] by default.
    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), Self::Error> {
        let _ = code;
        Err(reader.error(CdrErrorKind::NotSupported).into())
    }
}

/// A visitor that stores its own error here and returns a [`CdrError`] in its place, so that all
/// walks have one type.
pub(super) struct Keeping<'v, V: Visitor> {
    pub(super) visitor: &'v mut V,
    pub(super) said: Option<V::Error>,
}

impl<V: Visitor> Keeping<'_, V> {
    fn keep(&mut self, visited: Result<(), V::Error>) -> Result<(), CdrError> {
        visited.map_err(|error| {
            self.said = Some(error);
            CdrError::new(CdrErrorKind::NotSupported, 0)
        })
    }
}

impl<V: Visitor> Visitor for Keeping<'_, V> {
    type Error = CdrError;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.leaf(leaf);
        self.keep(visited)
    }

    fn begin(&mut self, group: Group<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.begin(group);
        self.keep(visited)
    }

    fn member(&mut self, name: &str) -> Result<(), CdrError> {
        let visited = self.visitor.member(name);
        self.keep(visited)
    }

    fn end(&mut self, group: Group<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.end(group);
        self.keep(visited)
    }

    fn run(&mut self, run: Run<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.run(run);
        self.keep(visited)
    }

    fn takes_blocks(&self) -> bool {
        self.visitor.takes_blocks()
    }

    fn block(&mut self, block: Block<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.block(block);
        self.keep(visited)
    }

    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let visited = self.visitor.value(code, reader);
        self.keep(visited)
    }
}

/// Primitives side by side, in native byte order.
#[derive(Clone, Copy, Debug)]
pub struct Run<'v> {
    /// The kind of the elements: a primitive of fixed size.
    pub(super) kind: TCKind,
    /// Size of one element.
    pub(super) size: usize,
    pub(super) octets: &'v [u8],
}

impl<'v> Run<'v> {
    /// The kind of the elements.
    #[must_use]
    #[inline]
    pub fn kind(self) -> TCKind {
        self.kind
    }

    /// The elements in their layout in memory.
    #[must_use]
    pub fn octets(self) -> &'v [u8] {
        self.octets
    }

    /// The elements one by one.
    pub fn leaves(self) -> impl ExactSizeIterator<Item = Leaf<'v>> {
        let kind = self.kind;
        self.octets
            .chunks_exact(self.size)
            .map(move |octets| primitive(kind, octets))
    }
}

/// A primitive from its octets in native order.
pub(super) fn primitive<'v>(kind: TCKind, octets: &[u8]) -> Leaf<'v> {
    fn bytes<const N: usize>(octets: &[u8]) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(octets);
        bytes
    }
    match kind {
        TCKind::Boolean => Leaf::Boolean(octets[0] != 0),
        TCKind::Char => Leaf::Char(Char(octets[0])),
        TCKind::Octet => Leaf::Octet(octets[0]),
        TCKind::Short => Leaf::Short(i16::from_ne_bytes(bytes(octets))),
        TCKind::UShort => Leaf::UShort(u16::from_ne_bytes(bytes(octets))),
        TCKind::Long => Leaf::Long(i32::from_ne_bytes(bytes(octets))),
        TCKind::ULong => Leaf::ULong(u32::from_ne_bytes(bytes(octets))),
        TCKind::Float => Leaf::Float(f32::from_ne_bytes(bytes(octets))),
        TCKind::LongLong => Leaf::LongLong(i64::from_ne_bytes(bytes(octets))),
        TCKind::ULongLong => Leaf::ULongLong(u64::from_ne_bytes(bytes(octets))),
        TCKind::Double => Leaf::Double(f64::from_ne_bytes(bytes(octets))),
        TCKind::LongDouble => {
            let mut bytes = bytes(octets);
            if cfg!(target_endian = "big") {
                bytes.reverse();
            }
            Leaf::LongDouble(LongDouble(bytes))
        }
        _ => Leaf::Nothing,
    }
}
