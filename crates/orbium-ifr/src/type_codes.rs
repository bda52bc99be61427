// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes of definitions.

use orbium::TypeCode;
use orbium::cdr::Type;

use crate::corba::PrimitiveKind;
use crate::entry::{Body, Entry, InterfaceKind, Key, Member, TypeDef};
use crate::fault;
use crate::fault::Result;
use crate::store::{Made, Store};

/// Maximum depth of nested types, which is that of a message.
pub(crate) const MAX_DEPTH: usize = 100;

/// Maximum number of parts of one type, counted with repetitions, as they are sent.
pub(crate) const MAX_PARTS: u64 = 100_000;

/// Types that are being built.
#[derive(Default)]
struct Open {
    /// Each with whether it may contain itself.
    keys: Vec<(Key, bool)>,
    /// The number of them that enclose a sequence or value: those may contain themselves.
    separated: usize,
    /// Parts so far.
    parts: u64,
    /// The outermost type to which the last built one refers.
    refers: usize,
    /// The number of types around the current one.
    depth: usize,
}

/// Without a reference to a type that is being built.
const COMPLETE: usize = usize::MAX;

impl Store {
    /// The TypeCode of a type.
    ///
    /// # Errors
    /// BAD_PARAM 13: it contains itself other than in a sequence. IMP_LIMIT: too large.
    pub(crate) fn type_code(&self, ty: TypeDef) -> Result<TypeCode> {
        self.make(ty, &mut Open::default())
    }

    /// The TypeCode of a definition.
    pub(crate) fn type_of(&self, key: Key) -> Result<TypeCode> {
        self.type_code(TypeDef::Entry(key))
    }

    fn make(&self, ty: TypeDef, open: &mut Open) -> Result<TypeCode> {
        open.parts += 1;
        if open.depth >= MAX_DEPTH || open.parts > MAX_PARTS {
            return Err(fault::TOO_LARGE);
        }
        open.depth += 1;
        let made = match ty {
            TypeDef::Primitive(kind) => {
                open.refers = COMPLETE;
                primitive(kind)
            }
            TypeDef::Entry(key) => self.named(key, open),
        };
        open.depth -= 1;
        made
    }

    fn named(&self, key: Key, open: &mut Open) -> Result<TypeCode> {
        let known = self.made.lock();
        if let Some(made) = known.get(&key) {
            open.parts = open.parts.saturating_add(made.parts);
            open.refers = COMPLETE;
            return if open.parts > MAX_PARTS {
                Err(fault::TOO_LARGE)
            } else {
                Ok(made.code.clone())
            };
        }
        drop(known);
        let entry = self.entry(key)?;
        let may_recur = matches!(
            entry.body,
            Body::Struct(_) | Body::Union { .. } | Body::Exception(_) | Body::Value(_)
        );
        if let Some(place) = open.keys.iter().rposition(|(it, _)| *it == key) {
            if may_recur && place < open.separated {
                open.refers = place;
                return Ok(TypeCode::recursive(&entry.id));
            }
            // A typedef within its own original type, with a struct between them, ends there.
            let ends = open.keys[place..].iter().any(|(_, recurs)| *recurs);
            if may_recur || !ends {
                return Err(fault::INCOMPLETE);
            }
        }
        let place = open.keys.len();
        let before = open.parts;
        open.keys.push((key, may_recur));
        let separated = open.separated;
        if matches!(entry.body, Body::Sequence { .. } | Body::Value(_)) {
            open.separated = open.keys.len();
        }
        let code = self.construct(key, entry, open);
        open.separated = separated;
        open.keys.pop();
        let code = code?;
        if open.refers >= place {
            open.refers = COMPLETE;
            let mut known = self.made.lock();
            let parts = open.parts - before;
            let code = code.clone();
            known.insert(key, Made { code, parts });
        }
        Ok(code)
    }

