// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resizing of a pool in operation.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_lane::LaneSizes;
use orbium_sync::StartBarrier;

use super::{Pool, SMALL};
use crate::lane::sizes::Sizes;

impl Pool {
    /// See [`Lane::resize`](orbium_lane::Lane::resize).
    pub(crate) fn resize(self: &Arc<Self>, lane: &LaneSizes) -> io::Result<()> {
        let limits = self.host.context.limits();
        let sizes = Sizes::of_queue(lane, limits);
        let barrier = StartBarrier::default();
        let grown = {
            let mut state = self.lock();
            let missing = if state.closed {
                0
            } else {
                sizes.fixed.saturating_sub(state.alive)
            };
            let before = std::mem::replace(&mut state.sizes, sizes);
            state.room.reserve(sizes.fixed + 1);
            let grown = (0..missing).try_for_each(|_| {
                self.add_thread(&mut state, Some(barrier.guard()))?;
                state.room.push(Vec::with_capacity(SMALL));
                Ok(())
            });
            let alive = state.alive;
            if grown.is_err() {
                state.sizes = before;
                state.surplus.change(sizes.fixed, before.fixed, alive);
            } else {
                state.surplus.change(before.fixed, sizes.fixed, alive);
                state.waiting.bound_octets(sizes.octets);
                let bounds = self.queue_bounds.as_ref();
                self.bounds_octets
                    .store(sizes.bound_octets(bounds, limits), Ordering::Relaxed);
                state.waiting.refill(sizes.capacity, bounds);
            }
            grown
        };
        // Surplus threads end, and deferred requests may get a place.
        self.changed.notify_all();
        barrier.wait();
        grown
    }
}
