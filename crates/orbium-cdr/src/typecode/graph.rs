// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types at run time: received, or built by a program.
//!
//! All parts of one type are in one allocation and refer to one another by index, so that a
//! recursive type is a cycle of numbers, not of owners.

use std::sync::OnceLock;

use super::kind::TCKind;
use super::{TypeCode, TypeRef};

/// The parts of one type, the root first.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Whether it was received from a peer, so that its size in CDR may be far smaller than the
    /// tree to which it expands.
    pub(super) received: bool,
    /// Whether it has unresolved [`TypeCode::recursive`] placeholders.
    pub(super) pending: bool,
    /// Its [`TypeCode::memory_size`], once counted.
    pub(super) memory: OnceLock<usize>,
}

/// One part of a type; the fields are those of [`Type`](super::Type).
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: TCKind,
    pub(super) id: Box<str>,
    pub(super) name: Box<str>,
    pub(super) number: u32,
    pub(super) scale: i16,
    /// Minimum octets of a value.
    pub(super) least: u32,
    /// Number of aliases to resolve, this part included, until a part is none.
    pub(super) aliases: u16,
    pub(super) content: Option<Edge>,
    pub(super) members: Box<[NodeMember]>,
    /// Labels of a union in ascending order, each with the index of its member.
    pub(super) labels: Box<[(i64, u32)]>,
}

#[derive(Debug)]
pub(super) struct NodeMember {
    pub(super) name: Box<str>,
    pub(super) content: Option<Edge>,
    pub(super) label: i64,
    pub(super) visibility: i16,
}

/// A reference from one part of a type to another.
#[derive(Clone, Debug)]
pub(super) enum Edge {
    /// In the same graph.
    Local(u32),
    /// Elsewhere.
    Out(TypeCode),
}

impl Node {
    pub(super) fn new(kind: TCKind) -> Self {
        Self {
            kind,
            id: Box::default(),
            name: Box::default(),
            number: 0,
            scale: 0,
            least: 0,
            aliases: 0,
            content: None,
            members: Box::default(),
            labels: Box::default(),
        }
    }

    pub(super) fn named(kind: TCKind, id: &str, name: &str) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            ..Self::new(kind)
        }
    }

    /// The references to other parts.
    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        let members = self.members.iter();
        let contents = members.filter_map(|member| member.content.as_ref());
        self.content.iter().chain(contents)
    }

    /// Sorts the labels of a union; of two equal ones the first takes precedence.
    pub(super) fn index_labels(&mut self) {
        let mut labels: Vec<_> = (0u32..)
            .zip(&self.members)
            .filter(|(index, _)| *index != self.number)
            .map(|(index, member)| (member.label, index))
            .collect();
        labels.sort_unstable();
        self.labels = labels.into();
    }
}

impl Graph {
    pub(super) fn new(nodes: Vec<Node>, received: bool) -> Self {
        Self {
            nodes,
            received,
            pending: false,
            memory: OnceLock::new(),
        }
    }

    /// Computes the least size of node `index` and its depth of aliases from its parts; parts not
    /// yet finished are recursive and count as 0.
    pub(super) fn settle(&mut self, index: usize) {
        let node = &self.nodes[index];
        let least = least_size(node, |edge| match edge {
            Edge::Local(part) => self.nodes[*part as usize].least,
            Edge::Out(code) => code.as_ref().least_size(),
        });
        let aliases = match (node.kind, &node.content) {
            (TCKind::Alias, Some(Edge::Local(part))) => {
                self.nodes[*part as usize].aliases.saturating_add(1)
            }
            (TCKind::Alias, Some(Edge::Out(code))) => code.as_ref().aliases().saturating_add(1),
            _ => 0,
        };
        self.nodes[index].least = least;
        self.nodes[index].aliases = aliases;
    }
}

fn least_size(node: &Node, of: impl Fn(&Edge) -> u32) -> u32 {
    let content = || node.content.as_ref().map_or(0, &of);
    match node.kind {
        TCKind::Struct | TCKind::Except => node
            .members
            .iter()
            .filter_map(|member| member.content.as_ref())
            .map(of)
            .fold(own_size(node.kind), u32::saturating_add),
        TCKind::Array => content().saturating_mul(node.number),
        TCKind::Alias | TCKind::Union => content(),
        kind => own_size(kind),
    }
}

/// Fewest octets of a value, members and elements not counted.
pub(super) fn own_size(kind: TCKind) -> u32 {
    match kind {
        // JacORB writes no leading zeros.
        TCKind::Fixed => 1,
        TCKind::WChar => 2,
        TCKind::Enum
        | TCKind::Any
        | TCKind::TypeCode
        | TCKind::Principal
        | TCKind::String
        | TCKind::WString
        | TCKind::Sequence
        | TCKind::Except
        | TCKind::Value
        | TCKind::ValueBox
        | TCKind::Event
        | TCKind::AbstractInterface => 4,
        TCKind::ObjRef | TCKind::Component | TCKind::Home => 8,
        _ => kind.primitive().map_or(0, |(size, _)| size as u32),
    }
}

impl<'t> TypeRef<'t> {
    #[inline]
    pub(super) fn follow(graph: &'t std::sync::Arc<Graph>, edge: &'t Edge) -> Self {
        match edge {
            Edge::Local(index) => Self::of_node(graph, *index),
            Edge::Out(code) => code.as_ref(),
        }
    }
}
