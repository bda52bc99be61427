// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ORB notices, for those who listen to `tracing`; nothing at all
//! without that feature.

#[cfg(feature = "tracing")]
pub(crate) use tracing::{debug, error, info, warn};

#[cfg(not(feature = "tracing"))]
macro_rules! unheard {
    ($($said:tt)*) => {
        ()
    };
}

#[cfg(not(feature = "tracing"))]
pub(crate) use {unheard as debug, unheard as error, unheard as warn};
