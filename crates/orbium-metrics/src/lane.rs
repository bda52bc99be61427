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
    /// The CORBA priority that its requests are served at.
    pub priority: Option<Priority>,
    /// The native scheduling of its threads, as the host grants it.
    pub scheduling: Option<Scheduling>,
    /// The time of a processor that the host reserves for its thread that serves.
    pub reservation: Option<Reservation>,
    /// How it serves.
    pub strategy: ServerStrategy,
    /// Where it listens.
    pub endpoints: Vec<String>,
    /// Connections open.
    pub connections: usize,
    /// Threads, those that accept or wait included.
    pub threads: usize,
    /// Requests that wait for a thread.
    pub waiting: usize,
    /// Requests that may wait.
    pub queue: usize,
    /// Requests for which there was no room so far.
    pub refused: u64,
    /// What its threads have taken of their budget, if they have one.
    pub budget: Option<BudgetUse>,
}
