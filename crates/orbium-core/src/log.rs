// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events and spans of the ORB for subscribers of `tracing`.

pub(crate) mod spans;

use tracing::Level;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};

pub(crate) use orbium_trace::log::{Recurrences, Recurring, debug, error, info, recent, warn};

/// Whether any subscriber may want spans of calls and requests, which have the level
/// DEBUG: the one test that a call makes, a comparison with a static variable.
#[inline(always)]
pub(crate) fn wants_spans() -> bool {
    Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
}
