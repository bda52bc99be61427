// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of a lane.

use std::time::Duration;

use orbium_budget::Budget;
use orbium_sys::{Reservation, Scheduling};
use orbium_transport::Endpoint;

use crate::{Lane, LaneSizes, Order, QueueBounds};
use orbium_config::{Limits, ServerStrategy};
use orbium_invocation::Priority;

/// Default stack size of threads of the standard library.
const STACK: usize = 2 << 20;

/// Bytes of a stack that are in use before prefaulting, with a reserve.
const IN_USE: usize = 16 << 10;

/// Configuration of a lane: a plain value. [`Default`] is an ordinary lane without endpoints.
///
/// A worker pool corresponds to a thread pool of Real-time CORBA: its `workers` are the static
/// threads, its `queue` is the limit of buffered requests (0 buffers none: a request without an
/// idle thread is answered TRANSIENT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// The name of its threads; Linux shows the first 15 bytes.
    pub name: String,
    /// The CORBA priority at which its requests are served, and which nested calls propagate.
    /// `None` if requests have their own priorities, or none.
    pub priority: Option<Priority>,
    /// Scheduling class and native priority of its threads. `None`: they inherit those of
    /// the thread that adds the lane.
    pub scheduling: Option<Scheduling>,
    /// Processor time that the host reserves for its single serving thread, on all processors and
    /// in place of `scheduling`. A thread of a worker pool that only reads has the scheduling, and
    /// so has the serving one if the host refuses the reservation to a soft lane. Requests with
    /// their own native priority do not change the reservation.
    pub reservation: Option<Reservation>,
    /// Processor time of its threads in each period, beyond which they are demoted until it is
    /// replenished. With `scheduling`.
    pub budget: Option<Budget>,
    /// Time that its reactor polls for messages before the thread sleeps: no wake-up latency within
    /// it, but the processor is busy. Default: zero. For reactive lanes and leader/followers.
    pub busy_poll: Duration,
    /// Processors on which its threads run. `None`: all.
    pub processors: Option<Vec<usize>>,
    /// Whether to continue without scheduling, reservation and processors if the host refuses them.
    pub soft: bool,
    /// The strategy, with the number of static threads.
    pub strategy: ServerStrategy,
    /// The order of the requests in its queue. Orders other than [`Order::Priority`], the default,
    /// in worker pools only.
    pub order: Order,
    /// The endpoints of the lane. Without endpoints it serves requests that arrive at other lanes.
    pub endpoints: Vec<Endpoint>,
    /// Maximum number of threads added while all static ones are busy; with leader/followers and
    /// worker pools.
    pub dynamic_threads: usize,
    /// Time after which an idle dynamic thread ends. Default: 5 s.
    pub idle_time: Duration,
    /// Stack size of each thread in bytes. `None`: the standard library's 2 MiB.
    pub stack_size: Option<usize>,
    /// Bytes of each stack that are prefaulted before the thread serves: at least 16 KiB less than
    /// the stack size.
    pub prefault_stack: usize,
    /// Whether another thread is started when all wait in nested calls, so that nested calls that
    /// lead back are served. Otherwise, there are never more threads than the static and dynamic
    /// ones. In worker pools.
    pub replaces_waiting: bool,
    /// Maximum total size of queued requests. `None`: [`Limits::message_size`].
    pub queue_octets: Option<usize>,
    /// Limits of the queued requests together with those of other lanes. `None`: only the lane's
    /// own limits. In worker pools.
    pub queue_bounds: Option<QueueBounds>,
    /// Lanes of lower priority, from which an idle thread is borrowed when all threads here are
    /// busy; the first with an idle one lends it. It serves one request at this lane's priorities.
    /// Between worker pools.
    pub borrows_from: Vec<Lane>,
    /// Further lanes to borrow from, by name.
    pub borrows_from_named: Vec<String>,
    /// Whether the lane has no threads: the program's serve it, by
    /// [`Lane::serve_one`](crate::Lane::serve_one). For a worker pool of 0 workers.
    pub served_by_callers: bool,
}

impl Default for LaneConfig {
    fn default() -> Self {
        Self {
            name: "orbium-lane".into(),
            priority: None,
            scheduling: None,
            reservation: None,
            budget: None,
            busy_poll: Duration::ZERO,
            processors: None,
            soft: false,
            strategy: ServerStrategy::default(),
            order: Order::default(),
            endpoints: Vec::new(),
            dynamic_threads: 0,
            idle_time: Duration::from_secs(5),
            stack_size: None,
            prefault_stack: 0,
            replaces_waiting: true,
            queue_octets: None,
            queue_bounds: None,
            borrows_from: Vec::new(),
            borrows_from_named: Vec::new(),
            served_by_callers: false,
        }
    }
}

