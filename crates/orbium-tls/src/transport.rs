// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport `ssliop`.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, HostPort, ListenError,
    Protection, ProtocolProperties, Stage, StreamTransport, TcpAcceptor, TcpConnector,
};
use rustls::pki_types::ServerName;

use crate::certificate::reload::{Reload, Shared};
use crate::handshake::Handshake;
use crate::{TlsConfig, TlsError, TlsFailure, TlsStream};

/// TLS over TCP: endpoints `ssliop://host:port`, with `publish=host:port` for the address for
/// clients if it differs, and the properties of TCP endpoints.
///
/// # Example
/// ```
/// use orbium_tls::{Tls, TlsConfig, TlsError};
///
/// let config = TlsConfig {
///     authorities: Some("/there/is/no/ca.pem".into()),
///     ..TlsConfig::default()
/// };
/// assert!(matches!(Tls::new(config), Err(TlsError::Unreadable { .. })));
/// ```
#[derive(Clone, Debug)]
pub struct Tls {
    shared: Arc<Shared>,
}

impl Tls {
    /// Reads the files. With a certificate it can listen, with trust anchors it can connect.
    ///
    /// # Errors
    /// The missing setting, or the error in a file.
    pub fn new(config: TlsConfig) -> Result<Self, TlsError> {
        let shared = Shared::new(config)?;
        Ok(Self { shared })
    }

    /// The handle for reading the files again.
    #[must_use]
    pub fn reload(&self) -> Reload {
        Reload(Arc::clone(&self.shared))
    }

    /// Listens at the `host:port` of an endpoint.
    ///
    /// # Errors
    /// As [`StreamTransport::listen`]; `InvalidInput` without a certificate.
    pub fn acceptor(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<TlsAcceptor, ListenError> {
        endpoint.check_parameters(&[&["publish"], ProtocolProperties::TCP_NAMES].concat())?;
        if self.shared.current().server.is_none() {
            let what = "listening for TLS needs a certificate and its key";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what).into());
        }
        Ok(TlsAcceptor {
            tcp: TcpAcceptor::listen(endpoint, properties)?,
            shared: Arc::clone(&self.shared),
        })
    }

    /// A connector for a host and port, which connects on demand.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn connector_to(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<TlsConnector, EndpointError> {
        let at: HostPort = address.parse()?;
        Ok(TlsConnector {
            host: at.host.clone(),
            tcp: TcpConnector::new(at, *properties),
            shared: Arc::clone(&self.shared),
        })
    }
}

impl StreamTransport for Tls {
    fn scheme(&self) -> &'static str {
        "ssliop"
    }

    fn protection(&self) -> Protection {
        let config = self.shared.config();
        if config.require {
            Protection::Required
        } else if config.authorities.is_some() {
            Protection::Preferred
        } else {
            // It could not connect.
            Protection::Available
        }
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        Ok(Box::new(self.acceptor(endpoint, properties)?))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(self.connector_to(address, properties)?))
    }
}

/// A listening socket for TLS connections.
#[derive(Debug)]
pub struct TlsAcceptor {
    tcp: TcpAcceptor,
    shared: Arc<Shared>,
}

impl TlsAcceptor {
    /// Accepts a pending connection. Its handshake has a time limit of
    /// [`TlsConfig::handshake_time`] from now.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept_tls(&self) -> io::Result<TlsStream> {
        let socket = self.tcp.accept_tcp()?;
        let material = self.shared.current();
        // Changed files cannot remove the role: see `Material::load`.
        let role = material.server.clone().ok_or(io::ErrorKind::InvalidInput)?;
        let handshake = Handshake::server(role).map_err(TlsFailure::into_error)?;
        let deadline = Deadline::after(Some(self.shared.config().handshake_time));
        TlsStream::new(socket, handshake, false, deadline, &self.shared)
    }
}

impl Acceptor for TlsAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.accept_tls()?))
    }

    fn source(&self) -> &dyn AsFd {
        self.tcp.source()
    }

    fn address(&self) -> &str {
        self.tcp.address()
    }
}

/// Opens TLS connections to one host and port.
#[derive(Debug)]
pub struct TlsConnector {
    host: String,
    tcp: TcpConnector,
    shared: Arc<Shared>,
}

impl TlsConnector {
    /// Connects and authenticates the peer before the deadline.
    ///
    /// # Errors
    /// As [`Connector::connect`]; a [`TlsFailure`] if the server is not trusted or refuses this
    /// client. A TLS 1.3 server verifies the client's certificate only later: then the first send
    /// or receive fails.
    pub fn connect_tls(&self, deadline: Deadline) -> io::Result<TlsStream> {
        let material = self.shared.current();
        let Some(role) = material.client.clone() else {
            return Err(TlsFailure::NoTrustAnchors.into_error());
        };
        let name = ServerName::try_from(self.host.clone());
        let name = name.map_err(|_| TlsFailure::BadName(self.host.clone()).into_error())?;
        let socket = self.tcp.connect_tcp(deadline)?;
        Stage::Secure.enter();
        let own = Deadline::after(Some(self.shared.config().handshake_time));
        let handshake = Handshake::client(role, name).map_err(TlsFailure::into_error)?;
        let stream = TlsStream::new(socket, handshake, true, deadline.earlier(own), &self.shared)?;
        match stream.complete() {
            Ok(()) => Ok(stream),
            Err(error) if TlsFailure::of(&error) == Some(&TlsFailure::TooSlow) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, TlsFailure::TooSlow))
            }
            Err(error) => Err(error),
        }
    }
}

impl Connector for TlsConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.connect_tls(deadline)?))
    }
}
