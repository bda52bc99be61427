// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exceptions specified for incorrect use of request information.

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

const fn omg(kind: ExceptionKind, minor: u32) -> SystemException {
    SystemException::omg(kind, minor, Completion::No)
}

/// No service context with that id.
pub(crate) const fn no_such_context() -> SystemException {
    omg(ExceptionKind::BadParam, 26)
}

/// No component with that id.
pub(crate) const fn no_such_component() -> SystemException {
    omg(ExceptionKind::BadParam, 28)
}

/// No profile has that tag, or none with components.
pub(crate) const fn no_such_profile() -> SystemException {
    omg(ExceptionKind::BadParam, 29)
}

/// No policy of that type.
pub(crate) const fn no_such_policy() -> SystemException {
    omg(ExceptionKind::InvPolicy, 2)
}

/// A service context with that id exists, and must not be replaced.
pub(crate) const fn context_exists() -> SystemException {
    omg(ExceptionKind::BadInvOrder, 15)
}

/// Service contexts added by servants are not collected.
pub(crate) const fn contexts_not_collected() -> SystemException {
    omg(ExceptionKind::BadInvOrder, 14)
}

/// An ORB initialiser runs.
pub(crate) const fn initializing() -> SystemException {
    omg(ExceptionKind::BadInvOrder, 14)
}

/// Statically compiled stubs and skeletons do not retain the information.
pub(crate) const fn not_kept() -> SystemException {
    omg(ExceptionKind::NoResources, 1)
}

/// An interceptor panicked.
pub(crate) const fn panicked(completed: Completion) -> SystemException {
    SystemException::orbium(ExceptionKind::Unknown, minor::SERVANT_PANICKED, completed)
}

/// An ORB initialiser panicked.
pub(crate) const fn initializer_panicked() -> SystemException {
    panicked(Completion::No)
}

/// A nil reference cannot be registered as an initial reference.
pub(crate) const fn nil_initial_reference() -> SystemException {
    omg(ExceptionKind::BadParam, 27)
}

/// A name of an initial reference that is empty or taken.
pub(crate) const fn invalid_name() -> SystemException {
    SystemException::new(ExceptionKind::BadParam, 0, Completion::No)
}
