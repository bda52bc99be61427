// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exceptions of adapters that end, and of threads that would wait for themselves.

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_sync::role;

/// Prepares the thread for waiting for the requests of an ORB, if it `waits` at all. A thread that
/// serves a request of another ORB hands off its reading first.
///
/// # Errors
/// BAD_INV_ORDER 3: it serves a request of that ORB, and would wait for itself.
#[inline]
pub fn before_waiting(orb: usize, waits: bool) -> Result<(), SystemException> {
    if !waits {
        return Ok(());
    }
    if role::is_serving(orb) {
        return Err(would_wait_for_itself());
    }
    role::about_to_block();
    Ok(())
}

/// The exception for a request that would wait for its own end.
#[must_use]
pub fn would_wait_for_itself() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 3, Completion::No)
}

/// The exception for requests to an adapter that is being destroyed (CORBA 3.3
/// Part 1, clause 15.3.9, `destroy`).
#[must_use]
pub fn being_destroyed() -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 4, Completion::No)
}

/// The exception for operations of an adapter that was destroyed, or of an ORB that is gone.
#[must_use]
pub fn gone() -> SystemException {
    SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No)
}

/// The exception for a key without an adapter.
#[must_use]
pub fn no_such_adapter() -> SystemException {
    SystemException::omg(ExceptionKind::ObjectNotExist, 2, Completion::No)
}

/// The exception if the adapter of a key has no object with its id.
#[must_use]
pub fn no_such_object() -> SystemException {
    SystemException::orbium(
        ExceptionKind::ObjectNotExist,
        minor::NO_SUCH_OBJECT,
        Completion::No,
    )
}
