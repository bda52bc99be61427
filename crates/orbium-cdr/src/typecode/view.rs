// SPDX-License-Identifier: MIT OR Apache-2.0
//! Uniform access to a type, independent of the storage of its description.

use std::sync::Arc;

use super::declare::{CopyValue, Member, NO_DEFAULT, Type};
use super::graph::{Graph, Node, NodeMember, own_size};
use super::kind::TCKind;
use super::{Repr, TypeCode};

/// Depth to which the least size of a static type is computed; deeper parts count as 0, which is
/// safe and ends recursion.
const MAX_MIN_SIZE_DEPTH: u32 = 6;

/// A borrowed [`TypeCode`], the form in which its parts are returned.
///
/// Copying one costs nothing, not even a reference count.
#[derive(Clone, Copy)]
pub struct TypeRef<'t>(View<'t>);

#[derive(Clone, Copy)]
enum View<'t> {
    Static(&'static Type),
    Shared(&'t Arc<Graph>, u32, &'t Node),
}

/// A member of a struct, exception, union or value, or an enumerator.
#[derive(Clone, Copy)]
pub struct MemberRef<'t>(MemberView<'t>, usize);

#[derive(Clone, Copy)]
enum MemberView<'t> {
    Static(&'static Type, &'static Member),
    Shared(&'t Arc<Graph>, &'t Node, &'t NodeMember),
}

/// Identifies a part of a type.
pub(super) type Identity = (usize, u32);

impl<'t> TypeRef<'t> {
    pub(crate) const fn of_static(description: &'static Type) -> Self {
        Self(View::Static(description))
    }

    /// The function that copies its values, if it is a valuetype of this program.
    pub(crate) fn copy_of_values(self) -> Option<CopyValue> {
        match self.0 {
            View::Static(description) => description.copy,
            View::Shared(..) => None,
        }
    }

    pub(super) fn of_node(graph: &'t Arc<Graph>, index: u32) -> Self {
        Self(View::Shared(graph, index, &graph.nodes[index as usize]))
    }

    /// An owned handle.
    #[must_use]
    pub fn to_type_code(self) -> TypeCode {
        TypeCode(match self.0 {
            View::Static(description) => Repr::Static(description),
            View::Shared(graph, index, _) => Repr::Shared(Arc::clone(graph), index),
        })
    }

    /// Identifies a part of one description as long as a handle on it exists. Equal types may have
    /// different identities.
    #[doc(hidden)]
    #[must_use]
    pub fn identity(self) -> (usize, u32) {
        match self.0 {
            View::Static(description) => (core::ptr::from_ref(description).addr(), u32::MAX),
            View::Shared(graph, index, _) => (Arc::as_ptr(graph).addr(), index),
        }
    }

    /// Whether the description was received from a peer.
    pub(super) fn is_received(self) -> bool {
        matches!(self.0, View::Shared(graph, ..) if graph.received)
    }

    /// The kind of the type.
    #[must_use]
    #[inline]
    pub fn kind(self) -> TCKind {
        match self.0 {
            View::Static(description) => description.kind,
            View::Shared(_, _, node) => node.kind,
        }
    }

