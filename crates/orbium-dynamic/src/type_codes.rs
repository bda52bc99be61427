// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes built at run time, with the checks that CORBA has for them.

use std::collections::HashSet;

use orbium_cdr::{Any, TCKind, TypeCode};
use orbium_core::{Completion, ExceptionKind, SystemException};

use crate::labels::label_of;
use crate::names::{is_identifier, is_repository_id};

type Created = Result<TypeCode, SystemException>;

/// Creates TypeCodes (`CORBA::TypeCodeFactory`, and `create_…_tc` of `CORBA::ORB`; CORBA 3.3
/// Part 1, clause 8.11.3).
///
/// The constructors of [`TypeCode`] do not check their arguments. These operations refuse invalid
/// IDL, so that a program with names and types from elsewhere does not send a TypeCode that its
/// peers refuse.
///
/// Names may be empty, as in TypeCodes of peers that omit names.
///
/// # Errors
/// Of every operation that takes them:
///
/// | argument | exception |
/// |---|---|
/// | name that is not an IDL identifier | BAD_PARAM 15 |
/// | repository id without a format (`IDL:`) | BAD_PARAM 16 |
/// | member name that is not an IDL identifier, or is duplicate | BAD_PARAM 17 |
/// | type that cannot be that of a member, element or base, such as `void` | BAD_TYPECODE 2 |
///
/// ```
/// use orbium_cdr::{Type, TypeCode};
/// use orbium_dynamic::TypeCodeFactory;
///
/// let long = TypeCode::from(Type::LONG);
/// let members = [("x", long.clone()), ("y", long)];
/// let point = TypeCodeFactory::create_struct_tc("IDL:Point:1.0", "Point", &members)?;
/// assert_eq!(point.to_string(), "struct Point { long x; long y; }");
///
/// let refused = TypeCodeFactory::create_struct_tc("Point", "Point", &members);
/// assert_eq!(refused.unwrap_err().minor & 0xFFF, 16);
/// # Ok::<(), orbium_core::SystemException>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeCodeFactory;

impl TypeCodeFactory {
    /// A struct of members with names and types.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_struct_tc(id: &str, name: &str, members: &[(&str, TypeCode)]) -> Created {
        check_members(id, name, members)?;
        Ok(TypeCode::structure(id, name, members.iter().cloned()))
    }

    /// An exception of members with names and types.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_exception_tc(id: &str, name: &str, members: &[(&str, TypeCode)]) -> Created {
        check_members(id, name, members)?;
        Ok(TypeCode::exception(id, name, members.iter().cloned()))
    }

    /// An enum.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_enum_tc(id: &str, name: &str, enumerators: &[&str]) -> Created {
        check_declared(id, name)?;
        check_member_names(enumerators.iter().copied())?;
        Ok(TypeCode::enumeration(id, name, enumerators.iter().copied()))
    }

    /// A union of members with label, name and type. The octet 0 is the label of the default
    /// member, except for a union with discriminators of type `octet`. A member with several labels
    /// is given once for each, consecutively.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`]; BAD_PARAM 20 for an invalid discriminator type, 19 for a label of
    /// another type, 18 for a duplicate label.
    pub fn create_union_tc(
        id: &str,
        name: &str,
        discriminator: &TypeCode,
        members: &[(Any, &str, TypeCode)],
    ) -> Created {
        check_declared(id, name)?;
        let mut cases = Vec::with_capacity(members.len());
        let mut labels = HashSet::new();
        for (label, name, ty) in members {
            let label = label_value(discriminator, label)?;
            if !labels.insert(label) {
                return Err(bad_param(18));
            }
            check_member_type(ty)?;
            cases.push((label, *name, ty.clone()));
        }
        let different =
            members.chunk_by(|(_, name, ty), (_, next, next_ty)| name == next && ty.equal(next_ty));
        check_member_names(different.map(|labels_of_one| labels_of_one[0].1))?;
        TypeCode::union(id, name, discriminator.clone(), cases).ok_or(bad_param(20))
    }

    /// A `typedef`.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_alias_tc(id: &str, name: &str, original: TypeCode) -> Created {
        check_declared(id, name)?;
        check_member_type(&original)?;
        Ok(TypeCode::alias(id, name, original))
    }

    /// A sequence; the bound 0 means unbounded.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_sequence_tc(bound: u32, element: TypeCode) -> Created {
        check_member_type(&element)?;
        Ok(TypeCode::sequence(element, bound))
    }

    /// One dimension of an array.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_array_tc(length: u32, element: TypeCode) -> Created {
        check_member_type(&element)?;
        Ok(TypeCode::array(element, length))
    }

    /// An interface.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_interface_tc(id: &str, name: &str) -> Created {
        check_declared(id, name)?;
        Ok(TypeCode::interface(id, name))
    }

    /// An abstract interface.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_abstract_interface_tc(id: &str, name: &str) -> Created {
        check_declared(id, name)?;
        Ok(TypeCode::abstract_interface(id, name))
    }

    /// A local interface.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_local_interface_tc(id: &str, name: &str) -> Created {
        check_declared(id, name)?;
        Ok(TypeCode::local_interface(id, name))
    }

    /// A native type.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_native_tc(id: &str, name: &str) -> Created {
        check_declared(id, name)?;
        Ok(TypeCode::native(id, name))
    }

    /// A boxed value.
    ///
    /// # Errors
    /// See [`TypeCodeFactory`]; BAD_TYPECODE 2 for a value type, which cannot be boxed.
    pub fn create_value_box_tc(id: &str, name: &str, boxed: TypeCode) -> Created {
        check_declared(id, name)?;
        check_member_type(&boxed)?;
        match boxed.unaliased().kind() {
            TCKind::Value | TCKind::ValueBox | TCKind::Event => Err(illegitimate()),
            _ => Ok(TypeCode::value_box(id, name, boxed)),
        }
    }

    /// A valuetype: modifier and members as for [`TypeCode::value`].
    ///
    /// # Errors
    /// See [`TypeCodeFactory`]; BAD_TYPECODE 2 for a base that is not a valuetype.
    pub fn create_value_tc(
        id: &str,
        name: &str,
        modifier: i16,
        concrete_base: Option<TypeCode>,
        members: &[(&str, TypeCode, bool)],
    ) -> Created {
        check_value(id, name, concrete_base.as_ref(), members)?;
        let members = members.iter().cloned();
        Ok(TypeCode::value(id, name, modifier, concrete_base, members))
    }

    /// An eventtype: as [`create_value_tc`](Self::create_value_tc).
    ///
    /// # Errors
    /// As [`create_value_tc`](Self::create_value_tc).
    pub fn create_event_tc(
        id: &str,
        name: &str,
        modifier: i16,
        concrete_base: Option<TypeCode>,
        members: &[(&str, TypeCode, bool)],
    ) -> Created {
        check_value(id, name, concrete_base.as_ref(), members)?;
        let members = members.iter().cloned();
        Ok(TypeCode::event(id, name, modifier, concrete_base, members))
    }

    /// A placeholder for the type with that id, for use in its members: see
    /// [`TypeCode::recursive`].
    ///
    /// # Errors
    /// See [`TypeCodeFactory`].
    pub fn create_recursive_tc(id: &str) -> Created {
        check_id(id)?;
        Ok(TypeCode::recursive(id))
    }
}

