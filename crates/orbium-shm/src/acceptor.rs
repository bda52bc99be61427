// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where connections come in.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use orbium_transport::{
    Acceptor, ByteStream, Endpoint, ListenError, ProtocolProperties, UnixAcceptor,
};

use crate::region::{Region, Way};
use crate::ring::Waiting;
use crate::{ShmByteStream, ShmOptions, hello};

/// Memory for a connection, and its descriptor.
type Memory = (Region, OwnedFd);

/// A listening socket that hands out shared memory.
#[derive(Debug)]
pub struct ShmAcceptor {
    socket: UnixAcceptor,
    options: ShmOptions,
    /// For the next connection: made before it is accepted, so that it stays in
    /// the queue while there is no memory or descriptor to be had.
    prepared: Mutex<Option<Memory>>,
}

impl ShmAcceptor {
    /// Listens at the path or name of an endpoint. Of its parameters `mode` and
    /// `publish` count here.
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
            prepared: Mutex::default(),
        })
    }

    /// Takes a connection that is waiting.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept_shm(&self) -> io::Result<ShmByteStream> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = match prepared.take() {
            Some(memory) => memory,
            None => self.prepare()?,
        };
        let (region, descriptor) = memory;
        let stream = match self.socket.accept_unix() {
            Ok(stream) => stream,
            Err(error) => {
                *prepared = Some((region, descriptor));
                return Err(error);
            }
        };
        drop(prepared);
        let peer = stream.peer();
        let socket = stream.into_socket();
        hello::greet(&socket, self.options.ring, &descriptor)?;
        let spin = self.options.spin;
        Ok(ShmByteStream::new(
            region,
            socket,
            Way::ToServer,
            spin,
            peer,
        ))
    }

    fn prepare(&self) -> io::Result<Memory> {
        let (region, descriptor) = Region::create(self.options.ring)?;
        // The client may send before we are told whether to wait for readiness.
        region.control(Way::ToServer).reader.announce(Waiting::Away);
        Ok((region, descriptor))
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
