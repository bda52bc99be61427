// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter: walks a type and CDR data together.
//!
//! Operations on values of types without generated code are [`Visitor`]s of this one walk.

mod blocks;
mod copy;
mod extent;
mod graphs;
mod print;
mod visitor;

pub use blocks::Block;
use blocks::{ElementLayout, MIN_ELEMENTS};
pub(crate) use copy::{CANONICAL, canonical_copy, keep, restore};
pub use copy::{copy_kept, copy_value};
pub(crate) use extent::Extent;
pub use graphs::{OwnerWithValues, ValueCopier, copy_graph};
pub(crate) use print::Printed;
use visitor::Keeping;
pub use visitor::{Group, Leaf, Profile, Reference, Run, Visitor};

use crate::allocation;
use crate::mapping::decimal::read_packed;
use crate::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Format, MemberRef, TCKind, TypeCode,
    TypeRef,
};

/// Steps that a walk may take in addition to [`STEPS_PER_OCTET`].
///
/// Values without octets (for example empty structs) can be numerous, and so can the types between
/// a value and its primitives.
pub(crate) const FREE_STEPS: u64 = 1 << 12;

/// Steps that a walk may take for each octet that it has walked past. Octets still ahead do not
/// count, or each of many values could spend the same ones.
const STEPS_PER_OCTET: u64 = 32;

/// Walks one value of type `code` and passes its parts to `visitor`.
///
/// # Errors
/// A [`CdrError`] for invalid data and for values that cannot be walked
/// ([`CdrErrorKind::NotSupported`] for value types and abstract interfaces, unless the visitor
/// takes them), or the error of the visitor.
pub fn walk_value<V: Visitor>(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    visitor: &mut V,
) -> Result<(), V::Error> {
    let mut keeping = Keeping {
        visitor,
        said: None,
    };
    let walked = walk(code, reader, &mut keeping);
    walked.map_err(|error| keeping.said.unwrap_or_else(|| error.into()))
}

/// The walk itself, once for all visitors.
fn walk(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    visitor: &mut dyn Visitor<Error = CdrError>,
) -> Result<(), CdrError> {
    let mut walk = Walk {
        visitor,
        start: reader.position(),
        free_steps: reader.free_steps().unwrap_or(FREE_STEPS),
        steps: 0,
    };
    walk.value(code, reader)?;
    let paid = STEPS_PER_OCTET * (reader.position() - walk.start) as u64;
    reader.spend_steps(walk.steps.saturating_sub(paid));
    Ok(())
}

/// Skips one value of type `code`.
///
/// # Errors
/// As [`walk_value`].
#[inline]
pub fn skip_value(code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    walk(code, reader, &mut Skip)
}

struct Skip;

impl Visitor for Skip {
    type Error = CdrError;
    #[inline]
    fn leaf(&mut self, _: Leaf<'_>) -> Result<(), CdrError> {
        Ok(())
    }
    #[inline]
    fn begin(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }
    #[inline]
    fn member(&mut self, _: &str) -> Result<(), CdrError> {
        Ok(())
    }
    #[inline]
    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }
    #[inline]
    fn run(&mut self, _: Run<'_>) -> Result<(), CdrError> {
        Ok(())
    }
    #[inline]
    fn takes_blocks(&self) -> bool {
        true
    }
    #[inline]
    fn block(&mut self, _: Block<'_>) -> Result<(), CdrError> {
        Ok(())
    }
    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        copy_graph(code, reader, &mut CdrWriter::new(Format::native()))
    }
}

struct Walk<'v> {
    visitor: &'v mut dyn Visitor<Error = CdrError>,
    /// Position it started at.
    start: usize,
    /// Steps that the walk may take without an octet.
    free_steps: u64,
    steps: u64,
}

