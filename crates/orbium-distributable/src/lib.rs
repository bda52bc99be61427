// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads (Real-time CORBA 2, dynamic scheduling): one flow of control with one
//! identity and one set of scheduling parameters, across calls and processes.
//!
//! This crate does not know sockets or the encoding of requests: it consists of a pair of
//! interceptors, and an object through which threads are cancelled.
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

mod error;
mod objects;
mod propagation;
mod resource;
mod scheduling;
mod shared;
mod thread;
mod threads;

orbium::include_idl!("ThreadControl");

pub use error::SegmentError;
pub use propagation::context::SCHEDULING_INFO;
pub use propagation::control::CONTROL_KEY;
pub use resource::ResourceManager;
pub use resource::resource_error::ResourceError;
pub use scheduling::fixed_priority::FixedPriority;
pub use scheduling::parameter::SchedulingParameter;
pub use scheduling::ranked::Ranked;
pub use scheduling::scheduler::Scheduler;
pub use thread::current::Current;
pub use thread::id::ThreadId;
pub use thread::spawning::{Spawn, Spawned};
pub use thread::{DistributableThread, State};
pub use threads::DistributableThreads;
