// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transports: how to listen, and how to connect.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::{
    Acceptor, ByteStream, Datagrams, Deadline, Endpoint, EndpointError, ProtocolProperties,
};

/// A transport that carries a stream of octets in each direction.
///
/// An *address* is the text between `scheme://` and `?` in an endpoint, also contained in
/// references: `host:port`, the path of a socket, or any other form by which a client of this
/// transport locates a server. Addresses in references are untrusted.
pub trait StreamTransport: Send + Sync + fmt::Debug {
    /// The scheme of its endpoints, in lower case: `iiop`, `uiop`.
    fn scheme(&self) -> &str;

    /// Whether its data are protected from third parties, and the consequences for calls over other
    /// transports.
    fn protection(&self) -> Protection {
        Protection::None
    }

    /// Listens at an endpoint of its scheme. May look up a name.
    ///
    /// # Errors
    /// [`ListenError::Endpoint`] for an invalid address or parameter, [`ListenError::Io`] if
    /// listening fails.
    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError>;

    /// A connector for an address. Opens no connection and looks up no name yet.
    ///
    /// # Errors
    /// The address is not one of this transport.
    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError>;
}

/// Protection by a transport: whether it encrypts, and authenticates the peer to which it connects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// Neither encrypted nor authenticated.
    #[default]
    None,
    /// Encrypted and authenticated.
    Available,
    /// Encrypted and authenticated, and preferred: a reference that offers it is not called over an
    /// unprotected transport that leaves the host.
    Preferred,
    /// Encrypted and authenticated, and required: no unprotected transport that leaves the host
    /// is used at all.
    Required,
}

/// Opens connections to one address.
pub trait Connector: Send + Sync + fmt::Debug {
    /// Connects before the deadline. The result of a name look-up may be cached for the next
    /// connection.
    ///
    /// # Errors
    /// `ConnectionRefused`, `NotFound` for an address that does not exist, `TimedOut` at the
    /// deadline, `PermissionDenied` for a peer that is not trusted or does not trust this side, or
    /// the system's error.
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>>;
}

/// A transport that carries datagrams: each arrives whole or not at all, in any order, possibly
/// duplicated. It serves oneways.
pub trait DatagramTransport: Send + Sync + fmt::Debug {
    /// The scheme of its endpoints, in lower case: `diop`, `miop`.
    fn scheme(&self) -> &str;

    /// Receives at an endpoint of its scheme.
    ///
    /// # Errors
    /// As [`StreamTransport::listen`].
    fn bind(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Datagrams>, ListenError>;

    /// Sends to an address. A name may be looked up before the deadline.
    ///
    /// # Errors
    /// `InvalidInput` for an address that is not one of this transport, or the system's error.
    fn open(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        deadline: Deadline,
    ) -> io::Result<Box<dyn Datagrams>>;
}

/// Error of listening at an endpoint.
pub enum ListenError {
    /// The endpoint is written wrongly.
    Endpoint(EndpointError),
    /// The system's error.
    Io(io::Error),
}

impl fmt::Display for ListenError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ListenError {}

impl From<EndpointError> for ListenError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

impl From<io::Error> for ListenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A transport of either kind.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Carries streams.
    Stream(Arc<dyn StreamTransport>),
    /// Carries datagrams.
    Datagram(Arc<dyn DatagramTransport>),
}

impl Transport {
    /// A stream transport for registration.
    pub fn stream(transport: impl StreamTransport + 'static) -> Self {
        Self::Stream(Arc::new(transport))
    }

    /// A datagram transport for registration.
    pub fn datagram(transport: impl DatagramTransport + 'static) -> Self {
        Self::Datagram(Arc::new(transport))
    }

    /// The protection of the transport; none for datagrams.
    #[must_use]
    pub fn protection(&self) -> Protection {
        match self {
            Self::Stream(transport) => transport.protection(),
            Self::Datagram(_) => Protection::None,
        }
    }

    /// The scheme of its endpoints.
    #[must_use]
    pub fn scheme(&self) -> &str {
        match self {
            Self::Stream(transport) => transport.scheme(),
            Self::Datagram(transport) => transport.scheme(),
        }
    }
}
