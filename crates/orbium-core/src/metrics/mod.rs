// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters and latency histograms of an ORB: no cost while metrics are off, plain atomics
//! afterwards.
//!
//! The counts are read by [`exposition`], with the feature `metrics`.
//!
//! Labels are bounded: operations of linked stubs and skeletons, lanes, transports,
//! exceptions and closed lists of causes; never peers, keys or request ids.

#[cfg(feature = "metrics")]
pub mod exposition;
mod watching;

use std::sync::Arc;

pub use orbium_metrics::published::*;
pub(crate) use orbium_metrics::{End, Instruments, Label, Measurements, Refusal, Series, scoped};

pub(crate) use watching::Watching;

use crate::client::notice;
use crate::{Config, Orb, OrbError};

/// Starts the watch of an ORB.
pub(crate) type Watcher = fn(&Orb) -> Result<(), OrbError>;

impl Config {
    /// The function that starts the watch; `None` unless `watch` is on.
    ///
    /// # Errors
    /// [`OrbError::Feature`]: `watch` or `metrics` is on, and the program was built without the
    /// feature `metrics`.
    pub(crate) fn watcher(&self) -> Result<Option<Watcher>, OrbError> {
        let watchers: &[Watcher] = &[
            #[cfg(feature = "metrics")]
            |orb| orb.watch().map(drop),
        ];
        let asked = match (self.watch, self.metrics) {
            (true, _) => "watch = true",
            (false, true) => "metrics = true",
            (false, false) => return Ok(None),
        };
        match watchers.first() {
            Some(watcher) => Ok(self.watch.then_some(*watcher)),
            None => Err(OrbError::Feature(asked.to_owned(), "metrics")),
        }
    }
}

impl Orb {
    /// Starts counting and measuring.
    pub(crate) fn start_counting(&self) -> &Arc<Measurements> {
        let all = self.instruments().turn_on();
        self.client().set_notice(notice::METRICS);
        all
    }
}
