// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events and spans of the ORB for subscribers of `tracing`; nothing at all without
//! that feature.

mod recurring;
#[cfg(feature = "tracing")]
pub(crate) mod spans;

#[cfg(feature = "tracing")]
pub(crate) use tracing::{debug, error, info, warn};

pub(crate) use recurring::{Recurrences, Recurring};

#[cfg(not(feature = "tracing"))]
macro_rules! unheard {
    ($($said:tt)*) => {
        ()
    };
}

#[cfg(not(feature = "tracing"))]
pub(crate) use {unheard as debug, unheard as error, unheard as info, unheard as warn};

/// Whether any subscriber may want spans of calls and requests, which have the level
/// DEBUG: the one test that a call makes, a comparison with a static variable.
#[inline(always)]
pub(crate) fn wants_spans() -> bool {
    #[cfg(feature = "tracing")]
    {
        use tracing::Level;
        use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};

        Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
    }
    #[cfg(not(feature = "tracing"))]
    {
        false
    }
}
