// SPDX-License-Identifier: MIT OR Apache-2.0
//! Urgency of a request with a deferred reply.

use std::time::Instant;

use orbium_giop::riop::Riop;

/// The urgency of a request, by which executors may order their tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Urgency {
    /// Its RIOP context; `None` without one, or if it is malformed.
    pub riop: Option<Riop>,
    /// The deadline of the call; `None` if the client sent none.
    pub deadline: Option<Instant>,
}
