// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observation of an ORB's crates: log events, of which a process can keep the last warnings,
//! and time probes.
//!
//! It does not know GIOP, connections or objects. Its users are the other crates of
//! orbium: `orbium` has what programs need.
#![forbid(unsafe_code)]

/// Ends a step of a call: `probe!(Point)`. Nothing at all without the feature
/// `probes`.
#[macro_export]
macro_rules! probe {
    ($point:ident) => {
        if $crate::probe::ENABLED {
            $crate::probe::mark($crate::probe::Point::$point);
        }
    };
}

pub mod log;
pub mod probe;

#[doc(hidden)]
pub use tracing;
