// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to TypeCodes.

use super::declare::{NO_DEFAULT, Type};
use super::graph::{Edge, Graph, Node, NodeMember, own_size};
use super::kind::TCKind;
use super::{INDIRECTION, TypeCode};
use crate::allocation;
use crate::{CdrError, CdrErrorKind, CdrReader, Decode, MAX_NESTING};

/// Most digits of a `fixed`.
const MAX_DIGITS: u16 = 31;

impl Decode for TypeCode {
    const MIN_SIZE: usize = 4;

    /// # Errors
    /// [`CdrErrorKind::BadTypeCode`] for invalid data: an unknown kind, an indirection to anything
    /// but an earlier part of the same type, a type that consists only of an alias, array or
    /// sequence of itself, a union with an invalid discriminator. [`CdrErrorKind::TooDeep`].
    #[inline]
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        parse(reader)
    }
}

fn parse(reader: &mut CdrReader<'_>) -> Result<TypeCode, CdrError> {
    let mut parser = Parser::default();
    match parser.read(reader, 0)? {
        Edge::Out(code) => Ok(code),
        Edge::Local(index) => Ok(TypeCode::shared(parser.graph.into(), index)),
    }
}

/// One top-level TypeCode being read.
struct Parser {
    graph: Graph,
    /// The position of each kind, in octets from the alignment origin of the outermost stream,
    /// ascending; and the part that began there.
    places: Vec<(usize, Edge)>,
    /// Parts not finished, outermost first.
    open: Vec<u32>,
}

