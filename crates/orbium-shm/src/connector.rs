// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connector of shared memory connections.

use std::io;

use orbium_transport::{
    ByteStream, Connector, Deadline, EndpointError, ProtocolProperties, UnixConnector,
};

use crate::region::{Region, Way};
use crate::{ShmByteStream, Spin, hello};

/// Opens connections to one acceptor of shared memory.
#[derive(Debug)]
pub struct ShmConnector {
    socket: UnixConnector,
    spin: Spin,
}

impl ShmConnector {
    /// For that path, or for the name after an `@`.
    ///
    /// # Errors
    /// The path or name is invalid for a socket.
    pub fn new(
        address: &str,
        properties: ProtocolProperties,
        spin: Spin,
    ) -> Result<Self, EndpointError> {
        let socket = UnixConnector::new(address, properties)?;
        Ok(Self { socket, spin })
    }

    /// Connects, and waits for the server to accept.
    ///
    /// # Errors
    /// As [`Connector::connect`]; `InvalidData` if the peer's greeting is malformed, or its memory
    /// differs from it.
    pub fn connect_shm(&self, deadline: Deadline) -> io::Result<ShmByteStream> {
        let stream = self.socket.connect_unix(deadline)?;
        let peer = stream.peer();
        let socket = stream.into_socket();
        let (ring, memory) = hello::receive_greeting(&socket, deadline)?;
        let region = Region::open(&memory, ring)?;
        Ok(ShmByteStream::new(
            region,
            socket,
            Way::ToClient,
            self.spin,
            peer,
        ))
    }
}

impl Connector for ShmConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.connect_shm(deadline)?))
    }
}
