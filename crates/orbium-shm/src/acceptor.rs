// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptor of shared memory connections.

use std::io;
use std::os::fd::AsFd;

use orbium_transport::{
    Acceptor, ByteStream, Endpoint, ListenError, ProtocolProperties, UnixAcceptor,
};

use crate::region::{Region, Way};
use crate::ring::Waiting;
use crate::{ShmByteStream, ShmOptions, hello};

/// Maximum number of disconnected clients skipped in one accept before it returns to its caller.
const GONE: usize = 64;

/// A listening socket that hands out shared memory.
#[derive(Debug)]
pub struct ShmAcceptor {
    socket: UnixAcceptor,
    options: ShmOptions,
}

impl ShmAcceptor {
    /// Listens at the path or name of an endpoint. Of its parameters only `mode` and `publish` are
    /// used here.
    ///
    /// # Errors
    /// As [`UnixAcceptor::listen`].
    pub fn listen(
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
        options: ShmOptions,
    ) -> Result<Self, ListenError> {
        Ok(Self {
            socket: UnixAcceptor::listen(endpoint, properties)?,
            options,
        })
    }

    /// Accepts a pending connection that its client has not closed.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept_shm(&self) -> io::Result<ShmByteStream> {
        for _ in 0..GONE {
            match self.accept_next() {
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                accepted => return accepted,
            }
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    fn accept_next(&self) -> io::Result<ShmByteStream> {
        // First, so that the client remains in the backlog while no memory or descriptor is
        // available.
        let (region, memory) = Region::create(self.options.ring)?;
        // The client may send before the mode of waiting is known here.
        region.control(Way::ToServer).reader.announce(Waiting::Away);
        let stream = self.socket.accept_unix()?;
        let peer = stream.peer();
        let socket = stream.into_socket();
        hello::greet(&socket, self.options.ring, &memory)?;
        let spin = self.options.spin;
        Ok(ShmByteStream::new(
            region,
            socket,
            Way::ToServer,
            spin,
            peer,
        ))
    }
}

impl Acceptor for ShmAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.accept_shm()?))
    }

    fn source(&self) -> &dyn AsFd {
        self.socket.source()
    }

    fn address(&self) -> &str {
        self.socket.address()
    }
}
