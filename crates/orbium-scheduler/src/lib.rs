// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedule-driven programs: configuration runs, lanes and dispatch queues, and periodic
//! tasks.
//!
//! This crate does not analyse: [`orbium_sched`] does. It does not know IDL, sockets or GIOP.
//!
//! The program is the same in both runs. With `ORBIUM_SCHED=configure=src/schedule.rs`,
//! [`Scheduler::schedule`] writes the table of the registered operations; without, it checks that
//! the table with which the program was built is that of its operations.
//!
//! ```
//! use orbium_sched::{Table, Time, Timing};
//! use orbium_scheduler::{Mode, Outcome, Scheduler, SchedulerError};
//!
//! /// The contents of `src/schedule.rs` before the first configuration run.
//! static SCHEDULE: Table = Table::EMPTY;
//!
//! let mut scheduler = Scheduler::new(&SCHEDULE, Mode::Run);
//! let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
//! scheduler.repository_mut().register("Gyro::read", timing)?;
//! let error = scheduler.schedule().unwrap_err();
//! assert_eq!(error.to_string(), "1 operations are registered, and the table is empty: a configuration run writes it");
//! # Ok::<(), SchedulerError>(())
//! ```
#![forbid(unsafe_code)]

mod admission;
mod budget;
mod calibration;
mod call_recorder;
mod clock;
mod dispatching;
mod error;
mod mode;
mod operations;
mod periodic;
mod scheduler;

pub use admission::ScheduleAdmission;
pub use budget::{BudgetCounts, CpuBudgets, Overrun};
pub use calibration::cost::{Cost, MeasuredOverhead};
pub use calibration::{Calibration, CalibrationError, ExecutionTimes};
pub use call_recorder::CallRecorder;
pub use clock::{Clock, MonotonicClock};
pub use dispatching::dispatcher::{Counts, Dispatcher, DispatcherBuilder, SubmitError};
pub use dispatching::job::{Job, Overload};
pub use dispatching::lanes::{ScheduledLanes, at_priority_of};
pub use dispatching::ready_queue::{ReadyQueue, Waiting};
pub use dispatching::schedule_dispatch::{
    RequestCounts, ScheduleDispatch, ScheduleDispatchBuilder,
};
pub use dispatching::thread::{ScheduledThread, Started};
pub use dispatching::work_queue::{Refused, WorkQueue};
pub use error::SchedulerError;
pub use mode::{Mode, VARIABLE};
pub use periodic::statistics::{Distribution, Statistics};
pub use periodic::{PeriodicTask, PeriodicTaskBuilder};
pub use scheduler::{Outcome, Scheduler};
