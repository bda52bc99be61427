// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes as data.

use orbium_budget::BudgetUse;
use orbium_config::ServerStrategy;
use orbium_invocation::Priority;
use orbium_sys::{Reservation, Scheduling};

/// A snapshot of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneSnapshot {
    /// Its number: 0 is the ORB's own.
    pub number: u32,
    /// Its name; `orb` for the ORB's own.
    pub name: String,
    /// The CORBA priority at which its requests are served.
    pub priority: Option<Priority>,
    /// The native scheduling of its threads, granted by the host.
    pub scheduling: Option<Scheduling>,
    /// The processor time reserved by the host for its serving thread.
    pub reservation: Option<Reservation>,
    /// Its strategy.
    pub strategy: ServerStrategy,
    /// Its endpoints.
    pub endpoints: Vec<String>,
    /// The number of open connections.
    pub connections: usize,
    /// The number of threads, including those that accept or wait.
    pub threads: usize,
    /// The number of queued requests.
    pub waiting: usize,
    /// The capacity of the queue.
    pub queue: usize,
    /// The number of requests refused so far because the queue was full.
    pub refused: u64,
    /// The use of its threads' budget, if they have one.
    pub budget: Option<BudgetUse>,
}
