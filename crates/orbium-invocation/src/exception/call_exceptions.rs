// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system exceptions that calls raise by themselves, before or without a reply.

use orbium_cdr::{CdrError, CdrErrorKind};
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

/// Raised where trust is missing: a server may find out that it does not trust
/// a client only after the client has connected.
#[cold]
#[must_use]
pub fn not_trusted() -> SystemException {
    SystemException::orbium(
        ExceptionKind::NoPermission,
        minor::PEER_NOT_TRUSTED,
        Completion::No,
    )
}

/// Raised where the one connection has ended.
#[cold]
#[must_use]
pub fn binding_lost() -> SystemException {
    SystemException::orbium(ExceptionKind::Rebind, minor::BINDING_LOST, Completion::No)
}

/// Raised in a nested call where the one connection is busy: it may be waiting
/// for that very call.
#[cold]
#[must_use]
pub fn binding_busy() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Transient,
        minor::CONNECTION_LIMIT,
        Completion::No,
    )
}

/// Raised where a reference offers nothing that can be used.
#[must_use]
pub fn no_usable_protocol() -> SystemException {
    SystemException::orbium(
        ExceptionKind::InvPolicy,
        minor::NO_USABLE_PROTOCOL,
        Completion::No,
    )
}

/// Raised where the system gives no further thread or descriptor.
#[cold]
#[must_use]
pub fn exhausted() -> SystemException {
    let (kind, code) = (ExceptionKind::NoResources, minor::SYSTEM_EXHAUSTED);
    SystemException::orbium(kind, code, Completion::No)
}

/// The exception for arguments that cannot be sent: what the caller gave is
/// wrong, not what came from the wire.
#[cold]
#[must_use]
pub fn bad_argument(error: CdrError) -> SystemException {
    let exception = SystemException::from_cdr(error, Completion::No);
    match error.kind {
        CdrErrorKind::BoundExceeded
        | CdrErrorKind::BadString
        | CdrErrorKind::BadDiscriminator
        | CdrErrorKind::BadEnumerator => {
            SystemException::new(ExceptionKind::BadParam, exception.minor, Completion::No)
        }
        _ => exception,
    }
}

/// An invariant of the ORB does not hold.
#[cold]
#[must_use]
pub fn broken_invariant() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::Maybe,
    )
}
