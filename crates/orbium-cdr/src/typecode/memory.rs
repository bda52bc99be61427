// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of types.

use std::collections::HashSet;
use std::sync::Arc;

use super::graph::{Edge, Graph, Node};
use super::{Repr, TypeCode};

impl TypeCode {
    /// Bytes of memory of the description, about, with the types that it refers to; 0 for a
    /// [`Type`](super::Type) of this program. All handles share the description. It is counted
    /// once, so this is cheap.
    ///
    /// ```
    /// use orbium_cdr::{Type, TypeCode};
    ///
    /// let name = "x".repeat(1000);
    /// let code = TypeCode::alias("IDL:X:1.0", &name, Type::LONG.into());
    /// assert!(code.memory_size() > 1000);
    /// assert_eq!(TypeCode::from(Type::LONG).memory_size(), 0);
    /// ```
    #[must_use]
    #[inline]
    pub fn memory_size(&self) -> usize {
        match &self.0 {
            Repr::Static(_) => 0,
            Repr::Shared(graph, _) => *graph.memory.get_or_init(|| total(graph)),
        }
    }
}

/// Bytes of a graph and of the graphs to which it refers, each counted once.
#[cold]
fn total(whole: &Graph) -> usize {
    let mut counted = HashSet::new();
    let mut pending = Vec::new();
    let mut next = Some(whole);
    let mut bytes = 0;
    while let Some(graph) = next {
        bytes += size_of::<Graph>() + graph.nodes.capacity() * size_of::<Node>();
        for node in &graph.nodes {
            bytes += parts_of(node);
            pending.extend(node.edges().filter_map(|edge| match edge {
                Edge::Out(TypeCode(Repr::Shared(part, _))) => {
                    counted.insert(Arc::as_ptr(part)).then_some(&**part)
                }
                _ => None,
            }));
        }
        next = pending.pop();
    }
    bytes
}

/// Bytes to which a node refers.
fn parts_of(node: &Node) -> usize {
    let names: usize = node.members.iter().map(|it| it.name.len()).sum();
    let lists = size_of_val(&*node.members) + size_of_val(&*node.labels);
    node.id.len() + node.name.len() + names + lists
}
