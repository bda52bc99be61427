// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operating system as an ORB needs it: sockets, readiness, clocks.
//!
//! This crate has never heard of CORBA. It adds to the standard library what
//! that lacks (gathered sends that never raise a signal, level-triggered
//! readiness, wake-ups), behind names that are the same on every platform.
#![forbid(unsafe_code)]

mod deadline;
mod host;
mod readiness;
mod tcp;
mod waker;

pub use deadline::Deadline;
pub use host::host_name;
pub use readiness::{Interest, Poller, Ready, wait_for};
pub use tcp::{SocketOptions, connect, listen, receive, send, send_vectored, set_timeouts};
pub use waker::Waker;
