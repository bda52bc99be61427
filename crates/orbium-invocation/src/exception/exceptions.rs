// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions that callers and servers raise for the same reason.

use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_transport::Deadline;

/// The ORB was shut down: BAD_INV_ORDER 4.
#[must_use]
pub fn already_shut_down() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No)
}

/// Raised in a forked child where threads are needed that its parent has.
#[must_use]
pub fn forked() -> SystemException {
    SystemException::orbium(ExceptionKind::BadInvOrder, minor::FORKED, Completion::No)
}

/// A deadline of a call has passed.
#[must_use]
#[cold]
pub fn deadline_passed() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Timeout,
        minor::DEADLINE_PASSED,
        Completion::No,
    )
}

/// The time until a deadline of a call.
///
/// # Errors
/// TIMEOUT if nothing is.
#[cold]
pub fn time_left(deadline: Deadline) -> Result<Option<Duration>, SystemException> {
    deadline.remaining().map_err(|_| deadline_passed())
}
