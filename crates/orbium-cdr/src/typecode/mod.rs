// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types as values (CORBA 3.3 Part 1, clause 8.11; encoding: Part 2, clause
//! 9.3.5).

mod build;
mod compare;
mod declare;
mod display;
mod graph;
mod kind;
mod known;
mod memory;
mod read;
mod typed;
mod view;
mod write;

use std::sync::Arc;

pub use declare::{CopyValue, Member, Type};
pub(crate) use display::write_type_name;
use graph::Graph;
pub use kind::TCKind;
pub use typed::Typed;
pub use view::{MemberRef, TypeRef};

/// The value in place of a kind in CDR if a type refers back.
const INDIRECTION: u32 = 0xFFFF_FFFF;

/// A type: a [`Type`] of this program, or one received or built.
///
/// Cheap to clone. `==` is [`TypeCode::equal`].
#[derive(Clone)]
pub struct TypeCode(Repr);

#[derive(Clone)]
enum Repr {
    Static(&'static Type),
    Shared(Arc<Graph>, u32),
}

impl TypeCode {
    #[inline]
    fn shared(graph: Arc<Graph>, index: u32) -> Self {
        Self(Repr::Shared(graph, index))
    }

    /// The type, borrowed: it has all accessors.
    #[must_use]
    #[inline]
    pub fn as_ref(&self) -> TypeRef<'_> {
        match &self.0 {
            Repr::Static(description) => TypeRef::of_static(description),
            Repr::Shared(graph, index) => TypeRef::of_node(graph, *index),
        }
    }

    /// The kind of the type.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> TCKind {
        self.as_ref().kind()
    }

    /// The repository id; empty if there is none.
    #[must_use]
    pub fn id(&self) -> &str {
        self.as_ref().id()
    }

    /// The simple name; empty if there is none.
    #[must_use]
    #[inline]
    pub fn name(&self) -> &str {
        self.as_ref().name()
    }

    /// Bound of a string or sequence (0 if unbounded), length of an array.
    #[must_use]
    #[inline]
    pub fn length(&self) -> u32 {
        self.as_ref().length()
    }

    /// Decimal digits of a `fixed`.
    #[must_use]
    pub fn digits(&self) -> u16 {
        self.as_ref().digits()
    }

    /// The number of digits of a `fixed` after the point.
    #[must_use]
    pub fn scale(&self) -> i16 {
        self.as_ref().scale()
    }

    /// The number of members or enumerators.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.as_ref().member_count()
    }

    /// The member or enumerator at `index`.
    #[must_use]
    #[inline]
    pub fn member(&self, index: usize) -> Option<MemberRef<'_>> {
        self.as_ref().member(index)
    }

    /// The members or enumerators in order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberRef<'_>> {
        self.as_ref().members()
    }

    /// Element of a sequence or array, original of an alias, content of a box.
    #[must_use]
    #[inline]
    pub fn content_type(&self) -> Option<Self> {
        self.as_ref().content_type().map(TypeRef::to_type_code)
    }

    /// Discriminator type of a union.
    #[must_use]
    #[inline]
    pub fn discriminator_type(&self) -> Option<Self> {
        self.as_ref()
            .discriminator_type()
            .map(TypeRef::to_type_code)
    }

    /// The index of a union's default member.
    #[must_use]
    #[inline]
    pub fn default_index(&self) -> Option<usize> {
        self.as_ref().default_index()
    }

    /// The type after resolving all aliases.
    #[must_use]
    #[inline]
    pub fn unaliased(&self) -> Self {
        self.as_ref().unaliased().to_type_code()
    }

    /// Whether the types agree in everything, including names and aliases.
    #[must_use]
    #[inline]
    pub fn equal(&self, other: &Self) -> bool {
        self.as_ref().equal(other.as_ref())
    }

    /// Whether a value of one type is a value of the other: aliases are resolved, repository ids
    /// decide if both have one, and structure decides otherwise.
    #[must_use]
    #[inline]
    pub fn equivalent(&self, other: &Self) -> bool {
        self.as_ref().equivalent(other.as_ref())
    }
}

impl From<&'static Type> for TypeCode {
    #[inline]
    fn from(description: &'static Type) -> Self {
        Self(Repr::Static(description))
    }
}

impl Default for TypeCode {
    /// `tk_null`.
    #[inline]
    fn default() -> Self {
        Self::from(Type::NULL)
    }
}

impl PartialEq for TypeCode {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.equal(other)
    }
}

impl Eq for TypeCode {}
