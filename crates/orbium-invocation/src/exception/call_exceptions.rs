// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system exceptions that the client engine raises, before or without a reply.

use orbium_cdr::{CdrError, CdrErrorKind};
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

/// Raised for missing trust: a server may detect that it does not trust a client only after the
/// client has connected.
#[cold]
#[must_use]
pub fn not_trusted() -> SystemException {
    SystemException::orbium(
        ExceptionKind::NoPermission,
        minor::PEER_NOT_TRUSTED,
        Completion::No,
    )
}

/// Raised after the single connection has ended.
#[cold]
#[must_use]
pub fn binding_lost() -> SystemException {
    SystemException::orbium(ExceptionKind::Rebind, minor::BINDING_LOST, Completion::No)
}

/// Raised in a nested call if the single connection is busy: it may be waiting for that same call.
#[cold]
#[must_use]
pub fn binding_busy() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Transient,
        minor::CONNECTION_LIMIT,
        Completion::No,
    )
}

/// Raised if no profile of a reference can be used.
#[must_use]
pub fn no_usable_protocol() -> SystemException {
    SystemException::orbium(
        ExceptionKind::InvPolicy,
        minor::NO_USABLE_PROTOCOL,
        Completion::No,
    )
}

/// Raised if the system refuses a thread or descriptor.
#[cold]
#[must_use]
pub fn exhausted() -> SystemException {
    let (kind, code) = (ExceptionKind::NoResources, minor::SYSTEM_EXHAUSTED);
    SystemException::orbium(kind, code, Completion::No)
}

/// The exception for arguments that cannot be sent: the caller's values are invalid, not received
/// data.
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

/// The exception for a violated invariant of the ORB.
#[cold]
#[must_use]
pub fn broken_invariant() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::Maybe,
    )
}
