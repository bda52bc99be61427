// SPDX-License-Identifier: MIT OR Apache-2.0
//! A transport that gets a bit wrong now and then.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orbium::transport::{
    Acceptor, ByteStream, Connector, Deadline, ListenError, Peer, StreamTransport,
};
use orbium::transport::{Endpoint, EndpointError, ProtocolProperties};

/// No bit is to be turned.
const NONE: usize = usize::MAX;

/// Which bit is turned next of what arrives, counted from now on.
#[derive(Clone, Debug)]
pub(crate) struct Noise(Arc<AtomicUsize>);

impl Noise {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(NONE)))
    }

    /// Turns that bit of what arrives.
    pub(crate) fn turn(&self, bit: usize) {
        self.0.store(bit, Ordering::SeqCst);
    }

    /// Whether the bit has arrived. If not it is not turned any more.
    pub(crate) fn has_turned(&self) -> bool {
        self.0.swap(NONE, Ordering::SeqCst) == NONE
    }

    fn pass(&self, octets: &mut [u8]) {
        let bits = octets.len() * 8;
        let taken = |bit: usize| match bit {
            NONE => None,
            bit if bit < bits => Some(NONE),
            bit => Some(bit - bits),
        };
        let order = Ordering::SeqCst;
        if let Ok(bit) = self.0.fetch_update(order, order, taken)
            && bit < bits
        {
            octets[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Another transport, whose streams are noisy.
#[derive(Debug)]
pub(crate) struct Noisy<T>(pub(crate) T, pub(crate) Noise);

impl<T: StreamTransport> StreamTransport for Noisy<T> {
    fn scheme(&self) -> &str {
        self.0.scheme()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let acceptor = self.0.listen(endpoint, properties)?;
        Ok(Box::new(NoisyAcceptor(acceptor, self.1.clone())))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let connector = self.0.connector(address, properties)?;
        Ok(Box::new(NoisyConnector(connector, self.1.clone())))
    }
}

#[derive(Debug)]
struct NoisyAcceptor(Box<dyn Acceptor>, Noise);

impl Acceptor for NoisyAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let stream = self.0.accept()?;
        Ok(Box::new(NoisyStream(stream, self.1.clone())))
    }

    fn source(&self) -> &dyn AsFd {
        self.0.source()
    }

    fn address(&self) -> &str {
        self.0.address()
    }
}

#[derive(Debug)]
struct NoisyConnector(Box<dyn Connector>, Noise);

impl Connector for NoisyConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let stream = self.0.connect(deadline)?;
        Ok(Box::new(NoisyStream(stream, self.1.clone())))
    }
}

#[derive(Debug)]
struct NoisyStream(Box<dyn ByteStream>, Noise);

impl ByteStream for NoisyStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.0.receive(room)?;
        self.1.pass(&mut room[..count]);
        Ok(count)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.0.send(octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_vectored(pieces)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.0.set_timeouts(receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.0.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.0.shutdown(how);
    }

    fn peer(&self) -> Peer {
        self.0.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.0.source()
    }

    fn has_buffered(&self) -> bool {
        self.0.has_buffered()
    }
}
