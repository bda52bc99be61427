// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling analysis for one processor: from the timing of operations to priorities and queues,
//! and to the deadlines that hold.
//!
//! Pure functions and values. This crate does not know sockets, threads, clocks, CORBA objects or
//! IDL: `Repository` has the operations of TAO's Scheduling Service; its objects and readers of IDL
//! are in crates above.
//!
//! ```
//! use orbium_sched::{DependencyKind, Options, Repository, Strategy, Time, Timing};
//!
//! let mut repository = Repository::new();
//! let timing = |period, time| Timing {
//!     period: Time::from_millis(period),
//!     worst_case_execution_time: Time::from_millis(time),
//!     ..Timing::default()
//! };
//! let steer = repository.register("Rudder::steer", timing(50, 10))?;
//! let log = repository.register("Log::write", timing(1000, 100))?;
//! let read = repository.register("Gyro::read", timing(0, 5))?;
//! repository.add_dependency(steer, read, 2, DependencyKind::TwoWayCall)?;
//!
//! let schedule = repository.compute_scheduling(&Options::new(Strategy::Rms))?;
//! assert!(schedule.is_feasible());
//! assert_eq!(schedule.levels[0].response, Some(Time::from_millis(20)));
//! assert_eq!(repository.priority(steer)?.priority, 99);
//! assert_eq!(repository.priority(log)?.priority, 98);
//! # Ok::<(), orbium_sched::SchedError>(())
//! ```
#![forbid(unsafe_code)]

mod anomaly;
mod call_tree;
mod declaration;
mod error;
pub mod feasibility;
pub mod gantt;
mod graph;
mod info;
mod options;
pub mod overload;
mod rates;
mod repository;
mod schedule;
pub mod simulator;
mod source;
mod table;
mod text;
mod threads;
mod time;

pub use anomaly::{Anomaly, AnomalyKind, Severity};
pub use call_tree::call_tree;
pub use declaration::{Declaration, DeclaredDependency, declarations};
pub use error::SchedError;
pub use info::{
    Assignment, Criticality, Dependency, DependencyKind, EnableState, Handle, Importance, InfoKind,
    RtInfo, Timing, UnknownDegree,
};
pub use options::{Options, Overhead, Preemption, Strategy, UnknownPreemption, UnknownStrategy};
pub use rates::Rate;
pub use repository::Repository;
pub use schedule::{Dispatching, Level, Schedule, Test, Verdict};
pub use source::{dot, source, summary};
pub use table::{Entry, Queue, Table};
pub use text::{Listing, TextError, listing, parse};
pub use threads::Thread;
pub use time::{Time, TimeError};
