// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observation of an ORB's crates: log events, of which a process can keep the last warnings, and
//! time probes.
//!
//! It has no notion of GIOP, connections or objects. Its users are the other crates of orbium:
//! `orbium` has the API for programs.
#![forbid(unsafe_code)]

/// Ends a step of a call: `probe!(Point)`. Compiles to nothing without the feature `probes`.
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
