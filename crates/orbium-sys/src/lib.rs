// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operating system as an ORB needs it: sockets, readiness, clocks.
//!
//! This crate has no notion of CORBA. It supplements the standard library (gathered sends that
//! never raise a signal, level-triggered readiness, wake-ups), with the same interface on every
//! platform.
#![deny(unsafe_code)]

mod clock;
mod exclusive_file;
mod exhaustion;
pub mod fork;
mod host;
#[cfg(feature = "libraries")]
pub mod library;
mod lock_file;
mod memory;
mod process;
mod readiness;
mod socket;
mod thread;
mod whole_file;

pub use clock::deadline::Deadline;
pub use clock::stamp::Stamp;
pub use exclusive_file::ExclusiveFile;
pub use exhaustion::{descriptor_limit, is_exhausted};
pub use host::{effective_user, host_name, random_number};
pub use lock_file::LockFile;
pub use memory::prefault::{prefault_heap, prefault_stack};
pub use memory::usable_memory::usable_memory;
pub use process::is_process;
pub use readiness::event_source::EventSource;
pub use readiness::waker::Waker;
pub use readiness::{Interest, Poller, Ready, has_hung_up, wait_for};
pub use socket::any_family::{own_address_towards, stop_listening};
pub use socket::datagram::{
    path_mtu, receive_at, receive_datagram, receive_from_group, send_datagram, send_to,
    send_to_group, shut_down_datagrams,
};
pub use socket::interface::NetworkInterface;
pub use socket::option_names::OptionError;
pub use socket::socket_options::SocketOptions;
pub use socket::sockopt::ProcessCredentials;
pub use socket::stream::{receive, send, send_at_once, send_vectored, set_timeouts};
pub use socket::tcp::{bound_send_buffer, connect, listen, paces_within_host};
pub use socket::unix::{BoundUnix, UnixName, bind_unix, connect_unix, is_listening, peer_process};
pub use thread::native_thread::NativeThread;
pub use thread::processors::{bind_this_thread, processors_of_this_thread};
pub use thread::real_time_error::RealTimeError;
pub use thread::reservation::Reservation;
pub use thread::scheduling_class::{Scheduling, SchedulingClass};
pub use thread::spawning::{Thread, spawn, spawn_detached, try_on_thread};
pub use whole_file::{Replaced, replace_whole, write_secret, write_whole};
