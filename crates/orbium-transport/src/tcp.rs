// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP over IPv4 and IPv6.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;

use orbium_sys as sys;

use crate::listening::Listening;
use crate::resolve::{Resolved, publication, resolve};
use crate::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, HostPort, ListenError,
    ProtocolProperties, Stage, StreamTransport, TcpByteStream,
};

/// TCP: endpoints `iiop://host:port`, with `publish=host:port` for the address
/// that clients are to use if it differs, and the protocol properties of
/// [`ProtocolProperties::TCP_NAMES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl StreamTransport for Tcp {
    fn scheme(&self) -> &'static str {
        "iiop"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let mut known = ProtocolProperties::TCP_NAMES.to_vec();
        known.push("publish");
        endpoint.check_parameters(&known)?;
        Ok(Box::new(TcpAcceptor::listen(endpoint, properties)?))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(TcpConnector::new(address.parse()?, *properties)))
    }
}

/// A listening TCP socket.
#[derive(Debug)]
pub struct TcpAcceptor {
    listener: Listening<TcpListener>,
    properties: ProtocolProperties,
    address: String,
}

impl TcpAcceptor {
    /// Listens at the `host:port` of an endpoint of any scheme; its parameters among
    /// [`ProtocolProperties::TCP_NAMES`] override `properties`. A name is looked up once.
    ///
    /// # Errors
    /// No host and port, or an invalid property; an unknown name, an address in use or not of this
    /// host, or any other refusal of the kernel.
    pub fn listen(
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Self, ListenError> {
        let at: HostPort = endpoint.address.parse()?;
        let properties = endpoint.properties(properties, ProtocolProperties::TCP_NAMES)?;
        let publish = endpoint.parameter("publish").map(str::parse).transpose()?;
        let listener = if at.host.is_empty() {
            // One socket for both families if the host supports both.
            let v6 = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), at.port);
            let v4 = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), at.port);
            listen_at_first(&[v6, v4], &properties)?
        } else {
            listen_at_first(&resolve(&at)?, &properties)?
        };
        listener.set_nonblocking(true)?;
        let published = publication(&at, publish, listener.local_addr()?);
        Ok(Self {
            listener: Listening::new(listener),
            properties,
            address: format!("{published}"),
        })
    }

    /// Accepts a pending connection.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept_tcp(&self) -> io::Result<TcpByteStream> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(false)?;
        self.properties.apply_tcp(&stream)?;
        Ok(TcpByteStream::new(stream))
    }
}

fn listen_at_first(
    addresses: &[SocketAddr],
    properties: &ProtocolProperties,
) -> io::Result<TcpListener> {
    let Some((last, others)) = addresses.split_last() else {
        return Err(io::ErrorKind::AddrNotAvailable.into());
    };
    for address in others {
        if let Ok(listener) = sys::listen(*address, properties) {
            return Ok(listener);
        }
    }
    sys::listen(*last, properties)
}

impl Acceptor for TcpAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.accept_tcp()?))
    }

    fn source(&self) -> &dyn AsFd {
        &*self.listener
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// Opens TCP connections to one host and port.
#[derive(Debug)]
pub struct TcpConnector {
    properties: ProtocolProperties,
    resolved: Resolved,
}

impl TcpConnector {
    /// For that host and port, without a look-up.
    #[must_use]
    pub fn new(at: HostPort, properties: ProtocolProperties) -> Self {
        Self {
            properties,
            resolved: Resolved::new(at),
        }
    }

    /// Connects to the first address that answers before the deadline. Each has its share of the
    /// time, so that one that does not answer leaves the rest to the others.
    ///
    /// # Errors
    /// The error of the last address tried, or of the look-up.
    pub fn connect_tcp(&self, deadline: Deadline) -> io::Result<TcpByteStream> {
        let addresses = self.resolved.addresses(deadline)?;
        Stage::Connect.enter();
        match connect_to_first(&addresses, &self.properties, deadline) {
            Ok(stream)
                if self.properties.send_buffer.is_none() && sys::paces_within_host(&stream) =>
            {
                Ok(TcpByteStream::with_bounded_sends(stream))
            }
            Ok(stream) => Ok(TcpByteStream::new(stream)),
            // The name may resolve to another address by now.
            Err(error) => {
                self.resolved.forget();
                Err(error)
            }
        }
    }
}

fn connect_to_first(
    addresses: &[SocketAddr],
    properties: &ProtocolProperties,
    deadline: Deadline,
) -> io::Result<TcpStream> {
    let Some((last, others)) = addresses.split_last() else {
        return Err(io::ErrorKind::AddrNotAvailable.into());
    };
    for (place, address) in others.iter().enumerate() {
        let until = share(deadline, addresses.len() - place)?;
        if let Ok(stream) = sys::connect(*address, properties, until) {
            return Ok(stream);
        }
    }
    sys::connect(*last, properties, deadline)
}

/// The deadline for the first of several attempts.
fn share(deadline: Deadline, attempts: usize) -> io::Result<Deadline> {
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX).max(1);
    let left = deadline.remaining()?;
    Ok(Deadline::after(left.map(|left| left / attempts)))
}

impl Connector for TcpConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.connect_tcp(deadline)?))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use socket2::{Domain, Socket, Type};

    use super::*;

    /// A listener that accepts no further client, and the clients in its backlog.
    fn full_listener() -> (TcpListener, Vec<TcpStream>) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&any.into()).unwrap();
        socket.listen(0).unwrap();
        let listener = TcpListener::from(socket);
        let at = listener.local_addr().unwrap();
        let next = || TcpStream::connect_timeout(&at, Duration::from_millis(100)).ok();
        let waiting = std::iter::from_fn(next).collect();
        (listener, waiting)
    }

    /// Regression: the first address of a host with two had the whole time. If it did not answer,
    /// as behind a firewall, each call failed, though the second address would have answered.
    #[test]
    fn an_address_that_answers_nothing_leaves_time_for_the_next() {
        let (silent, _waiting) = full_listener();
        let open = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = [&silent, &open].map(|it| it.local_addr().unwrap());
        let deadline = Deadline::after(Some(Duration::from_secs(2)));
        let stream = connect_to_first(&addresses, &ProtocolProperties::default(), deadline);
        assert_eq!(stream.unwrap().peer_addr().unwrap(), addresses[1]);
    }
}
