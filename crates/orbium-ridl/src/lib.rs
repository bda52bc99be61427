// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timing requirements in IDL: the annotations `@rt` and `@calls` of operations as RT_Infos, and
//! the results of their analysis as diagnostics with line and caret.
//!
//! This crate does not know the ORB or command lines.
//!
//! ```
//! use orbium_idl::{Options, compile_source};
//! use orbium_ridl::Requirements;
//!
//! let compilation = compile_source(&Options::new(), "rudder.idl", r#"
//!     interface Gyro { @rt(wcet="2 ms") long read(); };
//!     interface Rudder {
//!         @rt(period="50 ms", wcet="10 ms", criticality=HIGH)
//!         @calls(operation="Gyro::read", times=2)
//!         void steer();
//!     };
//! "#);
//! let requirements = Requirements::of(&compilation.model.unwrap());
//! assert!(requirements.diagnostics.is_empty());
//! let mut repository = requirements.repository()?;
//! let schedule = repository.compute_scheduling(&orbium_sched::Options::default())?;
//! assert_eq!(schedule.threads[0].worst_case, orbium_sched::Time::from_millis(14));
//! # Ok::<(), orbium_sched::SchedError>(())
//! ```
#![forbid(unsafe_code)]

mod annotation;
mod findings;
mod listed;
mod quality;
mod quality_fields;
mod requirements;
mod resolve;
mod rt_infos;

pub use quality::QosConstants;
pub use requirements::{Call, Requirement, Requirements};
pub use rt_infos::RtInfos;
