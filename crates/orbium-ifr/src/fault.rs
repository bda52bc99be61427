// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions of a repository.

use orbium::{Completion, ExceptionKind, SystemException};

pub(crate) type Result<T> = std::result::Result<T, SystemException>;

const fn no(kind: ExceptionKind, minor: u32) -> SystemException {
    SystemException::omg(kind, minor, Completion::No)
}

/// An invalid argument without a minor code: nil, or not an object of this repository.
pub(crate) const BAD_ARGUMENT: SystemException =
    SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
/// The repository id belongs to another definition.
pub(crate) const ID_IN_USE: SystemException = no(ExceptionKind::BadParam, 2);
/// The name belongs to another definition in the same container.
pub(crate) const NAME_IN_USE: SystemException = no(ExceptionKind::BadParam, 3);
/// The container cannot contain such a definition.
pub(crate) const BAD_CONTAINER: SystemException = no(ExceptionKind::BadParam, 4);
/// The name is that of an inherited definition.
pub(crate) const INHERITED_NAME: SystemException = no(ExceptionKind::BadParam, 5);
/// The type is incomplete: it contains itself.
pub(crate) const INCOMPLETE: SystemException = no(ExceptionKind::BadParam, 13);
/// The name is not an identifier.
pub(crate) const BAD_NAME: SystemException = no(ExceptionKind::BadParam, 15);
/// The repository id has no format.
pub(crate) const BAD_ID: SystemException = no(ExceptionKind::BadParam, 16);
/// A member has no name, or that of another one.
pub(crate) const BAD_MEMBER: SystemException = no(ExceptionKind::BadParam, 17);
/// A label occurs twice.
pub(crate) const LABEL_TWICE: SystemException = no(ExceptionKind::BadParam, 18);
/// A label is not of the discriminator's type.
pub(crate) const BAD_LABEL: SystemException = no(ExceptionKind::BadParam, 19);
/// The type is not valid for a discriminator.
pub(crate) const BAD_DISCRIMINATOR: SystemException = no(ExceptionKind::BadParam, 20);
/// An abstract interface would inherit from a concrete one.
pub(crate) const CONCRETE_BASE: SystemException = no(ExceptionKind::BadParam, 11);
/// A value would support two concrete interfaces.
pub(crate) const CONCRETE_INTERFACES: SystemException = no(ExceptionKind::BadParam, 12);
/// A oneway operation would have results or exceptions.
pub(crate) const BAD_ONEWAY: SystemException = no(ExceptionKind::BadParam, 31);
/// Another definition depends on the one to be destroyed.
pub(crate) const IN_USE: SystemException = no(ExceptionKind::BadInvOrder, 1);
/// The repository and primitive types cannot be destroyed.
pub(crate) const INDESTRUCTIBLE: SystemException = no(ExceptionKind::BadInvOrder, 2);
/// The type is not valid for a member.
pub(crate) const BAD_MEMBER_TYPE: SystemException = no(ExceptionKind::BadTypecode, 2);
/// The type is not valid for a parameter.
pub(crate) const BAD_PARAMETER_TYPE: SystemException = no(ExceptionKind::BadTypecode, 3);
/// The repository would have too many definitions, or a type too many parts.
pub(crate) const TOO_LARGE: SystemException =
    SystemException::new(ExceptionKind::ImpLimit, 0, Completion::No);
/// The definition does not exist any more.
pub(crate) const GONE: SystemException =
    SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
/// The database could not be written.
pub(crate) const NOT_STORED: SystemException =
    SystemException::new(ExceptionKind::PersistStore, 0, Completion::No);
