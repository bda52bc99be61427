// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every transport offers.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;

/// Who is at the other end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An internet address.
    Internet(SocketAddr),
    /// The system does not say.
    Unknown,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internet(address) => address.fmt(f),
            Self::Unknown => f.write_str("unknown peer"),
        }
    }
}

/// A connected stream of octets. Shared: one thread may receive while another
/// sends.
pub trait ByteStream: Send + Sync + fmt::Debug {
    /// Receives what is there, up to the size of `room`; 0 is the end.
    ///
    /// # Errors
    /// The system's error; `WouldBlock` after a receive timeout, or at once on
    /// a non-blocking stream.
    fn receive(&self, room: &mut [u8]) -> io::Result<usize>;

    /// Sends from one buffer; returns the octets taken.
    ///
    /// # Errors
    /// The system's error; `WouldBlock` after a send timeout, or at once on a
    /// non-blocking stream.
    fn send(&self, octets: &[u8]) -> io::Result<usize>;

    /// Sends from several buffers at once; returns the octets taken.
    ///
    /// # Errors
    /// As [`ByteStream::send`].
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Bounds each blocking receive and each blocking send; `None` leaves that
    /// one as it is, `Some(None)` is for ever.
    ///
    /// # Errors
    /// The system's error.
    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()>;

    /// Makes the stream blocking (the default) or not.
    ///
    /// # Errors
    /// The system's error.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// Ends one direction or both; wakes whoever is blocked on it.
    fn shutdown(&self, how: Shutdown);

    /// Who is at the other end.
    fn peer(&self) -> Peer;

    /// What to wait on for readiness.
    fn source(&self) -> &dyn AsFd;
}

/// Where connections come in.
pub trait Acceptor: Send + Sync + fmt::Debug {
    /// Takes a connection that is waiting.
    ///
    /// # Errors
    /// `WouldBlock` if none is; the system's error otherwise.
    fn accept(&self) -> io::Result<Box<dyn ByteStream>>;

    /// What to wait on for readiness.
    fn source(&self) -> &dyn AsFd;
}