impl Walk<'_> {
    fn step(&mut self, reader: &CdrReader<'_>) -> Result<(), CdrError> {
        self.steps += 1;
        let walked = (reader.position() - self.start) as u64;
        if self.steps > self.free_steps + STEPS_PER_OCTET * walked {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        }
        Ok(())
    }

    /// Resolves aliases, each of which is a step.
    fn unaliased<'t>(
        &mut self,
        mut code: TypeRef<'t>,
        reader: &CdrReader<'_>,
    ) -> Result<TypeRef<'t>, CdrError> {
        self.step(reader)?;
        while code.kind() == TCKind::Alias {
            self.step(reader)?;
            code = code
                .content()
                .ok_or_else(|| reader.error(CdrErrorKind::BadTypeCode))?;
        }
        Ok(code)
    }

    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let code = self.unaliased(code, reader)?;
        match code.kind() {
            TCKind::Struct
            | TCKind::Except
            | TCKind::Union
            | TCKind::Sequence
            | TCKind::Array
            | TCKind::Any => reader.nested(|reader| self.group(code, reader)),
            TCKind::TypeCode => {
                let value = TypeCode::decode(reader)?;
                self.visitor.leaf(Leaf::TypeCode(&value))
            }
            TCKind::ObjRef | TCKind::Component | TCKind::Home => self.reference(reader),
            // The depth of values is bounded by their reader.
            TCKind::Value | TCKind::ValueBox | TCKind::Event | TCKind::AbstractInterface => {
                self.visitor.value(code, reader)
            }
            TCKind::Principal => {
                let octets = reader.read_octets()?;
                self.visitor.leaf(Leaf::Principal(octets))
            }
            TCKind::String => {
                let text = reader.read_str()?;
                check_bound(code, &text, |text| text.chars().count(), reader)?;
                self.visitor.leaf(Leaf::String(&text))
            }
            TCKind::WString => {
                let text = reader.read_wstring()?;
                check_bound(code, &text, |text| text.encode_utf16().count(), reader)?;
                self.visitor.leaf(Leaf::WString(&text))
            }
            _ => {
                let leaf = read_leaf(code, reader)?;
                self.visitor.leaf(leaf)
            }
        }
    }

    fn group(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        match code.kind() {
            TCKind::Struct => self.members(Group::Struct(code), code, reader),
            TCKind::Except => {
                // The id precedes the members, as in a reply; the Java ORBs and TAO do the same.
                reader.read_name()?;
                self.members(Group::Exception(code), code, reader)
            }
            TCKind::Union => self.union(code, reader),
            TCKind::Sequence => {
                let count = reader.read_u32()?;
                let bound = code.length();
                if bound > 0 && count > bound {
                    return Err(reader.error(CdrErrorKind::BoundExceeded));
                }
                self.elements(Group::Sequence(code, count), code, count, reader)
            }
            TCKind::Array => {
                let count = code.length();
                self.elements(Group::Array(code, count), code, count, reader)
            }
            _ => {
                let inner = TypeCode::decode(reader)?;
                let group = Group::Any(inner.as_ref());
                self.visitor.begin(group)?;
                self.value(inner.as_ref(), reader)?;
                self.visitor.end(group)
            }
        }
    }

    fn members(
        &mut self,
        group: Group<'_>,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
    ) -> Result<(), CdrError> {
        self.visitor.begin(group)?;
        for member in code.members() {
            self.member(member, reader)?;
        }
        self.visitor.end(group)
    }

    fn member(
        &mut self,
        member: MemberRef<'_>,
        reader: &mut CdrReader<'_>,
    ) -> Result<(), CdrError> {
        let Some(code) = member.type_code() else {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        };
        self.visitor.member(member.name())?;
        self.value(code, reader)
    }

    fn union(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let Some(discriminator) = code.discriminator_type() else {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        };
        let discriminator = self.unaliased(discriminator, reader)?;
        let leaf = read_leaf(discriminator, reader)?;
        let Some(label) = label_of(leaf) else {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        };
        let group = Group::Union(code, leaf);
        self.visitor.begin(group)?;
        if let Some(member) = code.selected_member(label) {
            self.member(member, reader)?;
        }
        self.visitor.end(group)
    }

    fn elements(
        &mut self,
        group: Group<'_>,
        code: TypeRef<'_>,
        count: u32,
        reader: &mut CdrReader<'_>,
    ) -> Result<(), CdrError> {
        let Some(element) = code.content_type() else {
            return Err(reader.error(CdrErrorKind::BadTypeCode));
        };
        let element = self.unaliased(element, reader)?;
        let least = u64::from(element.least_size());
        if least * u64::from(count) > reader.remaining() as u64 {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        }
        self.visitor.begin(group)?;
        if let Some((size, align)) = element.kind().primitive() {
            if count > 0 {
                let octets = native_run(element.kind(), (size, align), count as usize, reader)?;
                let kind = element.kind();
                self.visitor.run(Run { kind, size, octets })?;
            }
        } else {
            let walked = self.block(element, count, reader)?;
            for _ in walked..count {
                self.value(element, reader)?;
            }
        }
        self.visitor.end(group)
    }

    /// Walks fixed-size elements as a block after the first one. Returns how many were walked: all
    /// or none.
    fn block(
        &mut self,
        element: TypeRef<'_>,
        count: u32,
        reader: &mut CdrReader<'_>,
    ) -> Result<u32, CdrError> {
        if count < MIN_ELEMENTS || reader.is_divided() || !self.visitor.takes_blocks() {
            return Ok(0);
        }
        let Some(layout) = ElementLayout::of(element) else {
            return Ok(0);
        };
        self.value(element, reader)?;
        let others = layout.take(count as usize - 1, reader)?;
        self.visitor.block(others)?;
        Ok(count)
    }

    fn reference(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let type_id = reader.read_name()?;
        let count = reader.read_count(8)?;
        let mut profiles = Vec::new();
        if !allocation::reserve(&mut profiles, count) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
        for _ in 0..count {
            let tag = reader.read_u32()?;
            let data = reader.read_octets()?;
            profiles.push(Profile { tag, data });
        }
        self.visitor.leaf(Leaf::Reference(Reference {
            type_id,
            profiles: &profiles,
        }))
    }
}

