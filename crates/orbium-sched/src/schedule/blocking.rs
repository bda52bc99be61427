// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocking of queues by calls of less urgent threads.
//!
//! An operation that several threads call has the most urgent of their queues, where the calls of
//! all of them run: a priority ceiling. A less urgent thread within such a call delays the queues
//! down to its own. The other less urgent threads do not run until the call ends, so each queue is
//! blocked at most once, for one call.

use crate::graph::Graph;
use crate::info::{InfoKind, RtInfo};
use crate::threads::Thread;
use crate::time::Time;

/// The calls of a repository, with their cost.
pub(super) struct Calls<'a> {
    pub(super) infos: &'a [RtInfo],
    pub(super) graph: &'a Graph,
    /// The ORB's cost of each call.
    pub(super) overhead: Time,
}

impl Calls<'_> {
    /// The longest time for which a call of a less urgent thread runs in each of so many queues, or
    /// in a more urgent one. `queues` has the queue of each thread, `queue_of` that of each
    /// operation.
    pub(super) fn blocking(
        &self,
        threads: &[Thread],
        queues: &[u32],
        queue_of: &[Option<u32>],
        levels: usize,
        time: impl Fn(&RtInfo) -> Time,
    ) -> Vec<Time> {
        let mut least = vec![0_usize; self.infos.len()];
        for (thread, queue) in threads.iter().zip(queues) {
            for handle in thread.operations.iter().filter(|it| **it != thread.entry) {
                let known = &mut least[handle.index()];
                *known = (*known).max(*queue as usize);
            }
        }
        let mut blocking = vec![Time::ZERO; levels];
        for ((first, end), call) in queue_of.iter().zip(least).zip(self.times(time)) {
            let first = first.map_or(end, |it| it as usize).min(end);
            for known in &mut blocking[first..end] {
                *known = (*known).max(call);
            }
        }
        blocking
    }

    /// The time of one call of each operation, with all its callees.
    fn times(&self, time: impl Fn(&RtInfo) -> Time) -> Vec<Time> {
        let mut times = vec![Time::ZERO; self.infos.len()];
        for index in &self.graph.order {
            let info = &self.infos[*index];
            let own = match info.timing.kind {
                InfoKind::RemoteDependant => Time::ZERO,
                _ => time(info),
            };
            let further = self.graph.callees[*index]
                .iter()
                .map(|(on, calls)| times[*on].saturating_mul(*calls));
            let all = further.chain([self.overhead]);
            times[*index] = all.fold(own, Time::saturating_add);
        }
        times
    }
}
