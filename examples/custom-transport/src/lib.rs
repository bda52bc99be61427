// SPDX-License-Identifier: MIT OR Apache-2.0
//! A transport of one's own: GIOP through named pipes, on Linux.
//!
//! An endpoint is a directory, `pipe:///run/greeter`. A server that listens
//! there reads from a pipe in it, the door. A client makes two pipes beside it,
//! one for each direction, and says their name at the door. Who may write to the
//! directory may connect.
//!
//! The protocol properties `send_buffer` and `receive_buffer`, which endpoints
//! can have as parameters, give the octets that the pipes hold.

mod acceptor;
mod connector;
mod rendezvous;
mod stream;

use std::path::Path;

use orbium::transport::{Acceptor, Connector, ListenError, StreamTransport};
use orbium::transport::{Endpoint, EndpointError, ProtocolProperties};

use acceptor::PipeAcceptor;
use connector::PipeConnector;

/// Named pipes: endpoints `pipe:///path/of/a/directory`, which is made if it is
/// not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipes;

/// Protocol properties that endpoints can have for themselves.
const PROPERTIES: &[&str] = &["send_buffer", "receive_buffer"];

impl StreamTransport for Pipes {
    fn scheme(&self) -> &str {
        "pipe"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        endpoint.check_parameters(PROPERTIES)?;
        let properties = endpoint.properties(properties, PROPERTIES)?;
        let directory = directory(&endpoint.address)?;
        Ok(Box::new(PipeAcceptor::listen(directory, properties)?))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let directory = directory(address)?.to_owned();
        Ok(Box::new(PipeConnector::new(directory, *properties)))
    }
}

/// The directory that an address means. Addresses come from references.
fn directory(address: &str) -> Result<&Path, EndpointError> {
    if address.starts_with('/') && !address.contains('\0') {
        Ok(Path::new(address))
    } else {
        Err(EndpointError::BadPath(address.to_owned()))
    }
}

orbium::protocol::export_protocols!(|| {
    let mut protocols = orbium::protocol::Protocols::none();
    protocols.register(orbium::transport::Transport::stream(Pipes));
    protocols
});
