// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways over datagrams, as a stream in one direction.
//!
//! A client's stream sends each message as a datagram of its own, or in several packets. A server
//! has one stream for all its clients: messages that arrive whole are read from it like any other,
//! and invalid ones are discarded.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use orbium_giop::messaging::{Decoder, Messaging, Side};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{
    Acceptor, ByteStream, Connector, DatagramTransport, Datagrams, Deadline, Peer,
    ProtocolProperties,
};

use super::coded::CodedStream;
use super::packets::Packets;
use crate::peer_memory::Budget;

/// Octets of the largest datagram.
const MAX_DATAGRAM_LENGTH: usize = 1 << 16;

/// Number of consecutive datagrams without a complete message after which the receive returns: its
/// caller may have others to serve, or has to end.
const MAX_IN_VAIN: usize = 64;

/// A datagram socket as a byte stream of frames.
struct DatagramStream {
    socket: Arc<dyn Datagrams>,
    packets: Packets,
    receiving: Mutex<Receiving>,
    /// Receive only: there is no address to send to.
    serves: bool,
    /// Notifies the acceptor that a new stream is needed.
    end: Option<UnixStream>,
}

struct Receiving {
    /// Determines the length of frames.
    decoder: Box<dyn Decoder>,
    datagram: Vec<u8>,
    frame: Vec<u8>,
    at: usize,
}

impl fmt::Debug for DatagramStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatagramStream")
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

impl Drop for DatagramStream {
    fn drop(&mut self) {
        if let Some(end) = &mut self.end {
            // If this fails, the acceptor no longer exists.
            let _ = end.write(&[1]);
        }
    }
}

impl DatagramStream {
    fn lock(&self) -> MutexGuard<'_, Receiving> {
        self.receiving.lock()
    }

    /// Receives until a frame is complete; `WouldBlock` after many datagrams without one.
    fn fill(&self, receiving: &mut Receiving) -> io::Result<()> {
        receiving.frame.clear();
        receiving.at = 0;
        for _ in 0..MAX_IN_VAIN {
            let (len, peer) = self.socket.receive(&mut receiving.datagram)?;
            if len == 0 && peer == Peer::Unknown {
                // Shut down.
                return Ok(());
            }
            let datagram = &receiving.datagram[..len.min(MAX_DATAGRAM_LENGTH)];
            match self.packets.unpack(&peer, datagram, &mut receiving.frame) {
                Ok(()) => {}
                Err(error) => {
                    orbium_trace::log::debug!(target: "orbium::wire", %peer, %error, "not a packet");
                }
            }
            if receiving.frame.is_empty() {
                continue;
            }
            let whole = Some(receiving.frame.len());
            if receiving.decoder.frame_len(&receiving.frame) == Ok(whole) {
                return Ok(());
            }
            orbium_trace::log::debug!(target: "orbium::wire", %peer, "not a message");
            receiving.frame.clear();
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl ByteStream for DatagramStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        if !self.serves {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut receiving = self.lock();
        if receiving.at == receiving.frame.len() {
            self.fill(&mut receiving)?;
        }
        let left = &receiving.frame[receiving.at..];
        let count = left.len().min(room.len());
        room[..count].copy_from_slice(&left[..count]);
        receiving.at += count;
        Ok(count)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    /// Accepts one whole frame.
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.serves {
            self.packets.send(&*self.socket, pieces)?;
        }
        Ok(pieces.iter().map(|piece| piece.len()).sum())
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        _send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        match receive {
            Some(timeout) if self.serves => self.socket.set_timeout(timeout),
            _ => Ok(()),
        }
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        if how != Shutdown::Write {
            self.socket.shutdown();
        }
    }

    /// Any sender: there is no single peer.
    fn peer(&self) -> Peer {
        Peer::Unknown
    }

    fn source(&self) -> &dyn AsFd {
        self.socket.source()
    }

    fn has_many_peers(&self) -> bool {
        self.serves
    }

    fn sends_one_message(&self) -> bool {
        true
    }

    fn has_buffered(&self) -> bool {
        let receiving = self.lock();
        receiving.at < receiving.frame.len()
    }
}

/// Wraps a socket into a stream of GIOP messages.
fn wrap(
    stream: DatagramStream,
    messaging: &dyn Messaging,
    side: Side,
    (limit, budget): (usize, &Budget),
) -> Box<dyn ByteStream> {
    let stream = Box::new(stream);
    Box::new(CodedStream::new(stream, messaging, side, limit, budget))
}

fn receiving(messaging: &dyn Messaging, side: Side, limit: usize) -> Mutex<Receiving> {
    Mutex::new(Receiving {
        decoder: messaging.session(side, limit).decoder,
        datagram: match side {
            Side::Server => vec![0; MAX_DATAGRAM_LENGTH],
            Side::Client => Vec::new(),
        },
        frame: Vec::new(),
        at: 0,
    })
}

/// Opens sockets to an address.
#[derive(Debug)]
pub(super) struct DatagramConnector {
    pub transport: Arc<dyn DatagramTransport>,
    pub address: String,
    pub properties: ProtocolProperties,
    pub messaging: Arc<dyn Messaging>,
    pub limit: usize,
    pub budget: Budget,
}

impl Connector for DatagramConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let socket = self
            .transport
            .open(&self.address, &self.properties, deadline)?;
        let stream = DatagramStream {
            packets: Packets::of(
                self.transport.scheme(),
                self.limit,
                self.properties.multicast_copies,
            ),
            socket: Arc::from(socket),
            receiving: receiving(&*self.messaging, Side::Client, self.limit),
            serves: false,
            end: None,
        };
        Ok(wrap(
            stream,
            &*self.messaging,
            Side::Client,
            (self.limit, &self.budget),
        ))
    }
}

/// Returns one stream at a time, the only one that a socket without connections has.
#[derive(Debug)]
pub(super) struct DatagramAcceptor {
    socket: Arc<dyn Datagrams>,
    scheme: String,
    messaging: Arc<dyn Messaging>,
    limit: usize,
    budget: Budget,
    /// Readable while a stream is needed.
    wanted: UnixStream,
    end: UnixStream,
}

impl DatagramAcceptor {
    pub(super) fn new(
        socket: Box<dyn Datagrams>,
        scheme: &str,
        messaging: Arc<dyn Messaging>,
        (limit, budget): (usize, Budget),
    ) -> io::Result<Self> {
        let (wanted, mut end) = UnixStream::pair()?;
        wanted.set_nonblocking(true)?;
        end.set_nonblocking(true)?;
        end.write_all(&[1])?;
        Ok(Self {
            socket: Arc::from(socket),
            scheme: scheme.to_owned(),
            messaging,
            limit,
            budget,
            wanted,
            end,
        })
    }
}

impl Acceptor for DatagramAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let end = self.end.try_clone()?;
        (&self.wanted).read_exact(&mut [0])?;
        let stream = DatagramStream {
            socket: Arc::clone(&self.socket),
            packets: Packets::of(&self.scheme, self.limit, None),
            receiving: receiving(&*self.messaging, Side::Server, self.limit),
            serves: true,
            end: Some(end),
        };
        Ok(wrap(
            stream,
            &*self.messaging,
            Side::Server,
            (self.limit, &self.budget),
        ))
    }

    fn source(&self) -> &dyn AsFd {
        &self.wanted
    }

    fn address(&self) -> &str {
        self.socket.address()
    }
}

#[cfg(test)]
mod tests;
