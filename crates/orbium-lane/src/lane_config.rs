// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of a lane.

use std::time::Duration;

use orbium_budget::Budget;
use orbium_sys::{Reservation, Scheduling};
use orbium_transport::Endpoint;

use crate::{Lane, LaneSizes, Order, QueueBounds};
use orbium_config::{Limits, ServerStrategy};
use orbium_invocation::Priority;

/// Octets of stack that the standard library gives a thread.
const STACK: usize = 2 << 20;

/// Octets of a stack that are in use before it is touched, and some more.
const IN_USE: usize = 16 << 10;

/// Configuration of a lane: a plain value. [`Default`] is an ordinary lane without
/// endpoints of its own.
///
/// A worker pool is what the thread pools of Real-time CORBA are: its
/// `workers` are the static threads, its `queue` is the bound of buffered
/// requests (0 buffers none: a request that finds no thread is answered
/// TRANSIENT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// The name of its threads; Linux shows the first 15 bytes.
    pub name: String,
    /// The CORBA priority that its requests are served at, so that nested calls
    /// carry it on. `None` if requests have priorities of their own, or none.
    pub priority: Option<Priority>,
    /// Scheduling class and native priority of its threads. `None`: they inherit those of
    /// the thread that adds the lane.
    pub scheduling: Option<Scheduling>,
    /// Time of a processor that the host reserves for its one thread that serves, on all processors and in
    /// place of `scheduling`. A thread of a worker pool that only reads has the scheduling, and the one that
    /// serves too where the host refuses the reservation to a soft lane. Requests that bring a native
    /// priority of their own leave the reservation as it is.
    pub reservation: Option<Reservation>,
    /// Processor time of its threads in each period, beyond which they are demoted until it is replenished. With
    /// `scheduling`.
    pub budget: Option<Budget>,
    /// How long its reactor looks for messages before the thread sleeps: no wake-up within it, and the processor is not
    /// free for others. Default: zero. Reactive lanes, leader-followers.
    pub busy_poll: Duration,
    /// Processors that its threads run on. `None`: all.
    pub processors: Option<Vec<usize>>,
    /// Go on without scheduling, reservation and processors if the host refuses them.
    pub soft: bool,
    /// How it serves, and with how many static threads.
    pub strategy: ServerStrategy,
    /// The order of the requests that wait in its queue. Another than [`Order::Priority`], the
    /// default, in worker pools alone.
    pub order: Order,
    /// Where it listens. Without endpoints it serves requests that arrive at other lanes.
    pub endpoints: Vec<Endpoint>,
    /// Threads that may be added while all static ones are busy; with
    /// leader-followers and worker pools.
    pub dynamic_threads: usize,
    /// Time after which a thread that is not static ends without work. Default:
    /// 5 s.
    pub idle_time: Duration,
    /// Octets of stack of each thread. `None`: the standard library's 2 MiB.
    pub stack_size: Option<usize>,
    /// Octets of each stack that are touched before the thread serves: at least
    /// 16 KiB less than the stack has.
    pub prefault_stack: usize,
    /// Whether another thread is started when all wait in calls of their own, so
    /// that nested calls which lead back are served. Without, there are never more
    /// threads than the static and dynamic ones. In worker pools.
    pub replaces_waiting: bool,
    /// Octets of all requests that wait together. `None`:
    /// [`Limits::message_size`].
    pub queue_octets: Option<usize>,
    /// Bounds of the requests that wait here together with those of other
    /// lanes. `None`: the lane's own bounds alone. In worker pools.
    pub queue_bounds: Option<QueueBounds>,
    /// Lanes of lower priority, from which an idle thread is taken when all
    /// threads here are busy; the first that has one lends it. It serves one
    /// request at this lane's priorities. Between worker pools.
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

/// What the threads of the ORB's own lane are called.
const OWN_NAME: &str = "orbium-serve";

impl LaneConfig {
    /// The ORB's own lane, which `Config` describes.
    #[must_use]
    pub fn of_orb(strategy: ServerStrategy) -> Self {
        Self {
            name: OWN_NAME.into(),
            strategy,
            ..Self::default()
        }
    }

    /// Whether workers serve out of a queue.
    #[must_use]
    pub fn is_pool(&self) -> bool {
        matches!(self.strategy, ServerStrategy::WorkerPool { .. })
    }

    /// Its name for people: the threads of the ORB's own lane are called otherwise.
    #[must_use]
    pub fn label(&self) -> &str {
        match self.name.as_str() {
            OWN_NAME => "orb",
            name => name,
        }
    }

    /// Static threads that serve, and those there may be; both 0 for as many as
    /// there are connections.
    #[must_use]
    pub fn threads(&self) -> (usize, usize) {
        self.sizes().threads()
    }

    /// What of it can change while it serves.
    #[must_use]
    pub fn sizes(&self) -> LaneSizes {
        LaneSizes {
            strategy: self.strategy,
            dynamic_threads: self.dynamic_threads,
            idle_time: self.idle_time,
            queue_octets: self.queue_octets,
        }
    }

    /// Whether the choices make sense.
    ///
    /// # Errors
    /// The sentence that says why not.
    pub fn check(&self, limits: &Limits) -> Result<(), &'static str> {
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

    /// Once a lane that touched all but an octet of its stack was let begin: its
    /// threads ran over the end, which ended the process.
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
