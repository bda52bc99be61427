// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types built at run time.

use std::sync::Arc;

use super::declare::NO_DEFAULT;
use super::graph::{Edge, Graph, Node, NodeMember};
use super::kind::TCKind;
use super::known::Known;
use super::{Repr, TypeCode, TypeRef};

/// Copies parts of other graphs into one that resolves their placeholders.
struct Gathering<'i> {
    /// Repository id of the type that is now defined.
    id: &'i str,
    graph: Graph,
    /// The parts that were copied already, and their indices.
    taken: Known,
}

impl Gathering<'_> {
    /// The edge as it is from the new graph; `from` is the graph it was in.
    fn edge(&mut self, from: Option<&Arc<Graph>>, edge: &Edge) -> Edge {
        let (graph, index) = match (edge, from) {
            (Edge::Out(TypeCode(Repr::Shared(graph, index))), _) => (graph, *index),
            (Edge::Local(index), Some(graph)) => (graph, *index),
            _ => return edge.clone(),
        };
        if graph.pending {
            self.take(graph, index)
        } else {
            Edge::Out(TypeCode::shared(Arc::clone(graph), index))
        }
    }

    fn take(&mut self, graph: &Arc<Graph>, index: u32) -> Edge {
        let node = &graph.nodes[index as usize];
        if node.is_promise() && *node.id == *self.id {
            return Edge::Local(0);
        }
        let part = TypeRef::of_node(graph, index).identity();
        if let Some(place) = self.taken.get(part) {
            return Edge::Local(place as u32);
        }
        let place = self.graph.nodes.len();
        self.taken.insert(part, place);
        self.graph.nodes.push(Node::new(node.kind));
        self.graph.pending |= node.is_promise();
        self.fill(place, Some(graph), node);
        Edge::Local(place as u32)
    }

    /// Fills the part at `place` with a copy of `node` and all its edges.
    fn fill(&mut self, place: usize, from: Option<&Arc<Graph>>, node: &Node) {
        let content = node.content.as_ref().map(|edge| self.edge(from, edge));
        let members = node.members.iter().map(|member| NodeMember {
            name: member.name.clone(),
            content: member.content.as_ref().map(|edge| self.edge(from, edge)),
            ..*member
        });
        let members = members.collect();
        self.graph.nodes[place] = Node {
            number: node.number,
            scale: node.scale,
            content,
            members,
            labels: node.labels.clone(),
            ..Node::named(node.kind, &node.id, &node.name)
        };
        self.graph.settle(place);
    }
}

impl Node {
    /// Whether the type is named but not yet defined.
    fn is_promise(&self) -> bool {
        self.kind == TCKind::Alias && self.content.is_none()
    }

    fn refers_to_promises(&self) -> bool {
        self.edges().any(
            |edge| matches!(edge, Edge::Out(TypeCode(Repr::Shared(graph, _))) if graph.pending),
        )
    }
}

impl TypeCode {
    fn build(mut node: Node) -> Self {
        if node.kind == TCKind::Union {
            node.index_labels();
        }
        let pending = node.is_promise() || node.refers_to_promises();
        if pending && node.kind.may_recur() {
            let mut gathering = Gathering {
                id: &node.id,
                graph: Graph::new(vec![Node::new(node.kind)], false),
                taken: Known::default(),
            };
            gathering.fill(0, None, &node);
            return Self::shared(gathering.graph.into(), 0);
        }
        let mut graph = Graph::new(vec![node], false);
        graph.pending = pending;
        graph.settle(0);
        Self::shared(graph.into(), 0)
    }

    /// A placeholder for a struct, union or exception with that repository id, which is resolved
    /// when that type is built with the placeholder inside it. Until then it cannot be marshalled.
    ///
    /// ```
    /// use orbium_cdr::{Type, TypeCode};
    ///
    /// let nodes = TypeCode::sequence(TypeCode::recursive("IDL:Node:1.0"), 0);
    /// let node = TypeCode::structure("IDL:Node:1.0", "Node", [("children", nodes)]);
    /// let children = node.member(0).unwrap().type_code().unwrap();
    /// assert_eq!(children.content_type().unwrap().to_type_code(), node);
    /// ```
    #[must_use]
    #[inline]
    pub fn recursive(id: &str) -> Self {
        Self::build(Node::named(TCKind::Alias, id, ""))
    }

    /// `string<bound>`, built at run time; 0 means unbounded.
    #[must_use]
    #[inline]
    pub fn string(bound: u32) -> Self {
        Self::build(Node {
            number: bound,
            ..Node::new(TCKind::String)
        })
    }

    /// `wstring<bound>`; 0 means unbounded.
    #[must_use]
    #[inline]
    pub fn wstring(bound: u32) -> Self {
        Self::build(Node {
            number: bound,
            ..Node::new(TCKind::WString)
        })
    }

    /// `fixed<digits, scale>`.
    #[must_use]
    #[inline]
    pub fn fixed(digits: u16, scale: i16) -> Self {
        Self::build(Node {
            number: u32::from(digits),
            scale,
            ..Node::new(TCKind::Fixed)
        })
    }

    /// `sequence<element, bound>`; 0 means unbounded.
    #[must_use]
    pub fn sequence(element: Self, bound: u32) -> Self {
        Self::build(Node {
            number: bound,
            content: Some(Edge::Out(element)),
            ..Node::new(TCKind::Sequence)
        })
    }

    /// One dimension of an array.
    #[must_use]
    pub fn array(element: Self, length: u32) -> Self {
        Self::build(Node {
            number: length,
            content: Some(Edge::Out(element)),
            ..Node::new(TCKind::Array)
        })
    }

