// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes that the program's threads serve
//! ([`LaneConfig::served_by_callers`](crate::lane::LaneConfig)).

use crate::LaneCore;
use crate::lane::Lane;

impl Lane {
    /// Serves one request if there is one, or, if this `waits`, the next one; whether the
    /// lane has not ended.
    #[must_use]
    pub fn serve_one(&self, waits: bool) -> bool {
        LaneCore::of(self).pool.serve_one(waits)
    }

    /// Has a thread that serves the lane run something. It is dropped if the lane ends
    /// before.
    #[doc(hidden)]
    pub fn run(&self, job: Box<dyn FnOnce() + Send>) {
        LaneCore::of(self).pool.add_job(job);
    }

    /// Whether there is something to serve.
    #[must_use]
    pub fn has_work(&self) -> bool {
        LaneCore::of(self).pool.has_work()
    }
}
