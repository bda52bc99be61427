// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queues of a schedule as lanes of an ORB.

use std::time::Duration;

use orbium::budget::Budget;
use orbium::{
    Orb,
    config::ServerStrategy,
    lane::{Lane, LaneConfig, Order, Priority, Reservation, Scheduling, priority},
    transport::Endpoint,
};
use orbium_sched::{Dispatching, Entry, SchedError, Table};

use crate::error::SchedulerError;

/// The strategy of a lane by deadline or laxity, unless the program sets another one.
const ONE_WORKER: ServerStrategy = ServerStrategy::WorkerPool {
    workers: 1,
    queue: 256,
};

/// Creates a lane for each queue of a schedule: a thread at the queue's native priority with an
/// endpoint of its own, so that requests of different queues share no thread, connection or lock.
///
/// The CORBA priority of a lane is the native priority of its queue. References of an adapter with
/// these lanes contain the endpoint of each, and a client that calls within [`at_priority_of`]
/// reaches the lane of that operation.
///
/// ```no_run
/// use orbium::{Orb, poa::Policies};
/// use orbium_scheduler::ScheduledLanes;
///
/// # static SCHEDULE: orbium_sched::Table = orbium_sched::Table::EMPTY;
/// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
/// let lanes = ScheduledLanes::new(&SCHEDULE)
///     .endpoint(0, "iiop://127.0.0.1:10020".parse()?)
///     .start(&orb)?;
/// let policies = Policies { lanes, ..Policies::default() };
/// let adapter = orb.root_poa().create_poa("sensors", None, policies)?;
/// # drop(adapter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScheduledLanes {
    table: &'static Table,
    /// Endpoints that the program has set, by queue.
    endpoints: Vec<(usize, Endpoint)>,
    default_endpoint: Option<Endpoint>,
    reservations: Vec<(usize, Reservation)>,
    budgets: Vec<(usize, Budget)>,
    busy_polls: Vec<(usize, Duration)>,
    processors: Option<Vec<usize>>,
    queue_processors: Vec<(usize, Vec<usize>)>,
    strategy: Option<ServerStrategy>,
    soft: bool,
}

impl ScheduledLanes {
    /// Reactive lanes of all queues of a table at free ports of this host.
    #[must_use]
    pub fn new(table: &'static Table) -> Self {
        Self {
            table,
            endpoints: Vec::new(),
            default_endpoint: None,
            reservations: Vec::new(),
            budgets: Vec::new(),
            busy_polls: Vec::new(),
            processors: None,
            queue_processors: Vec::new(),
            strategy: None,
            soft: false,
        }
    }

    /// Adds an endpoint to the lane of a queue. A lane may have several.
    #[must_use]
    pub fn endpoint(mut self, queue: usize, endpoint: Endpoint) -> Self {
        self.endpoints.push((queue, endpoint));
        self
    }