    /// `typedef`.
    #[must_use]
    #[inline]
    pub fn alias(id: &str, name: &str, original: Self) -> Self {
        Self::build(Node {
            content: Some(Edge::Out(original)),
            ..Node::named(TCKind::Alias, id, name)
        })
    }

    /// `interface`.
    #[must_use]
    #[inline]
    pub fn interface(id: &str, name: &str) -> Self {
        Self::build(Node::named(TCKind::ObjRef, id, name))
    }

    /// `abstract interface`.
    #[must_use]
    #[inline]
    pub fn abstract_interface(id: &str, name: &str) -> Self {
        Self::build(Node::named(TCKind::AbstractInterface, id, name))
    }

    /// `local interface`.
    #[must_use]
    #[inline]
    pub fn local_interface(id: &str, name: &str) -> Self {
        Self::build(Node::named(TCKind::LocalInterface, id, name))
    }

    /// `native`.
    #[must_use]
    #[inline]
    pub fn native(id: &str, name: &str) -> Self {
        Self::build(Node::named(TCKind::Native, id, name))
    }

    /// A boxed value.
    #[must_use]
    #[inline]
    pub fn value_box(id: &str, name: &str, boxed: Self) -> Self {
        Self::build(Node {
            content: Some(Edge::Out(boxed)),
            ..Node::named(TCKind::ValueBox, id, name)
        })
    }

    /// `valuetype`; the modifier as in [`Type::value`](super::Type::value), and for each member
    /// whether it is public.
    #[must_use]
    pub fn value<'m>(
        id: &str,
        name: &str,
        modifier: i16,
        concrete_base: Option<Self>,
        members: impl IntoIterator<Item = (&'m str, Self, bool)>,
    ) -> Self {
        Self::build(value_node(
            TCKind::Value,
            (id, name),
            modifier,
            concrete_base,
            members,
        ))
    }

    /// `eventtype`; as [`TypeCode::value`].
    #[must_use]
    pub fn event<'m>(
        id: &str,
        name: &str,
        modifier: i16,
        concrete_base: Option<Self>,
        members: impl IntoIterator<Item = (&'m str, Self, bool)>,
    ) -> Self {
        Self::build(value_node(
            TCKind::Event,
            (id, name),
            modifier,
            concrete_base,
            members,
        ))
    }

    /// `struct`.
    #[must_use]
    pub fn structure<'m>(
        id: &str,
        name: &str,
        members: impl IntoIterator<Item = (&'m str, Self)>,
    ) -> Self {
        Self::build(Node {
            members: plain_members(members),
            ..Node::named(TCKind::Struct, id, name)
        })
    }

    /// `exception`.
    #[must_use]
    pub fn exception<'m>(
        id: &str,
        name: &str,
        members: impl IntoIterator<Item = (&'m str, Self)>,
    ) -> Self {
        Self::build(Node {
            members: plain_members(members),
            ..Node::named(TCKind::Except, id, name)
        })
    }

    /// `enum`.
    #[must_use]
    pub fn enumeration<'m>(
        id: &str,
        name: &str,
        enumerators: impl IntoIterator<Item = &'m str>,
    ) -> Self {
        let members = enumerators.into_iter().map(|name| NodeMember {
            name: name.into(),
            content: None,
            label: 0,
            visibility: 0,
        });
        Self::build(Node {
            members: members.collect(),
            ..Node::named(TCKind::Enum, id, name)
        })
    }

    /// `union`; `None` is the label of the default member. See
    /// [`Member::case`](super::Member::case) for labels.
    ///
    /// Returns `None` if the discriminator has an invalid type.
    #[must_use]
    pub fn union<'m>(
        id: &str,
        name: &str,
        discriminator: Self,
        members: impl IntoIterator<Item = (Option<i64>, &'m str, Self)>,
    ) -> Option<Self> {
        if !discriminator.as_ref().unaliased().kind().discriminates() {
            return None;
        }
        let mut default = NO_DEFAULT;
        let mut cases = Vec::new();
        for (label, name, content) in members {
            if label.is_none() {
                default = cases.len() as u32;
            }
            cases.push(NodeMember {
                name: name.into(),
                content: Some(Edge::Out(content)),
                label: label.unwrap_or(0),
                visibility: 0,
            });
        }
        Some(Self::build(Node {
            number: default,
            content: Some(Edge::Out(discriminator)),
            members: cases.into(),
            ..Node::named(TCKind::Union, id, name)
        }))
    }
}

fn plain_members<'m>(members: impl IntoIterator<Item = (&'m str, TypeCode)>) -> Box<[NodeMember]> {
    let members = members.into_iter().map(|(name, content)| NodeMember {
        name: name.into(),
        content: Some(Edge::Out(content)),
        label: 0,
        visibility: 0,
    });
    members.collect()
}

/// A value type or an event type.
fn value_node<'m>(
    kind: TCKind,
    (id, name): (&str, &str),
    modifier: i16,
    concrete_base: Option<TypeCode>,
    members: impl IntoIterator<Item = (&'m str, TypeCode, bool)>,
) -> Node {
    let members = members
        .into_iter()
        .map(|(name, content, public)| NodeMember {
            name: name.into(),
            content: Some(Edge::Out(content)),
            label: 0,
            visibility: i16::from(public),
        });
    Node {
        scale: modifier,
        content: concrete_base.map(Edge::Out),
        members: members.collect(),
        ..Node::named(kind, id, name)
    }
}
