// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budgets of processor time for groups of threads, as for a deferrable server.
//!
//! This crate is independent of requests and lanes, and has no cost for a request: a separate
//! thread checks the processor time of the others.
//!
//! A [`Group`] has a [`Budget`]: a processor time in each period, for all its threads together.
//! When it is exhausted, the threads are demoted to the background scheduling; when it is
//! replenished, at the beginning of the next period, their own scheduling is restored. Background
//! execution is not charged.
//!
//! ```
//! use std::time::Duration;
//! use orbium_budget::{Budget, Group, remaining};
//! use orbium_sys::Scheduling;
//!
//! let budget = Budget::new(Duration::from_millis(2), Duration::from_millis(10));
//! let group = Group::start("control", budget, Scheduling::OTHER, true)?;
//! let left = std::thread::spawn(move || {
//!     group.enter(Scheduling::OTHER);
//!     remaining()
//! });
//! assert!(left.join().unwrap().is_some_and(|it| it <= budget.time));
//! # Ok::<(), orbium_sys::RealTimeError>(())
//! ```
#![forbid(unsafe_code)]

mod account;
mod budget;
mod group;
mod host;
mod ledger;
mod operation;

pub use budget::Budget;
pub use group::{BudgetUse, Group, leave, remaining};
pub use operation::{BudgetCounts, OperationBudget};
