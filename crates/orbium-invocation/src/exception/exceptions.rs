// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions raised by both callers and servers.

use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_transport::Deadline;

/// The exception after shutdown of the ORB: BAD_INV_ORDER 4.
#[must_use]
pub fn already_shut_down() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No)
}

/// Raised in a forked child if it needs threads of its parent.
#[must_use]
pub fn forked() -> SystemException {
    SystemException::orbium(ExceptionKind::BadInvOrder, minor::FORKED, Completion::No)
}

/// The exception for a passed deadline of a call.
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
/// TIMEOUT if it has passed.
#[cold]
pub fn time_left(deadline: Deadline) -> Result<Option<Duration>, SystemException> {
    deadline.remaining().map_err(|_| deadline_passed())
}
