// SPDX-License-Identifier: MIT OR Apache-2.0
//! Description of a value type by its TypeCode.

use orbium_cdr::{CdrErrorKind, TCKind, TypeCode, TypeRef};

use crate::MAX_ID_LENGTH;

/// The repository id of `ValueBase`.
pub(crate) const VALUE_BASE_ID: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// Maximum depth of concrete bases.
const MAX_BASES: usize = 64;

/// The relevant modifiers of TypeCodes (CORBA 3.3 Part 1, 8.11).
const CUSTOM: i16 = 1;
const ABSTRACT: i16 = 2;
const TRUNCATABLE: i16 = 3;

/// A value type for which only the TypeCode is available.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    code: TypeCode,
    /// The state as a struct: the members of the bases first, or the content of a box.
    state: TypeCode,
}

impl Description {
    /// The type of values of which a TypeCode describes the state.
    ///
    /// # Errors
    /// [`CdrErrorKind::UnknownValue`] for custom types, as a program interprets the state;
    /// [`CdrErrorKind::BadValue`] for abstract ones, which have none;
    /// [`CdrErrorKind::BadTypeCode`].
    pub(crate) fn new(code: TypeRef<'_>) -> Result<Self, CdrErrorKind> {
        let code = code.unaliased();
        if code.id().is_empty() || lineage(code).any(|it| it.id().len() > MAX_ID_LENGTH) {
            return Err(CdrErrorKind::BadTypeCode);
        }
        let bad = CdrErrorKind::BadTypeCode;
        let state = match code.kind() {
            TCKind::ValueBox => {
                let content = code.content_type().ok_or(bad)?;
                TypeCode::structure("", "", [("value", content.to_type_code())])
            }
            TCKind::Value | TCKind::Event if is_abstract(code) => {
                return Err(CdrErrorKind::BadValue);
            }
            TCKind::Value | TCKind::Event => state_of(code)?,
            _ => return Err(CdrErrorKind::BadValue),
        };
        let code = code.to_type_code();
        Ok(Self { code, state })
    }

    pub(crate) fn code(&self) -> TypeRef<'_> {
        self.code.as_ref()
    }

    pub(crate) fn state(&self) -> &TypeCode {
        &self.state
    }
}

/// The members of all bases and of the type itself, as a struct.
fn state_of(code: TypeRef<'_>) -> Result<TypeCode, CdrErrorKind> {
    let mut types: Vec<_> = lineage(code).collect();
    if types.len() > MAX_BASES {
        return Err(CdrErrorKind::BadTypeCode);
    }
    if types.iter().any(|it| it.value_modifier() == CUSTOM) {
        return Err(CdrErrorKind::UnknownValue);
    }
    types.reverse();
    let mut members = Vec::new();
    for member in types.into_iter().flat_map(TypeRef::members) {
        let code = member.type_code().ok_or(CdrErrorKind::BadTypeCode)?;
        members.push((member.name(), code.to_type_code()));
    }
    Ok(TypeCode::structure("", "", members))
}

/// A type and its concrete bases, the nearest first; at most one more than [`MAX_BASES`].
fn lineage(code: TypeRef<'_>) -> impl Iterator<Item = TypeRef<'_>> {
    core::iter::successors(Some(code.unaliased()), |code| base(*code)).take(MAX_BASES + 1)
}

/// The concrete base, which is `tk_null` in the TypeCodes of some ORBs.
fn base(code: TypeRef<'_>) -> Option<TypeRef<'_>> {
    let base = code.concrete_base_type()?.unaliased();
    (base.kind() != TCKind::Null).then_some(base)
}

/// Whether only derived types have values.
pub(crate) fn is_abstract(code: TypeRef<'_>) -> bool {
    code.kind() == TCKind::AbstractInterface
        || code.id() == VALUE_BASE_ID
        || code.value_modifier() == ABSTRACT
}

/// Whether a value of type `code` is assignable to `formal`. A TypeCode does not name the abstract
/// bases: any value is assignable to them.
pub(crate) fn fits(code: TypeRef<'_>, formal: TypeRef<'_>) -> bool {
    is_abstract(formal) || lineage(code).any(|it| it.id() == formal.id())
}

/// The type to which values of a type may be truncated.
pub(crate) fn truncated(code: TypeRef<'_>) -> Option<TypeRef<'_>> {
    match code.value_modifier() {
        TRUNCATABLE => base(code),
        _ => None,
    }
}