    /// The repository id; empty if there is none.
    #[must_use]
    pub fn id(self) -> &'t str {
        match self.0 {
            View::Static(description) => description.id,
            View::Shared(_, _, node) => &node.id,
        }
    }

    /// The simple name; empty if there is none.
    #[must_use]
    #[inline]
    pub fn name(self) -> &'t str {
        match self.0 {
            View::Static(description) => description.name,
            View::Shared(_, _, node) => &node.name,
        }
    }

    fn number(self) -> u32 {
        match self.0 {
            View::Static(description) => description.number,
            View::Shared(_, _, node) => node.number,
        }
    }

    fn small_number(self) -> i16 {
        match self.0 {
            View::Static(description) => description.scale,
            View::Shared(_, _, node) => node.scale,
        }
    }

    pub(crate) fn content(self) -> Option<TypeRef<'t>> {
        match self.0 {
            View::Static(description) => description.content.map(TypeRef::of_static),
            View::Shared(graph, _, node) => {
                let edge = node.content.as_ref()?;
                Some(TypeRef::follow(graph, edge))
            }
        }
    }

    /// Bound of a string or sequence (0 if unbounded), length of an array.
    #[must_use]
    #[inline]
    pub fn length(self) -> u32 {
        match self.kind() {
            TCKind::String | TCKind::WString | TCKind::Sequence | TCKind::Array => self.number(),
            _ => 0,
        }
    }

    /// Decimal digits of a `fixed`.
    #[must_use]
    pub fn digits(self) -> u16 {
        match self.kind() {
            TCKind::Fixed => self.number() as u16,
            _ => 0,
        }
    }

    /// The number of digits of a `fixed` after the point.
    #[must_use]
    pub fn scale(self) -> i16 {
        match self.kind() {
            TCKind::Fixed => self.small_number(),
            _ => 0,
        }
    }

    /// Modifier of a value type: 0 none, 1 custom, 2 abstract, 3 truncatable.
    #[must_use]
    pub fn value_modifier(self) -> i16 {
        match self.kind() {
            TCKind::Value | TCKind::Event => self.small_number(),
            _ => 0,
        }
    }

    /// Element of a sequence or array, original of an alias, content of a box.
    #[must_use]
    #[inline]
    pub fn content_type(self) -> Option<TypeRef<'t>> {
        match self.kind() {
            TCKind::Sequence | TCKind::Array | TCKind::Alias | TCKind::ValueBox => self.content(),
            _ => None,
        }
    }

    /// Discriminator type of a union.
    #[must_use]
    #[inline]
    pub fn discriminator_type(self) -> Option<TypeRef<'t>> {
        match self.kind() {
            TCKind::Union => self.content(),
            _ => None,
        }
    }

    /// Concrete base of a value type.
    #[must_use]
    #[inline]
    pub fn concrete_base_type(self) -> Option<TypeRef<'t>> {
        match self.kind() {
            TCKind::Value | TCKind::Event => self.content(),
            _ => None,
        }
    }

    /// The index of a union's default member.
    #[must_use]
    #[inline]
    pub fn default_index(self) -> Option<usize> {
        match self.kind() {
            TCKind::Union if self.number() != NO_DEFAULT => Some(self.number() as usize),
            _ => None,
        }
    }

    /// The number of members or enumerators.
    #[must_use]
    #[inline]
    pub fn member_count(self) -> usize {
        match self.0 {
            View::Static(description) => description.members.len(),
            View::Shared(_, _, node) => node.members.len(),
        }
    }

    /// The member or enumerator at `index`.
    #[must_use]
    pub fn member(self, index: usize) -> Option<MemberRef<'t>> {
        let view = match self.0 {
            View::Static(description) => {
                MemberView::Static(description, description.members.get(index)?)
            }
            View::Shared(graph, _, node) => {
                MemberView::Shared(graph, node, node.members.get(index)?)
            }
        };
        Some(MemberRef(view, index))
    }

    /// The members or enumerators in order.
    pub fn members(self) -> impl ExactSizeIterator<Item = MemberRef<'t>> + use<'t> {
        (0..self.member_count()).map(move |index| {
            self.member(index)
                .expect("the index is less than the count of members")
        })
    }

    /// The member that a discriminator selects, including the default one.
    #[must_use]
    pub fn selected_member(self, label: i64) -> Option<MemberRef<'t>> {
        let index = match self.0 {
            View::Static(description) => description
                .members
                .iter()
                .position(|member| member.label == label && !member.is_default),
            View::Shared(_, _, node) => {
                let from = node.labels.partition_point(|(other, _)| *other < label);
                match node.labels.get(from) {
                    Some((other, index)) if *other == label => Some(*index as usize),
                    _ => None,
                }
            }
        };
        self.member(index.or_else(|| self.default_index())?)
    }

    /// The type after resolving all aliases.
    #[must_use]
    pub fn unaliased(mut self) -> TypeRef<'t> {
        while self.kind() == TCKind::Alias {
            match self.content() {
                Some(original) => self = original,
                None => break,
            }
        }
        self
    }

    /// The aliases that [`TypeRef::unaliased`] resolves; 0 for a type of this program, which has few.
    pub(super) fn aliases(self) -> u16 {
        match self.0 {
            View::Static(_) => 0,
            View::Shared(_, _, node) => node.aliases,
        }
    }

    /// Minimum octets of a value; never too large, so counts can be checked against it.
    #[inline]
    pub(crate) fn least_size(self) -> u32 {
        match self.0 {
            View::Static(description) => least_size(description, MAX_MIN_SIZE_DEPTH),
            View::Shared(_, _, node) => node.least,
        }
    }
}

fn least_size(description: &Type, depth: u32) -> u32 {
    let Some(depth) = depth.checked_sub(1) else {
        return 0;
    };
    let content = || {
        description
            .content
            .map_or(0, |part| least_size(part, depth))
    };
    match description.kind {
        TCKind::Struct | TCKind::Except => description
            .members
            .iter()
            .filter_map(|member| member.content)
            .map(|part| least_size(part, depth))
            .fold(own_size(description.kind), u32::saturating_add),
        TCKind::Array => content().saturating_mul(description.number),
        TCKind::Alias | TCKind::Union => content(),
        kind => own_size(kind),
    }
}

impl<'t> MemberRef<'t> {
    /// The name; may be empty.
    #[must_use]
    #[inline]
    pub fn name(self) -> &'t str {
        match self.0 {
            MemberView::Static(_, member) => member.name,
            MemberView::Shared(_, _, member) => &member.name,
        }
    }

    /// The type; `None` for an enumerator.
    #[must_use]
    pub fn type_code(self) -> Option<TypeRef<'t>> {
        match self.0 {
            MemberView::Static(_, member) => member.content.map(TypeRef::of_static),
            MemberView::Shared(graph, _, member) => {
                Some(TypeRef::follow(graph, member.content.as_ref()?))
            }
        }
    }

    /// The label of a union member, as in [`Member::case`]; `None` for the default member.
    #[must_use]
    pub fn label(self) -> Option<i64> {
        match self.0 {
            MemberView::Static(owner, member) => {
                (owner.kind == TCKind::Union && !member.is_default).then_some(member.label)
            }
            MemberView::Shared(_, owner, member) => (owner.kind == TCKind::Union
                && owner.number as usize != self.1)
                .then_some(member.label),
        }
    }

    /// The encoded value of a label, including that of the default member.
    pub(super) fn raw_label(self) -> i64 {
        match self.0 {
            MemberView::Static(_, member) => member.label,
            MemberView::Shared(_, _, member) => member.label,
        }
    }

    /// Position among the members.
    #[must_use]
    pub fn index(self) -> usize {
        self.1
    }

    /// Whether a state member of a value type is public.
    #[must_use]
    pub fn is_public(self) -> bool {
        self.visibility() != 0
    }

    pub(super) fn visibility(self) -> i16 {
        match self.0 {
            MemberView::Static(_, member) => member.visibility,
            MemberView::Shared(_, _, member) => member.visibility,
        }
    }
}