    /// The endpoint of every lane without an individual one; its port is to be 0. Default:
    /// `iiop://127.0.0.1:0`.
    #[must_use]
    pub fn default_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.default_endpoint = Some(endpoint);
        self
    }

    /// Sets a reservation of processor time for the lane of a queue, in place of its native
    /// priority (SCHED_DEADLINE). The last one of a queue counts. Such lanes have one thread and
    /// run on all processors.
    #[must_use]
    pub fn reserve(mut self, queue: usize, reservation: Reservation) -> Self {
        self.reservations.retain(|(of, _)| *of != queue);
        self.reservations.push((queue, reservation));
        self
    }

    /// Bounds the processor time of the lane of a queue: beyond it the threads of the lane are demoted until the budget is
    /// replenished. The last one of a queue counts.
    #[must_use]
    pub fn budget(mut self, queue: usize, budget: Budget) -> Self {
        self.budgets.retain(|(of, _)| *of != queue);
        self.budgets.push((queue, budget));
        self
    }

    /// Sets how long the reactor of the lane of a queue polls for messages before its thread
    /// sleeps: no wake-up within that time, but the processor is not free for less urgent queues.
    /// Default: zero. The last one of a queue counts.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use orbium_scheduler::ScheduledLanes;
    /// # static SCHEDULE: orbium_sched::Table = orbium_sched::Table::EMPTY;
    /// let lanes = ScheduledLanes::new(&SCHEDULE).busy_poll(0, Duration::from_micros(50));
    /// # drop(lanes);
    /// ```
    #[must_use]
    pub fn busy_poll(mut self, queue: usize, time: Duration) -> Self {
        self.busy_polls.retain(|(of, _)| *of != queue);
        self.busy_polls.push((queue, time));
        self
    }

    /// As [`Self::reserve`], by the operations of the queue: in each of the shortest of their
    /// periods, the execution time of all of them within it, with their callees. A queue without
    /// periods has no reservation.
    #[must_use]
    pub fn reserve_by_schedule(self, queue: usize) -> Self {
        match reservation_of(self.table, queue) {
            Some(reservation) => self.reserve(queue, reservation),
            None => self,
        }
    }

    /// The processors of lanes without [individual ones](Self::queue_processors). Default: all.
    #[must_use]
    pub fn processors(mut self, processors: Vec<usize>) -> Self {
        self.processors = Some(processors);
        self
    }

    /// The processors of the lane of a queue. The last ones of a queue count.
    ///
    /// ```
    /// # use orbium_scheduler::ScheduledLanes;
    /// # static SCHEDULE: orbium_sched::Table = orbium_sched::Table::EMPTY;
    /// // The most urgent queue has the second processor for itself.
    /// let lanes = ScheduledLanes::new(&SCHEDULE).processors(vec![0]).queue_processors(0, vec![1]);
    /// # drop(lanes);
    /// ```
    #[must_use]
    pub fn queue_processors(mut self, queue: usize, processors: Vec<usize>) -> Self {
        self.queue_processors.retain(|(of, _)| *of != queue);
        self.queue_processors.push((queue, processors));
        self
    }

    /// Sets the server strategy of the lanes. Default: reactive, one thread for each lane and no
    /// hand-over; lanes of queues by deadline or laxity, which need a queue for that, have one
    /// worker and a queue of 256 requests, unless they have a reservation or poll busily. Worker
    /// pools serve by deadline, laxity or, for static queues, by subpriority if a
    /// [`ScheduleDispatch`](crate::ScheduleDispatch) determines the operation of a request; lanes
    /// of other strategies in the order of arrival.
    #[must_use]
    pub fn strategy(mut self, strategy: ServerStrategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Sets whether lanes continue without native priorities and reservations if the host refuses
    /// them, at the native priority without a reservation; each logs that. Default: an error.
    #[must_use]
    pub fn soft(mut self, soft: bool) -> Self {
        self.soft = soft;
        self
    }

    /// The configurations of the lanes, the most urgent first.
    ///
    /// # Errors
    /// [`SchedulerError::Priority`]; `UnknownTask` for an endpoint, a reservation, a budget, busy
    /// polling or processors of an unknown queue.
    pub fn configs(&self) -> Result<Vec<LaneConfig>, SchedulerError> {
        let count = self.table.queues.len();
        let with_endpoint = self.endpoints.iter().map(|(queue, _)| queue);
        let with_reservation = self.reservations.iter().map(|(queue, _)| queue);
        let with_budget = self.budgets.iter().map(|(queue, _)| queue);
        let with_busy_poll = self.busy_polls.iter().map(|(queue, _)| queue);
        let named = with_endpoint.chain(with_reservation).chain(with_budget);
        let with_processors = self.queue_processors.iter().map(|(queue, _)| queue);
        let mut named = named.chain(with_busy_poll).chain(with_processors);
        if let Some(queue) = named.find(|queue| **queue >= count) {
            return Err(SchedError::UnknownTask(format!("queue {queue}")).into());
        }
        let mut above = i32::MAX;
        let mut configs = Vec::with_capacity(count);
        for (number, queue) in self.table.queues.iter().enumerate() {
            if queue.priority >= above {
                return Err(SchedulerError::Priority(queue.priority));
            }
            above = queue.priority;
            let reservation = of_queue(&self.reservations, number);
            let strategy = self.strategy_of(number, queue.dispatching);
            configs.push(LaneConfig {
                name: format!("queue-{number}"),
                priority: Some(corba_priority(queue.priority)?),
                scheduling: Some(scheduling(queue.dispatching, queue.priority)),
                reservation,
                budget: of_queue(&self.budgets, number),
                busy_poll: of_queue(&self.busy_polls, number).unwrap_or_default(),
                processors: of_queue(&self.queue_processors, number)
                    .or_else(|| self.processors.clone()),
                soft: self.soft,
                strategy,
                order: order(queue.dispatching, strategy),
                endpoints: self.endpoints_of(number),
                ..LaneConfig::default()
            });
        }
        Ok(configs)
    }

    /// Starts the lanes, the most urgent first.
    ///
    /// # Errors
    /// As [`Self::configs`]; [`SchedulerError::Lane`], with no lane of these remaining.
    pub fn start(&self, orb: &Orb) -> Result<Vec<Lane>, SchedulerError> {
        let mut lanes: Vec<Lane> = Vec::new();
        for config in self.configs()? {
            match orb.add_lane(&config) {
                Ok(lane) => lanes.push(lane),
                Err(error) => {
                    for lane in lanes {
                        // The error that led here is the one to report.
                        let _ = lane.stop();
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(lanes)
    }

    fn strategy_of(&self, queue: usize, dispatching: Dispatching) -> ServerStrategy {
        let is_reactive = of_queue(&self.reservations, queue).is_some()
            || of_queue(&self.busy_polls, queue).is_some();
        let default = match dispatching {
            Dispatching::Deadline | Dispatching::Laxity if !is_reactive => ONE_WORKER,
            _ => ServerStrategy::Reactive,
        };
        self.strategy.unwrap_or(default)
    }

    fn endpoints_of(&self, queue: usize) -> Vec<Endpoint> {
        let named = self.endpoints.iter().filter(|(of, _)| *of == queue);
        let named: Vec<Endpoint> = named.map(|(_, endpoint)| endpoint.clone()).collect();
        match (named.is_empty(), &self.default_endpoint) {
            (false, _) => named,
            (true, Some(endpoint)) => vec![endpoint.clone()],
            (true, None) => "iiop://127.0.0.1:0".parse().into_iter().collect(),
        }
    }
}

/// The order of a queue, as far as a lane of that strategy supports it.
fn order(dispatching: Dispatching, strategy: ServerStrategy) -> Order {
    let is_pool = matches!(strategy, ServerStrategy::WorkerPool { .. });
    match dispatching {
        Dispatching::Static if is_pool => Order::Subpriority,
        Dispatching::Deadline if is_pool => Order::EarliestDeadline,
        Dispatching::Laxity if is_pool => Order::LeastLaxity,
        _ => Order::default(),
    }
}

fn of_queue<T: Clone>(all: &[(usize, T)], queue: usize) -> Option<T> {
    let own = all.iter().find(|(of, _)| *of == queue);
    own.map(|(_, it)| it.clone())
}

/// Runs `work` at the CORBA priority of a table for the operation of that index, which its calls
/// carry.
///
/// # Errors
/// `UnknownTask` for an index beyond the table; [`SchedulerError::Priority`].
pub fn at_priority_of<R>(
    table: &Table,
    operation: usize,
    work: impl FnOnce() -> R,
) -> Result<R, SchedulerError> {
    let entry = table.entry(operation)?;
    let at = corba_priority(entry.assignment.priority)?;
    Ok(priority::while_at(Some(at), work))
}

/// The reservation for the periodic operations of a queue, in the shortest of their periods.
fn reservation_of(table: &Table, queue: usize) -> Option<Reservation> {
    let of_queue = |it: &&Entry| {
        let number = usize::try_from(it.assignment.preemption_priority);
        number.is_ok_and(|number| number == queue) && !it.period.as_duration().is_zero()
    };
    let entries = || table.entries.iter().filter(of_queue);
    let period = entries().map(|it| it.period.as_duration()).min()?;
    // An operation of a longer period uses its whole time in one of the shortest ones at worst.
    let runtime = entries().map(|it| it.longest_run.as_duration()).sum();
    Some(Reservation::new(runtime, period)).filter(|it| !it.runtime.is_zero())
}

pub(crate) fn corba_priority(native: i32) -> Result<Priority, SchedulerError> {
    let number = i16::try_from(native).ok().and_then(Priority::new);
    number.ok_or(SchedulerError::Priority(native))
}

/// SCHED_RR for the time-sliced background, SCHED_FIFO for all other queues.
pub(crate) fn scheduling(dispatching: Dispatching, native: i32) -> Scheduling {
    match dispatching {
        Dispatching::TimeSliced => Scheduling::round_robin(native),
        _ => Scheduling::fifo(native),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use orbium_sched::Queue;

    use super::*;

    /// 5 ms in each 50 ms, 7 with its callees, and 10 ms in each 100 ms; a queue without periods.
    static SCHEDULE: Table = Table {
        entries: &[
            Entry::new("Gyro::read", (0, 0, 9), 500_000, 50_000).with_calls(70_000),
            Entry::new("Gyro::adjust", (0, 1, 9), 1_000_000, 100_000),
            Entry::new("Log::write", (1, 0, 8), 0, 10_000),
        ],
        queues: &[
            Queue {
                priority: 9,
                dispatching: Dispatching::Static,
            },
            Queue {
                priority: 8,
                dispatching: Dispatching::Static,
            },
        ],
        ..Table::EMPTY
    };

    #[test]
    fn a_reservation_by_schedule_is_that_of_the_operations() {
        let lanes = ScheduledLanes::new(&SCHEDULE);
        let lanes = lanes.reserve_by_schedule(0).reserve_by_schedule(1);
        let configs = lanes.configs().unwrap();
        let ms = Duration::from_millis;
        assert_eq!(
            configs[0].reservation,
            Some(Reservation::new(ms(17), ms(50)))
        );
        assert_eq!(configs[1].reservation, None);
        // If the host refuses the reservation of a soft lane.
        assert_eq!(configs[0].scheduling, Some(Scheduling::fifo(9)));
    }

    #[test]
    fn a_queue_may_have_processors_of_its_own() {
        let lanes = ScheduledLanes::new(&SCHEDULE).processors(vec![0, 1]);
        let lanes = lanes.queue_processors(0, vec![0]);
        let configs = lanes
            .clone()
            .queue_processors(0, vec![1])
            .configs()
            .unwrap();
        assert_eq!(configs[0].processors, Some(vec![1]));
        assert_eq!(configs[1].processors, Some(vec![0, 1]));
        let refused = lanes.queue_processors(2, vec![1]).configs().unwrap_err();
        let unknown = SchedError::UnknownTask("queue 2".to_owned());
        assert_eq!(
            refused.to_string(),
            SchedulerError::from(unknown).to_string()
        );
    }
}
