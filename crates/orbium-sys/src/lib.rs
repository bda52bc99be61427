// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operating system as an ORB needs it: sockets, readiness, clocks.
//!
//! This crate has never heard of CORBA. It adds to the standard library what
//! that lacks (gathered sends that never raise a signal, level-triggered
//! readiness, wake-ups), behind names that are the same on every platform.
#![deny(unsafe_code)]

// What few programs use is `#[inline]`, though none of it is short: they compile it,
// and other programs do not.

mod datagram;
mod deadline;
mod direct_syscall;
mod event_source;
mod exhaustion;
pub mod fork;
mod host;
mod interface;
#[cfg(feature = "libraries")]
pub mod library;
mod lock_file;
mod memory;
mod native_thread;
mod option_names;
mod platform_options;
mod process;
mod processors;
mod pthread;
mod read_options;
mod readiness;
mod real_time_error;
mod reservation;
mod reserving;
mod scheduling;
mod scheduling_class;
mod socket;
mod socket_options;
mod sockopt;
mod stamp;
mod stream;
mod tcp;
mod thread_limits;
mod threads;
mod unix;
mod usable_memory;
mod waker;

pub use datagram::{
    path_mtu, receive_at, receive_datagram, receive_from_group, send_datagram, send_to,
    send_to_group, shut_down_datagrams,
};
pub use deadline::Deadline;
pub use event_source::EventSource;
pub use exhaustion::is_exhausted;
pub use host::{effective_user, host_name, random_number};
pub use interface::NetworkInterface;
pub use lock_file::LockFile;
pub use memory::{prefault_heap, prefault_stack};
pub use native_thread::NativeThread;
pub use option_names::OptionError;
pub use process::is_process;
pub use processors::{bind_this_thread, processors_of_this_thread};
pub use readiness::{Interest, Poller, Ready, wait_for};
pub use real_time_error::RealTimeError;
pub use reservation::Reservation;
pub use scheduling_class::{Scheduling, SchedulingClass};
pub use socket::{own_address_towards, stop_listening};
pub use socket_options::SocketOptions;
pub use sockopt::ProcessCredentials;
pub use stamp::Stamp;
pub use stream::{receive, send, send_vectored, set_timeouts};
pub use tcp::{connect, listen};
pub use threads::{Thread, spawn, spawn_detached, try_on_thread};
pub use unix::{BoundUnix, UnixName, bind_unix, connect_unix, is_listening, peer_process};
pub use usable_memory::usable_memory;
pub use waker::Waker;
