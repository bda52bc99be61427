// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduler contexts: M tasks on N threads under a scheduling policy.
//!
//! This crate does not do I/O, has no timers and does not know CORBA. Tasks are futures, woken by
//! the events that they await.
//!
//! A [`SchedulerContext`] has tasks, threads and a [`Policy`]: first come first served, priority,
//! rate monotonic, earliest deadline, least laxity or maximum urgency first. Each task has a
//! [`TaskQos`], from which the policy computes the order of ready tasks. Contexts are created and
//! destroyed while the program runs; threads and tasks migrate between them; the policy may change
//! at any time, and no task is lost.
//!
//! ```
//! use std::time::Duration;
//! use orbium_executor::{Policy, SchedulerContext, TaskQos};
//!
//! let context = SchedulerContext::builder("control")
//!     .policy(Policy::Edf)
//!     .threads(2)
//!     .build()?;
//! let qos = TaskQos::default().deadline(Duration::from_millis(5));
//! let answer = context.spawn(qos, async { 6 * 7 })?;
//! assert_eq!(answer.wait(), Ok(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Scheduling is cooperative within a context: a task runs until it awaits. Threads of contexts
//! with different native priorities preempt each other.
#![forbid(unsafe_code)]

mod clock;
mod completion;
mod context;
mod counts;
mod error;
mod join;
mod lock;
mod queue;
mod shared;
mod tasks;
mod thread_setup;
mod worker;

pub use context::{ContextBuilder, ContextHandle, SchedulerContext};
pub use counts::ContextCounts;
pub use error::{MigrateError, SpawnError, TaskError, ThreadError};
pub use join::TaskHandle;
pub use queue::policy::Policy;
pub use tasks::qos::TaskQos;
pub use tasks::yielding::{next_job, yield_now};
