// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Real-time Scheduling Service as a CORBA object: programs register their operations with
//! timing requirements, and get priorities.
//!
//! [`ScheduleService`] serves one, from memory or from a file. [`rt_scheduler`] is the compiled
//! interface of the paper, [`rt_scheduler2`] that of operations which only its text has,
//! [`rtec_scheduler`] the interface of TAO's releases, over the same operations. This crate does
//! not know sockets or analysis, which is in `orbium-sched`.
//!
//! ```
//! use orbium::Orb;
//! use orbium_schedule_service::ScheduleService;
//! use orbium_schedule_service::rt_scheduler::Importance;
//!
//! let orb = Orb::builder().build()?;
//! let service = ScheduleService::in_memory(&orb)?;
//! // For applications:
//! let scheduler = service.reference();
//! let steer = scheduler.create("Rudder::steer")?;
//! let (period, time) = (500_000, 100_000); // 50 ms and 10 ms, in units of 100 ns
//! scheduler.set(steer, time, time, 0, period, Importance::MediumImportance, 0, 0)?;
//! // For the program that starts the applications:
//! service.privileged().compute_scheduling(1, 99)?;
//! assert_eq!(scheduler.priority(steer)?.priority, 99);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod book;
mod convert;
mod error;
mod extended;
mod journal;
mod rtec;
mod rtec_convert;
mod servant;
mod service;

orbium::include_idl!("RTScheduler");
orbium::include_idl!("RtecScheduler");

pub use error::ServiceError;
pub use service::{RTEC_SCHEDULE_SERVICE, SCHEDULE_SERVICE, ScheduleService};
