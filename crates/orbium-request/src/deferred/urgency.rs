// SPDX-License-Identifier: MIT OR Apache-2.0
//! Urgency of a request that is answered later.

use std::time::Instant;

use orbium_giop::riop::Riop;

/// What a request says of its urgency: executors may order their tasks by that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Urgency {
    /// Its RIOP context; `None` without one, and for one that is malformed.
    pub riop: Option<Riop>,
    /// The deadline of the call; `None` if the client sent none.
    pub deadline: Option<Instant>,
}