/// The name of the threads of the ORB's own lane.
const OWN_NAME: &str = "orbium-serve";

impl LaneConfig {
    /// Labels of the ORB's own lane and of dedicated threads in metrics, which no other lane may have.
    pub const RESERVED: [&'static str; 2] = ["orb", "dedicated"];

    /// The ORB's own lane, described by `Config`.
    #[must_use]
    pub fn of_orb(strategy: ServerStrategy) -> Self {
        Self {
            name: OWN_NAME.into(),
            strategy,
            ..Self::default()
        }
    }

    /// Whether workers serve a queue.
    #[must_use]
    pub fn is_pool(&self) -> bool {
        matches!(self.strategy, ServerStrategy::WorkerPool { .. })
    }

    /// Its name for users: the threads of the ORB's own lane have another one.
    #[must_use]
    pub fn label(&self) -> &str {
        match self.name.as_str() {
            OWN_NAME => "orb",
            name => name,
        }
    }

    /// The number of static serving threads, and the maximum; both 0 for one per connection.
    #[must_use]
    pub fn threads(&self) -> (usize, usize) {
        self.sizes().threads()
    }

    /// The part that can be changed while it serves.
    #[must_use]
    pub fn sizes(&self) -> LaneSizes {
        LaneSizes {
            strategy: self.strategy,
            dynamic_threads: self.dynamic_threads,
            idle_time: self.idle_time,
            queue_octets: self.queue_octets,
        }
    }

    /// Checks that the settings are consistent.
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn check(&self, limits: &Limits) -> Result<(), &'static str> {
        if Self::RESERVED.contains(&self.label()) {
            return Err(
                "`orb` is the ORB's own lane, and `dedicated` are dedicated threads: a lane needs another name",
            );
        }
        let (fixed, most) = self.threads();
        let grows = matches!(
            self.strategy,
            ServerStrategy::LeaderFollowers { .. } | ServerStrategy::WorkerPool { .. }
        );
        if grows && (fixed == 0) != self.served_by_callers {
            return Err("no thread would serve: a lane needs at least 1 static thread");
        }
        if !grows && self.dynamic_threads > 0 {
            return Err(
                "only leader-followers and worker pools grow: dynamic_threads must be 0 with other strategies",
            );
        }
        if self.reservation.is_some() && (most != 1 || self.processors.is_some()) {
            return Err("a reservation is for a lane of 1 thread without processors of its own");
        }
        if !self.busy_poll.is_zero()
            && !matches!(
                self.strategy,
                ServerStrategy::Reactive | ServerStrategy::LeaderFollowers { .. }
            )
        {
            return Err(
                "busy_poll is for lanes that read and serve by a reactor: strategy reactive or leader-followers",
            );
        }
        if let Some(budget) = self.budget {
            budget.check(self.scheduling)?;
        }
        if most > limits.serving_threads {
            return Err(
                "the lane has more threads than may serve: raise serving_threads or lower the lane's numbers",
            );
        }
        let stack = self.stack_size.unwrap_or(STACK);
        if stack == 0 || self.prefault_stack > stack.saturating_sub(IN_USE) {
            return Err(
                "more of each stack is to be touched than it has: lower prefault_stack or raise stack_size",
            );
        }
        let pools = |it: &ServerStrategy| matches!(it, ServerStrategy::WorkerPool { .. });
        if !pools(&self.strategy) && (self.queue_bounds.is_some() || !self.replaces_waiting) {
            return Err(
                "only worker pools have a bound of threads or of what waits in common with others",
            );
        }
        if !pools(&self.strategy) && self.order != Order::default() {
            return Err(
                "order is for lanes with a queue of their own: with another than priority, the strategy must be worker-pool",
            );
        }
        let lend = self.borrows_from.iter().all(|lane| pools(&lane.strategy()));
        if !(self.borrows_from.is_empty() || lend && pools(&self.strategy)) {
            return Err("threads are lent between worker pools alone");
        }
        if self
            .borrows_from
            .iter()
            .any(|lane| lane.priority() >= self.priority)
        {
            return Err("a lane borrows threads from lanes of lower priority alone");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a lane was allowed to prefault all but a byte of its stack; its threads overran
    /// the end, which ended the process.
    #[test]
    fn the_used_part_of_a_stack_is_not_touched() {
        let limits = Limits::default();
        for (stack_size, most) in [
            (None, STACK - IN_USE),
            (Some(64 << 10), 48 << 10),
            (Some(1), 0),
        ] {
            let lane = |prefault_stack| LaneConfig {
                stack_size,
                prefault_stack,
                ..LaneConfig::default()
            };
            assert_eq!(lane(most).check(&limits), Ok(()));
            let refused = lane(most + 1).check(&limits).unwrap_err();
            assert!(refused.contains("lower prefault_stack"), "{refused}");
        }
    }
}