/// Reads a value of a kind that has no parts and borrows only names.
fn read_leaf<'t>(code: TypeRef<'t>, reader: &mut CdrReader<'_>) -> Result<Leaf<'t>, CdrError> {
    Ok(match code.kind() {
        TCKind::Null | TCKind::Void => Leaf::Nothing,
        TCKind::WChar => Leaf::WChar(reader.read_wchar()?),
        TCKind::Enum => {
            let ordinal = reader.read_u32()?;
            match code.member(ordinal as usize) {
                Some(enumerator) => Leaf::Enum {
                    ordinal,
                    name: enumerator.name(),
                },
                None => return Err(reader.error(CdrErrorKind::BadEnumerator)),
            }
        }
        TCKind::Fixed => Leaf::Fixed {
            unscaled: read_packed(reader, code.digits())?,
            digits: code.digits(),
            scale: code.scale(),
        },
        TCKind::LocalInterface => return Err(reader.error(CdrErrorKind::LocalObject)),
        kind => match kind.primitive() {
            Some(extent) => visitor::primitive(kind, native_run(kind, extent, 1, reader)?),
            None => return Err(reader.error(CdrErrorKind::NotSupported)),
        },
    })
}

/// Takes primitives and converts them to native byte order in place.
fn native_run<'a>(
    kind: TCKind,
    (size, align): (usize, usize),
    count: usize,
    reader: &mut CdrReader<'a>,
) -> Result<&'a [u8], CdrError> {
    let foreign = reader.format().order.is_foreign();
    let octets = reader.take_run(count, size, align)?;
    if foreign && size > 1 {
        octets.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    if kind == TCKind::Boolean {
        for octet in octets.iter_mut() {
            *octet = u8::from(*octet != 0);
        }
    }
    Ok(octets)
}

/// The label that a discriminator represents.
fn label_of(leaf: Leaf<'_>) -> Option<i64> {
    Some(match leaf {
        Leaf::Boolean(value) => i64::from(value),
        Leaf::Octet(value) => i64::from(value),
        Leaf::Char(value) => i64::from(value.0),
        Leaf::WChar(value) => i64::from(value.0),
        Leaf::Short(value) => i64::from(value),
        Leaf::UShort(value) => i64::from(value),
        Leaf::Long(value) => i64::from(value),
        Leaf::ULong(value) => i64::from(value),
        Leaf::LongLong(value) => value,
        Leaf::ULongLong(value) => value as i64,
        Leaf::Enum { ordinal, .. } => i64::from(ordinal),
        _ => return None,
    })
}

/// Characters are counted only if the number of octets, which is not less, exceeds the bound.
fn check_bound(
    code: TypeRef<'_>,
    text: &str,
    characters: fn(&str) -> usize,
    reader: &CdrReader<'_>,
) -> Result<(), CdrError> {
    let bound = code.length() as usize;
    if bound > 0 && text.len() > bound && characters(text) > bound {
        return Err(reader.error(CdrErrorKind::BoundExceeded));
    }
    Ok(())
}
