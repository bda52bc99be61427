// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads (Real-time CORBA 2, dynamic scheduling): one flow of control with one
//! identity and one set of scheduling parameters, across calls and processes.
//!
//! This crate does not know sockets or how requests are read: it is a pair of interceptors, and an
//! object by which cancellation travels.
//!
//! ```
//! use orbium::Orb;
//! use orbium::interceptor::Interceptors;
//! use orbium_distributable::{DistributableThreads, FixedPriority, SchedulingParameter};
//!
//! let threads = DistributableThreads::new(FixedPriority::default());
//! let mut interceptors = Interceptors::new();
//! threads.install(&mut interceptors)?;
//! let orb = Orb::builder().interceptors(interceptors).build()?;
//! threads.serve(&orb)?;
//!
//! let current = threads.current();
//! let urgent = SchedulingParameter::FixedPriority { priority: 10 };
//! current.begin_scheduling_segment("scan", urgent, None)?;
//! // Calls carry the identity and the parameter of the thread.
//! assert!(current.id().is_some());
//! current.end_scheduling_segment("scan")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod context;
mod control;
mod counted_scheduler;
mod current;
mod error;
mod fixed_priority;
mod id;
mod level;
mod native;
mod notice;
mod objects;
mod parameter;
mod presence;
mod ranked;
mod registry;
mod resource;
mod resource_error;
mod resources;
mod scheduler;
mod server;
mod shared;
mod spawning;
mod thread;
mod threads;
mod utility;
mod wire_parameter;

orbium::include_idl!("ThreadControl");

pub use context::SCHEDULING_INFO;
pub use control::CONTROL_KEY;
pub use current::Current;
pub use error::SegmentError;
pub use fixed_priority::FixedPriority;
pub use id::ThreadId;
pub use parameter::SchedulingParameter;
pub use ranked::Ranked;
pub use resource::ResourceManager;
pub use resource_error::ResourceError;
pub use scheduler::Scheduler;
pub use spawning::{Spawn, Spawned};
pub use thread::{DistributableThread, State};
pub use threads::DistributableThreads;
