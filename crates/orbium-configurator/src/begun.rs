// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of a reconfiguration that may fail.

use orbium_core::{Endpoint, Lane, LaneSizes, OrbError};
use orbium_trace::log;

/// The completed steps, which are undone if the rest fails.
#[derive(Default)]
pub(crate) struct Begun {
    pub(crate) opened: Vec<(Lane, Endpoint)>,
    pub(crate) added: Vec<Lane>,
    pub(crate) replaced: Vec<Replaced>,
    pub(crate) resized: Vec<(Lane, LaneSizes)>,
}

/// A lane that ends, and the one that takes over its name and its endpoints.
pub(crate) struct Replaced {
    pub(crate) before: Lane,
    pub(crate) after: Lane,
}

impl Begun {
    pub(crate) fn undo(self) {
        for (lane, endpoint) in &self.opened {
            lane.stop_listening(endpoint);
        }
        for lane in self.joining() {
            let _ = lane.stop();
        }
        for (lane, before) in self.resized {
            log_failed(&lane, lane.resize(&before));
        }
    }

    /// The lanes that were started.
    pub(crate) fn joining(&self) -> Vec<Lane> {
        let replaced = self.replaced.iter().map(|it| &it.after);
        self.added.iter().chain(replaced).cloned().collect()
    }
}

/// Logs a failed resize, which does not occur for fewer threads or another queue.
pub(crate) fn log_failed(lane: &Lane, resized: Result<(), OrbError>) {
    if let Err(error) = resized {
        log::error!(target: "orbium::config", lane = lane.name(), %error, "a lane keeps its threads");
    }
}