impl Default for Parser {
    fn default() -> Self {
        Self {
            graph: Graph::new(Vec::new(), true),
            places: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl Parser {
    /// Reads a type; `base` is the position of the origin of `reader` in the outermost stream.
    fn read(&mut self, reader: &mut CdrReader<'_>, base: usize) -> Result<Edge, CdrError> {
        reader.align(4)?;
        let at = base + reader.position();
        let kind = reader.read_u32()?;
        if kind == INDIRECTION {
            return self.indirection(reader, base);
        }
        let Some(kind) = TCKind::from_value(kind) else {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        };
        let edge = match kind {
            TCKind::String | TCKind::WString => self.string(kind, reader.read_u32()?),
            TCKind::Fixed => self.fixed(reader)?,
            _ => match Type::simple(kind) {
                Some(simple) => Edge::Out(simple.into()),
                None => return self.complex(kind, at, reader, base),
            },
        };
        self.places.push((at, edge.clone()));
        Ok(edge)
    }

    fn string(&mut self, kind: TCKind, bound: u32) -> Edge {
        match Type::simple(kind) {
            Some(unbounded) if bound == 0 => Edge::Out(unbounded.into()),
            _ => self.push(Node {
                number: bound,
                least: own_size(kind),
                ..Node::new(kind)
            }),
        }
    }

    fn fixed(&mut self, reader: &mut CdrReader<'_>) -> Result<Edge, CdrError> {
        let digits = reader.read_u16()?;
        let scale = reader.read_u16()? as i16;
        if digits == 0 || digits > MAX_DIGITS {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        }
        Ok(self.push(Node {
            number: u32::from(digits),
            scale,
            least: own_size(TCKind::Fixed),
            ..Node::new(TCKind::Fixed)
        }))
    }

    #[inline]
    fn push(&mut self, node: Node) -> Edge {
        // Each part took octets to describe, so there cannot be 2³² parts.
        let index = self.graph.nodes.len() as u32;
        self.graph.nodes.push(node);
        Edge::Local(index)
    }

    fn indirection(&self, reader: &mut CdrReader<'_>, base: usize) -> Result<Edge, CdrError> {
        let from = base + reader.position();
        let offset = reader.read_u32()? as i32;
        let bad = || reader.error(CdrErrorKind::BadTypeCode);
        let target = from
            .checked_add_signed(offset as isize)
            .filter(|target| *target < from)
            .ok_or_else(bad)?;
        let place = self
            .places
            .binary_search_by_key(&target, |(place, _)| *place)
            .map_err(|_| bad())?;
        let edge = &self.places[place].1;
        if let Edge::Local(index) = edge
            && let Some(depth) = self.open.iter().position(|open| open == index)
            && !self.open[depth..].iter().any(|open| {
                let kind = self.graph.nodes[*open as usize].kind;
                kind.may_recur()
            })
        {
            // The cycle consists of aliases, arrays and sequences only.
            return Err(bad());
        }
        Ok(edge.clone())
    }

    fn complex(
        &mut self,
        kind: TCKind,
        at: usize,
        reader: &mut CdrReader<'_>,
        base: usize,
    ) -> Result<Edge, CdrError> {
        let mut inner = reader.read_encapsulation()?;
        // The byte-order octet, the origin of the encapsulation, was read.
        let inner_base = base + reader.position() - inner.remaining() - 1;
        let index = self.graph.nodes.len();
        let edge = self.push(Node::new(kind));
        self.places.push((at, edge.clone()));
        self.open.push(index as u32);
        self.parameters(kind, index, &mut inner, inner_base)?;
        self.open.pop();
        self.graph.settle(index);
        // An indirection to an alias is no nesting of encapsulations, so a chain could be as long as
        // the message, and everything that resolves aliases follows it.
        if self.graph.nodes[index].aliases > MAX_NESTING {
            return Err(reader.error(CdrErrorKind::TooDeep));
        }
        Ok(edge)
    }

    fn parameters(
        &mut self,
        kind: TCKind,
        index: usize,
        reader: &mut CdrReader<'_>,
        base: usize,
    ) -> Result<(), CdrError> {
        if kind.has_id() {
            self.graph.nodes[index].id = name_of(reader)?.into();
            self.graph.nodes[index].name = name_of(reader)?.into();
        }
        match kind {
            TCKind::Sequence | TCKind::Array => {
                let content = self.read(reader, base)?;
                self.graph.nodes[index].content = Some(content);
                self.graph.nodes[index].number = reader.read_u32()?;
            }
            TCKind::Alias | TCKind::ValueBox => {
                let content = self.read(reader, base)?;
                self.graph.nodes[index].content = Some(content);
            }
            TCKind::Struct | TCKind::Except => {
                let members = self.members(reader, base, Extra::None)?;
                self.graph.nodes[index].members = members;
            }
            TCKind::Enum => {
                let members = enumerators(reader)?;
                self.graph.nodes[index].members = members;
            }
            TCKind::Union => self.union(index, reader, base)?,
            TCKind::Value | TCKind::Event => {
                self.graph.nodes[index].scale = reader.read_u16()? as i16;
                let concrete_base = self.read(reader, base)?;
                let none = matches!(&concrete_base, Edge::Out(code) if code.kind() == TCKind::Null);
                self.graph.nodes[index].content = (!none).then_some(concrete_base);
                let members = self.members(reader, base, Extra::Visibility)?;
                self.graph.nodes[index].members = members;
            }
            _ => {}
        }
        Ok(())
    }

    fn members(
        &mut self,
        reader: &mut CdrReader<'_>,
        base: usize,
        extra: Extra,
    ) -> Result<Box<[NodeMember]>, CdrError> {
        let count = reader.read_count(8)?;
        // A member is larger in memory than its minimum size on the wire.
        let mut members = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            let label = match extra {
                Extra::Label(kind) => read_label(kind, reader)?,
                _ => 0,
            };
            let name = name_of(reader)?.into();
            let content = Some(self.read(reader, base)?);
            let visibility = match extra {
                Extra::Visibility => reader.read_u16()? as i16,
                _ => 0,
            };
            let member = NodeMember {
                name,
                content,
                label,
                visibility,
            };
            if !allocation::push(&mut members, member) {
                return Err(reader.error(CdrErrorKind::NoMemory));
            }
        }
        Ok(members.into())
    }

    fn union(
        &mut self,
        index: usize,
        reader: &mut CdrReader<'_>,
        base: usize,
    ) -> Result<(), CdrError> {
        let discriminator = self.read(reader, base)?;
        let kind = self.resolved_kind(&discriminator);
        if !kind.is_some_and(TCKind::discriminates) {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        }
        self.graph.nodes[index].content = Some(discriminator);
        // Any negative number means none: omniORB writes -2 for a union with labels for
        // every value.
        let default = match reader.read_u32()? {
            index if index > i32::MAX as u32 => NO_DEFAULT,
            index => index,
        };
        let members = self.members(reader, base, Extra::Label(kind))?;
        if default != NO_DEFAULT && default as usize >= members.len() {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        }
        let node = &mut self.graph.nodes[index];
        node.number = default;
        node.members = members;
        node.index_labels();
        Ok(())
    }

    /// The kind after resolving aliases; `None` while an alias is not finished.
    fn resolved_kind(&self, edge: &Edge) -> Option<TCKind> {
        let mut edge = edge;
        loop {
            match edge {
                Edge::Out(code) => return Some(code.as_ref().unaliased().kind()),
                Edge::Local(index) => {
                    let node = &self.graph.nodes[*index as usize];
                    if node.kind != TCKind::Alias {
                        return Some(node.kind);
                    }
                    edge = node.content.as_ref()?;
                }
            }
        }
    }
}

/// An id or a name. It may be written again where NUL is not permitted, as the id of a value.
fn name_of(reader: &mut CdrReader<'_>) -> Result<String, CdrError> {
    let name = reader.read_owned_name()?;
    if name.as_bytes().contains(&0) {
        Err(reader.error(CdrErrorKind::BadString))
    } else {
        Ok(name)
    }
}

/// Data of members in addition to name and type.
#[derive(Clone, Copy)]
enum Extra {
    None,
    /// Of a union, before the name: a label of that kind.
    Label(Option<TCKind>),
    /// Of a value, after the type.
    Visibility,
}

fn enumerators(reader: &mut CdrReader<'_>) -> Result<Box<[NodeMember]>, CdrError> {
    let count = reader.read_count(4)?;
    let mut members = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        let member = NodeMember {
            name: name_of(reader)?.into(),
            content: None,
            label: 0,
            visibility: 0,
        };
        if !allocation::push(&mut members, member) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
    }
    Ok(members.into())
}

/// Reads a label: a value of the discriminator type.
fn read_label(kind: Option<TCKind>, reader: &mut CdrReader<'_>) -> Result<i64, CdrError> {
    Ok(match kind {
        Some(TCKind::Boolean) => i64::from(reader.read_bool()?),
        Some(TCKind::Char | TCKind::Octet) => i64::from(reader.read_u8()?),
        Some(TCKind::Short) => i64::from(reader.read_u16()? as i16),
        Some(TCKind::UShort) => i64::from(reader.read_u16()?),
        Some(TCKind::Long) => i64::from(reader.read_u32()? as i32),
        Some(TCKind::ULong | TCKind::Enum) => i64::from(reader.read_u32()?),
        Some(TCKind::LongLong | TCKind::ULongLong) => reader.read_u64()? as i64,
        Some(TCKind::WChar) => i64::from(reader.read_wchar()?.0),
        _ => return Err(reader.error(CdrErrorKind::BadTypeCode)),
    })
}
