// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes of peers, completed with the ids and names of the repository
//! (`get_canonical_typecode`).

use orbium::cdr::{MemberRef, TypeRef};
use orbium::{TypeCode, cdr::TCKind};

use crate::fault;
use crate::fault::Result;
use crate::store::Store;
use crate::type_codes::{MAX_DEPTH, MAX_PARTS};

impl Store {
    /// The type as the repository defines it; one without an id, or with an unknown one, is rebuilt
    /// from such parts.
    ///
    /// # Errors
    /// IMP_LIMIT: it has too many parts. Errors of the definition.
    pub(crate) fn canonical(&self, code: &TypeCode) -> Result<TypeCode> {
        Naming {
            store: self,
            open: Vec::new(),
            parts: 0,
        }
        .named(code.as_ref())
    }
}

/// A rebuilt type.
struct Naming<'s, 't> {
    store: &'s Store,
    /// Enclosing types: their ids, if they have any.
    open: Vec<&'t str>,
    parts: u64,
}

impl<'t> Naming<'_, 't> {
    fn named(&mut self, code: TypeRef<'t>) -> Result<TypeCode> {
        self.parts += 1;
        if self.open.len() >= MAX_DEPTH || self.parts > MAX_PARTS {
            return Err(fault::TOO_LARGE);
        }
        let id = if code.kind().has_id() { code.id() } else { "" };
        if !id.is_empty() {
            if let Some(key) = self.store.with_id(id) {
                return self.store.type_of(key);
            }
            if self.open.contains(&id) {
                return Ok(TypeCode::recursive(id));
            }
        }
        self.open.push(id);
        let made = self.made(code);
        self.open.pop();
        made
    }

    /// Rebuilds a type that is not defined here.
    fn made(&mut self, code: TypeRef<'t>) -> Result<TypeCode> {
        let (id, name) = (code.id(), code.name());
        Ok(match code.kind() {
            TCKind::Sequence => TypeCode::sequence(self.content(code)?, code.length()),
            TCKind::Array => TypeCode::array(self.content(code)?, code.length()),
            TCKind::Alias => TypeCode::alias(id, name, self.content(code)?),
            TCKind::ValueBox => TypeCode::value_box(id, name, self.content(code)?),
            TCKind::Struct => TypeCode::structure(id, name, self.members(code)?),
            TCKind::Except => TypeCode::exception(id, name, self.members(code)?),
            TCKind::Union => self.union(code)?,
            TCKind::Value | TCKind::Event => self.value(code)?,
            _ => code.to_type_code(),
        })
    }

    fn content(&mut self, code: TypeRef<'t>) -> Result<TypeCode> {
        match code.content_type() {
            Some(content) => self.named(content),
            None => Err(fault::BAD_ARGUMENT),
        }
    }

    fn members(&mut self, code: TypeRef<'t>) -> Result<Vec<(&'t str, TypeCode)>> {
        let members = code
            .members()
            .filter_map(|it| Some((it.name(), it.type_code()?)));
        members
            .map(|(name, code)| Ok((name, self.named(code)?)))
            .collect()
    }

    fn union(&mut self, code: TypeRef<'t>) -> Result<TypeCode> {
        let discriminator = code.discriminator_type().ok_or(fault::BAD_ARGUMENT)?;
        let discriminator = self.named(discriminator)?;
        let labels = code.members().map(MemberRef::label);
        let members = labels.zip(self.members(code)?);
        let members = members.map(|(label, (name, code))| (label, name, code));
        let made = TypeCode::union(code.id(), code.name(), discriminator, members);
        made.ok_or(fault::BAD_ARGUMENT)
    }

    fn value(&mut self, code: TypeRef<'t>) -> Result<TypeCode> {
        let base = code.concrete_base_type();
        let base = base.map(|it| self.named(it)).transpose()?;
        let public = code.members().map(MemberRef::is_public);
        let members = public.zip(self.members(code)?);
        let members = members.map(|(is_public, (name, code))| (name, code, is_public));
        let (id, name, modifier) = (code.id(), code.name(), code.value_modifier());
        Ok(if code.kind() == TCKind::Event {
            TypeCode::event(id, name, modifier, base, members)
        } else {
            TypeCode::value(id, name, modifier, base, members)
        })
    }
}
