// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface of connected streams and of acceptors, for every transport.

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use crate::Deadline;

/// The peer of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peer {
    /// An internet address.
    Internet(SocketAddr),
    /// A process of this host, identified by the kernel.
    Process {
        /// Process id, if the system reports it.
        pid: Option<u32>,
        /// Effective user id when it connected.
        uid: u32,
        /// Effective group id when it connected.
        gid: u32,
    },
    /// An internet address, its owner authenticated.
    Authenticated {
        /// The address.
        address: SocketAddr,
        /// The certificates presented, each in DER, the peer's own first; checked against the trust
        /// policy before any data were received.
        certificates: Arc<[Vec<u8>]>,
        /// The common name or first alternative name of the certificate.
        name: Option<String>,
    },
    /// This very process.
    InProcess,
    /// The system does not provide it.
    Unknown,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internet(address) => address.fmt(f),
            Self::Process {
                pid: Some(pid),
                uid,
                ..
            } => write!(f, "process {pid} of user {uid}"),
            Self::Process { uid, .. } => write!(f, "a process of user {uid}"),
            Self::Authenticated {
                address,
                name: Some(name),
                ..
            } => write!(f, "{name} at {address}"),
            Self::Authenticated { address, .. } => address.fmt(f),
            Self::InProcess => f.write_str("this process"),
            Self::Unknown => f.write_str("unknown peer"),
        }
    }
}

/// A connected stream of octets. Shared: one thread may receive while another sends. A wrapper
/// forwards every method, including those with a default.
pub trait ByteStream: Send + Sync + fmt::Debug {
    /// Receives the available octets, up to the size of `room`; 0 is the end.
    ///
    /// # Errors
    /// The system's error; `WouldBlock` after a receive timeout, or at once on a non-blocking
    /// stream. With a timeout, a stream that decrypts or decodes may return it earlier, when only
    /// part of a record has arrived: the caller checks the remaining time.
    fn receive(&self, room: &mut [u8]) -> io::Result<usize>;

    /// Sends from one buffer; returns the number of octets accepted.
    ///
    /// After `WouldBlock` the next send must begin with the same octets: a
    /// stream that encrypts or encodes may have begun with them, as
    /// [`ByteStream::begun`] says.
    ///
    /// # Errors
    /// The system's error; `WouldBlock` after a send timeout, or at once on a
    /// non-blocking stream.
    fn send(&self, octets: &[u8]) -> io::Result<usize>;

    /// As [`ByteStream::send`], without blocking in any mode of the stream. A stream that does not
    /// support this sends nothing.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room, or it is not supported; the system's error.
    fn send_at_once(&self, octets: &[u8]) -> io::Result<usize> {
        let _ = octets;
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Sends from several buffers at once; returns the number of octets accepted.
    ///
    /// # Errors
    /// As [`ByteStream::send`].
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Bounds each blocking receive and each blocking send; `None` leaves that bound unchanged,
    /// `Some(None)` means no limit.
    ///
    /// # Errors
    /// The system's error.
    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()>;

    /// Sets the stream to blocking (the default) or non-blocking.
    ///
    /// # Errors
    /// The system's error.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// Ends one direction or both; wakes the threads blocked on it.
    fn shutdown(&self, how: Shutdown);

    /// The peer.
    fn peer(&self) -> Peer;

    /// The descriptor for readiness.
    fn source(&self) -> &dyn AsFd;

    /// The descriptor for room to send, if it differs from [`ByteStream::source`]: a stream may
    /// have one descriptor for each direction. `None` once nothing more can be sent.
    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    /// Whether data can be received that [`ByteStream::source`] does not show, since they were read
    /// from it already.
    fn has_buffered(&self) -> bool {
        false
    }

    /// Whether its timeouts are counted in ticks of the system, of up to 10 ms:
    /// a caller that needs them exact polls [`ByteStream::source`] instead.
    fn counts_in_ticks(&self) -> bool {
        false
    }

    /// Whether messages of several peers arrive over it: data of one message about its sender do
    /// not apply to the next.
    fn has_many_peers(&self) -> bool {
        false
    }

    /// Whether each send must contain exactly one message, as over datagrams. Over any other stream
    /// several may be sent together.
    fn sends_one_message(&self) -> bool {
        false
    }

    /// The deadline of the handshake while the stream is being opened; no other
    /// time limit applies to a silent peer in that phase.
    /// `None` after the handshake.
    fn opening_deadline(&self) -> Option<Deadline> {
        None
    }

    /// Whether an incomplete record has been received, of which no data can be returned
    /// yet. The caller bounds the time until it is complete.
    fn is_midway(&self) -> bool {
        false
    }

    /// The number of octets of a send that ended with `WouldBlock` which the stream has begun to
    /// encrypt or encode: they cannot be taken back, and the next send must begin with them. The peer
    /// may already have all of them but the last. Called by the sending thread.
    fn begun(&self) -> usize {
        0
    }

    /// Data of the layer above that created this stream, for that layer. Transports add
    /// none.
    fn extension(&self) -> Option<&dyn Any> {
        None
    }
}

/// Acceptor of connections.
pub trait Acceptor: Send + Sync + fmt::Debug {
    /// Accepts a pending connection. Never blocks: any further handshake takes place when the
    /// stream is first used.
    ///
    /// # Errors
    /// `WouldBlock` if none is pending; the system's error otherwise.
    fn accept(&self) -> io::Result<Box<dyn ByteStream>>;

    /// The descriptor for readiness.
    fn source(&self) -> &dyn AsFd;

    /// The address to publish, as interpreted by clients of the same transport, with the actual
    /// port.
    fn address(&self) -> &str;
}