    fn construct(&self, key: Key, entry: &Entry, open: &mut Open) -> Result<TypeCode> {
        let (id, name) = (&*entry.id, &*entry.name);
        open.refers = COMPLETE;
        Ok(match &entry.body {
            Body::Struct(members) => TypeCode::structure(id, name, self.members(members, open)?),
            Body::Exception(members) => TypeCode::exception(id, name, self.members(members, open)?),
            Body::Union {
                discriminator,
                cases,
            } => {
                let discriminator = self.make(*discriminator, open)?;
                let mut refers = open.refers;
                let mut made = Vec::with_capacity(cases.len());
                for case in cases {
                    made.push((case.label, &*case.name, self.make(case.ty, open)?));
                    refers = refers.min(open.refers);
                }
                open.refers = refers;
                let union = TypeCode::union(id, name, discriminator, made);
                union.ok_or(fault::BAD_DISCRIMINATOR)?
            }
            Body::Enum(names) => TypeCode::enumeration(id, name, names.iter().map(|it| &**it)),
            Body::Alias(ty) => TypeCode::alias(id, name, self.make(*ty, open)?),
            Body::Native => TypeCode::native(id, name),
            Body::Interface { kind, .. } => match kind {
                InterfaceKind::Plain => TypeCode::interface(id, name),
                InterfaceKind::Abstract => TypeCode::abstract_interface(id, name),
                InterfaceKind::Local => TypeCode::local_interface(id, name),
            },
            Body::Value(_) => self.value(key, entry, open)?,
            Body::ValueBox(ty) => TypeCode::value_box(id, name, self.make(*ty, open)?),
            Body::String(bound) => TypeCode::string(*bound),
            Body::Wstring(bound) => TypeCode::wstring(*bound),
            Body::Fixed { digits, scale } => TypeCode::fixed(*digits, *scale),
            Body::Sequence { bound, element } => {
                TypeCode::sequence(self.make(*element, open)?, *bound)
            }
            Body::Array { length, element } => TypeCode::array(self.make(*element, open)?, *length),
            _ => return Err(fault::BAD_ARGUMENT),
        })
    }

    fn members<'s>(
        &self,
        members: &'s [Member],
        open: &mut Open,
    ) -> Result<Vec<(&'s str, TypeCode)>> {
        let mut refers = COMPLETE;
        let mut made = Vec::with_capacity(members.len());
        for member in members {
            made.push((&*member.name, self.make(member.ty, open)?));
            refers = refers.min(open.refers);
        }
        open.refers = refers;
        Ok(made)
    }

    fn value(&self, key: Key, entry: &Entry, open: &mut Open) -> Result<TypeCode> {
        let Body::Value(value) = &entry.body else {
            return Err(fault::BAD_ARGUMENT);
        };
        let mut refers = COMPLETE;
        let base = match value.base {
            Some(base) => Some(self.make(TypeDef::Entry(base), open)?),
            None => None,
        };
        if base.is_some() {
            refers = refers.min(open.refers);
        }
        let mut members = Vec::new();
        for (_, member, ty, public) in self.state(key)? {
            members.push((&*member.name, self.make(ty, open)?, public));
            refers = refers.min(open.refers);
        }
        open.refers = refers;
        let modifier = match value {
            it if it.is_custom => 1,
            it if it.is_abstract => 2,
            it if it.is_truncatable => 3,
            _ => 0,
        };
        let (id, name) = (&*entry.id, &*entry.name);
        Ok(if value.is_event {
            TypeCode::event(id, name, modifier, base, members)
        } else {
            TypeCode::value(id, name, modifier, base, members)
        })
    }
}

/// The TypeCode of a primitive type.
fn primitive(kind: u32) -> Result<TypeCode> {
    Ok(primitive_kind(kind).ok_or(fault::BAD_ARGUMENT)?.type_code())
}

/// The primitive kind with an ordinal.
pub(crate) fn primitive_kind(ordinal: u32) -> Option<PrimitiveKind> {
    PRIMITIVES.get(ordinal as usize).map(|(kind, _)| *kind)
}

impl PrimitiveKind {
    pub(crate) fn type_code(self) -> TypeCode {
        let (_, code) = PRIMITIVES[self as usize];
        code.into()
    }
}

static VALUE_BASE: Type = Type::value("IDL:omg.org/CORBA/ValueBase:1.0", "ValueBase", 0, None, &[]);

/// By ordinal.
static PRIMITIVES: [(PrimitiveKind, &Type); 22] = {
    use PrimitiveKind as P;
    [
        (P::PkNull, Type::NULL),
        (P::PkVoid, Type::VOID),
        (P::PkShort, Type::SHORT),
        (P::PkLong, Type::LONG),
        (P::PkUshort, Type::USHORT),
        (P::PkUlong, Type::ULONG),
        (P::PkFloat, Type::FLOAT),
        (P::PkDouble, Type::DOUBLE),
        (P::PkBoolean, Type::BOOLEAN),
        (P::PkChar, Type::CHAR),
        (P::PkOctet, Type::OCTET),
        (P::PkAny, Type::ANY),
        (P::PkTypeCode, Type::TYPE_CODE),
        (P::PkPrincipal, Type::PRINCIPAL),
        (P::PkString, Type::STRING),
        (P::PkObjref, Type::OBJECT),
        (P::PkLonglong, Type::LONGLONG),
        (P::PkUlonglong, Type::ULONGLONG),
        (P::PkLongdouble, Type::LONGDOUBLE),
        (P::PkWchar, Type::WCHAR),
        (P::PkWstring, Type::WSTRING),
        (P::PkValueBase, &VALUE_BASE),
    ]
};
