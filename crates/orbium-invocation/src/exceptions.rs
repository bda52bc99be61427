// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions that callers and servers raise for the same reason.

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

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
