// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread for each request.

use orbium_core::{
    Dispatch, DispatchHook, Lane, LaneConfig, Orb, OrbError, RequestInfo, ServerStrategy,
};

/// Serves each request by a thread of its own, from a cache, up to a maximum number at once;
/// further requests raise TRANSIENT. Install it as [`Policies::dispatch`](orbium_core::Policies),
/// or as the last of a [`HookChain`](super::HookChain).
///
/// A request with a priority, its own or one set by a previous hook, is served at that priority.
#[derive(Clone, Debug)]
pub struct ThreadPerRequest {
    lane: Lane,
}

impl ThreadPerRequest {
    /// Serves at most that many requests at once, by threads of that name.
    ///
    /// # Errors
    /// [`OrbError`]: zero, more than `limits.serving_threads`, or the system refuses threads.
    pub fn start(orb: &Orb, name: &str, most: usize) -> Result<Self, OrbError> {
        let lane = orb.add_lane(&LaneConfig {
            name: name.to_owned(),
            strategy: ServerStrategy::WorkerPool {
                workers: most.min(1),
                queue: 0,
            },
            dynamic_threads: most.saturating_sub(1),
            // Otherwise more than the maximum would be served.
            replaces_waiting: false,
            ..LaneConfig::default()
        })?;
        Ok(Self { lane })
    }

    /// The lane of these threads.
    #[must_use]
    pub fn lane(&self) -> &Lane {
        &self.lane
    }
}

impl DispatchHook for ThreadPerRequest {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        in_lane(&self.lane, request)
    }
}

/// Serves it in that lane, at the request's own priority if it has one.
pub(super) fn in_lane(lane: &Lane, request: &RequestInfo<'_>) -> Dispatch {
    let asked = request.object_priority().or_else(|| request.priority());
    match asked {
        Some(priority) => Dispatch::InAt(lane.clone(), priority, None),
        None => Dispatch::In(lane.clone()),
    }
}