fn bad_param(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadParam, minor, Completion::No)
}

/// The exception for an invalid member type.
fn illegitimate() -> SystemException {
    SystemException::omg(ExceptionKind::BadTypecode, 2, Completion::No)
}

fn check_declared(id: &str, name: &str) -> Result<(), SystemException> {
    check_id(id)?;
    if is_name(name) {
        Ok(())
    } else {
        Err(bad_param(15))
    }
}

fn check_id(id: &str) -> Result<(), SystemException> {
    if is_repository_id(id) {
        Ok(())
    } else {
        Err(bad_param(16))
    }
}

/// Whether a name is an IDL identifier, or empty.
fn is_name(name: &str) -> bool {
    name.is_empty() || is_identifier(name)
}

/// Members and enumerators differ by more than case.
fn check_member_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), SystemException> {
    let mut seen = HashSet::new();
    for name in names {
        let is_new = name.is_empty() || seen.insert(name.to_lowercase());
        if !is_new || !is_name(name) {
            return Err(bad_param(17));
        }
    }
    Ok(())
}

fn check_member_type(ty: &TypeCode) -> Result<(), SystemException> {
    match ty.unaliased().kind() {
        TCKind::Null | TCKind::Void | TCKind::Except => Err(illegitimate()),
        _ => Ok(()),
    }
}

fn check_members(
    id: &str,
    name: &str,
    members: &[(&str, TypeCode)],
) -> Result<(), SystemException> {
    check_declared(id, name)?;
    check_member_names(members.iter().map(|(name, _)| *name))?;
    members.iter().try_for_each(|(_, ty)| check_member_type(ty))
}

fn check_value(
    id: &str,
    name: &str,
    concrete_base: Option<&TypeCode>,
    members: &[(&str, TypeCode, bool)],
) -> Result<(), SystemException> {
    check_declared(id, name)?;
    check_member_names(members.iter().map(|(name, ..)| *name))?;
    for (_, ty, _) in members {
        check_member_type(ty)?;
    }
    match concrete_base.map(|base| base.unaliased().kind()) {
        None | Some(TCKind::Value | TCKind::Event) => Ok(()),
        Some(_) => Err(illegitimate()),
    }
}

/// The number that a label is; `None` for that of the default member.
fn label_value(discriminator: &TypeCode, label: &Any) -> Result<Option<i64>, SystemException> {
    let of = discriminator.unaliased();
    if TypeCode::union("", "", of.clone(), []).is_none() {
        return Err(bad_param(20));
    }
    let ty = label.type_code();
    if ty.unaliased().kind() == TCKind::Octet && of.kind() != TCKind::Octet {
        return match label_of(label) {
            Ok(0) => Ok(None),
            _ => Err(bad_param(19)),
        };
    }
    if !ty.equivalent(discriminator) {
        return Err(bad_param(19));
    }
    label_of(label).map(Some).map_err(|_| bad_param(19))
}
