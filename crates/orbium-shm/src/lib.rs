// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared memory as a transport: endpoints `shmiop:///run/x.shm`.
//!
//! The address is the name of a Unix socket: a path, or `@name` for one outside of the file system.
//! For each connection the server creates a memory segment with a ring of octets in each direction
//! and passes it through that socket, which then identifies the peer's process, and shows its end.
//! A send copies into one ring, a receive out of the other; a system call is made only to sleep,
//! and to wake a sleeping peer.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use orbium_shm::{ShmOptions, ShmTransport, Spin};
//!
//! // Where latency matters less than the processor.
//! let options = ShmOptions { spin: Spin::None, ..ShmOptions::default() };
//! let transport = ShmTransport::new(options);
//! # drop(transport);
//! # }
//! ```
//!
//! After a crash of either side at any instant the other gets an error or the end of the stream,
//! and no resources remain: the memory has no name, and is freed with the last process that maps
//! it.
//!
//! # Trust
//!
//! The peer may write anything anywhere in the shared memory at any time. So:
//!
//! * The memory cannot be truncated by the peer: its size is checked after it was sealed.
//! * It is only accessed by atomics, and each word is read once. Positions come from private
//!   cursors; the peer's are compared with them and may only move forward within the ring.
//!   Impossible values break the connection (`ConnectionAborted`).
//! * Bytes are copied out before they are examined.
//! * A wait ends regardless of the peer: spurious wake-ups are counted, and wake-ups by this
//!   process are repeated until the waiter has returned.
//!
//! A peer can do no more than through a socket: send invalid data, send nothing, read nothing,
//! disconnect.
//!
//! # Waiting for readiness
//!
//! [`source`](orbium_transport::ByteStream::source) is the socket. On a non-blocking stream it
//! becomes readable when there is something to receive and writable when there is room again; both
//! may be spurious. After a receive there may be more data that the socket does not show:
//! `has_buffered` must be called before waiting, as for any stream with a buffer.
//!
//! # Checking
//!
//! The cursors and the protocol of waiting run under a model checker, which explores every order of
//! events:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p orbium-shm --test loom --release
//! ```
//!
//! The ring and its copies run under Miri, over memory of the heap:
//!
//! ```text
//! cargo +nightly miri test -p orbium-shm --test suite ring::
//! ```
//!
//! Only on Linux; elsewhere this crate is empty.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod acceptor;
mod connector;
mod hello;
mod link;
mod octets;
mod options;
#[doc(hidden)]
pub mod ping_pong;
mod region;
#[doc(hidden)]
pub mod ring;
mod shared_memory;
mod spin;
mod stream;
mod sync;
mod transport;
mod waiting;
mod watcher;

pub use acceptor::ShmAcceptor;
pub use connector::ShmConnector;
pub use options::ShmOptions;
pub use spin::{BadSpin, Spin};
pub use stream::ShmByteStream;
pub use transport::ShmTransport;

/// Internals for tests and fuzzing.
#[doc(hidden)]
pub mod testing {
    pub use crate::hello::read_greeting;
    pub use crate::octets::SharedOctets;
}
