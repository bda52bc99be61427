// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams over TCP that differ from it in a few methods.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError, Peer,
    ProtocolProperties, StreamTransport, Tcp,
};

/// A stream around another one: methods that are not overridden are those of the inner stream.
///
/// Methods of [`ByteStream`] that are missing here keep their defaults. A forwarded `send_at_once`,
/// for example, would bypass an overridden `send`.
pub(crate) trait Around: fmt::Debug + Send + Sync {
    fn inner(&self) -> &dyn ByteStream;

    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        self.inner().receive(room)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.inner().send(octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.inner().send_vectored(pieces)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.inner().set_timeouts(receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.inner().set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.inner().shutdown(how);
    }

    fn source(&self) -> &dyn AsFd {
        self.inner().source()
    }

    fn counts_in_ticks(&self) -> bool {
        false
    }

    fn begun(&self) -> usize {
        0
    }
}

/// The stream of an [`Around`].
#[derive(Debug)]
pub(crate) struct Wrapped<A>(pub(crate) A);

impl<A: Around> ByteStream for Wrapped<A> {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        self.0.receive(room)
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
        self.0.inner().peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.0.source()
    }

    fn counts_in_ticks(&self) -> bool {
        self.0.counts_in_ticks()
    }

    fn begun(&self) -> usize {
        self.0.begun()
    }
}

type Wrap = dyn Fn(Box<dyn ByteStream>) -> Box<dyn ByteStream> + Send + Sync;

/// TCP of which the streams of clients are wrapped.
#[derive(Clone)]
pub(crate) struct WrappedClients(Arc<Wrap>);

impl WrappedClients {
    pub(crate) fn new(
        wrap: impl Fn(Box<dyn ByteStream>) -> Box<dyn ByteStream> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(wrap))
    }
}

impl fmt::Debug for WrappedClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WrappedClients")
    }
}

#[derive(Debug)]
struct WrappedConnector(Box<dyn Connector>, WrappedClients);

impl StreamTransport for WrappedClients {
    fn scheme(&self) -> &'static str {
        Tcp.scheme()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        Tcp.listen(endpoint, properties)
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let inner = Tcp.connector(address, properties)?;
        Ok(Box::new(WrappedConnector(inner, self.clone())))
    }
}

impl Connector for WrappedConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok((self.1.0)(self.0.connect(deadline)?))
    }
}
