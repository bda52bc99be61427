// SPDX-License-Identifier: MIT OR Apache-2.0
//! The halves of protocols that an ORB has.

use std::fmt;
use std::sync::{Arc, LazyLock};

use orbium_giop::messaging::{self, Messaging, Stack};
#[cfg(target_os = "linux")]
use orbium_shm::ShmTransport;
use orbium_transport::{
    Acceptor, Connector, Endpoint, EndpointError, InProcess, ListenError, Multicast, Tcp,
    Transport, Udp, Unix,
};

use super::Channel;
use super::coded::{CodedAcceptor, CodedConnector};
use super::datagram::{DatagramAcceptor, DatagramConnector};
use super::packets::Giop;
use crate::{Config, OrbError};

/// The transports and messaging halves an ORB can use, by name. A plain value,
/// given to [`Config`] before the ORB is built.
#[derive(Clone, Debug)]
pub struct Protocols {
    transports: Vec<Transport>,
    messaging: Vec<Arc<dyn Messaging>>,
}

impl Default for Protocols {
    /// All transports but TLS, which needs to be told whom to trust, and the
    /// messaging halves of `orbium-giop`.
    fn default() -> Self {
        // The very same each time.
        static BUILT_IN: LazyLock<Protocols> = LazyLock::new(|| Protocols {
            transports: vec![
                Transport::stream(Tcp),
                Transport::stream(Unix),
                Transport::stream(InProcess),
                #[cfg(target_os = "linux")]
                Transport::stream(ShmTransport::default()),
                Transport::datagram(Udp),
                Transport::datagram(Multicast),
            ],
            messaging: messaging::builtin(),
        });
        BUILT_IN.clone()
    }
}

/// A name that no transport and no messaging half has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProtocol {
    name: String,
    known: String,
}

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no transport and no messaging `{}` here{}",
            self.name,
            only(&self.known)
        )
    }
}

impl std::error::Error for UnknownProtocol {}

/// The end of a sentence that says what is not there.
fn only(known: &str) -> String {
    match known {
        "" => String::new(),
        known => format!(", only {known}"),
    }
}

/// Why a protocol cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    NoTransport { scheme: String, known: String },
    NoMessaging { name: String, known: String },
    NeedsStream { name: String },
    Stack(messaging::StackError),
    Address(EndpointError),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTransport { scheme, known } => {
                write!(f, "there is no transport `{scheme}` here{}", only(known))
            }
            Self::NoMessaging { name, known } => {
                write!(f, "there is no messaging `{name}` here{}", only(known))
            }
            Self::NeedsStream { name } => write!(
                f,
                "messaging {name} needs a stream: datagrams get lost and overtake each other"
            ),
            Self::Stack(error) => error.fmt(f),
            Self::Address(error) => error.fmt(f),
        }
    }
}

impl Protocols {
    /// No protocol at all, but GIOP.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            transports: Vec::new(),
            messaging: Vec::new(),
        }
    }

    /// Adds a transport; it takes the place of one with the same scheme.
    pub fn register(&mut self, transport: Transport) {
        self.transports
            .retain(|known| known.scheme() != transport.scheme());
        self.transports.push(transport);
    }

    /// Adds a messaging half; it takes the place of one with the same name.
    pub fn register_messaging(&mut self, half: Arc<dyn Messaging>) {
        self.messaging.retain(|known| known.name() != half.name());
        self.messaging.push(half);
    }

    /// Adds all of the other's.
    pub fn add(&mut self, other: Self) {
        for transport in other.transports {
            self.register(transport);
        }
        for half in other.messaging {
            self.register_messaging(half);
        }
    }

    /// Those of these names alone: schemes of transports and names of messaging
    /// halves, as a configuration lists them.
    ///
    /// # Errors
    /// [`UnknownProtocol`]: a name that nothing has.
    pub fn only<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownProtocol> {
        let mut chosen = Self::none();
        for name in names {
            let mut halves = self.messaging.iter();
            if let Some(transport) = self.transport(name) {
                chosen.register(transport.clone());
            } else if let Some(half) = halves.find(|half| half.name() == name) {
                chosen.register_messaging(Arc::clone(half));
            } else {
                return Err(UnknownProtocol {
                    name: name.to_owned(),
                    known: self
                        .schemes()
                        .chain(self.messaging())
                        .collect::<Vec<_>>()
                        .join(", "),
                });
            }
        }
        Ok(chosen)
    }

    /// The transport of a scheme.
    #[must_use]
    pub fn transport(&self, scheme: &str) -> Option<&Transport> {
        let mut transports = self.transports.iter();
        transports.find(|transport| transport.scheme() == scheme)
    }

    /// The schemes of the transports, in the order they were registered.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.transports.iter().map(Transport::scheme)
    }

    /// The names of the messaging halves beside GIOP.
    pub fn messaging(&self) -> impl Iterator<Item = &str> {
        self.messaging.iter().map(|half| half.name())
    }

    fn get(&self, scheme: &str) -> Result<&Transport, Unusable> {
        self.transport(scheme).ok_or_else(|| Unusable::NoTransport {
            scheme: scheme.to_owned(),
            known: self.schemes().collect::<Vec<_>>().join(", "),
        })
    }

    /// The halves of those names on top of one another; `None` for GIOP alone.
    fn stack<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Option<Arc<dyn Messaging>>, Unusable> {
        let mut halves = Vec::new();
        for name in names {
            let half = self.messaging.iter().find(|half| half.name() == name);
            halves.push(Arc::clone(half.ok_or_else(|| Unusable::NoMessaging {
                name: name.to_owned(),
                known: self.messaging().collect::<Vec<_>>().join(", "),
            })?));
        }
        if halves.len() < 2 {
            return Ok(halves.pop());
        }
        let stack = Stack::new(halves).map_err(Unusable::Stack)?;
        Ok(Some(Arc::new(stack)))
    }

    /// Whether a channel carries oneways alone.
    pub(crate) fn is_datagram(&self, channel: &Channel) -> bool {
        matches!(
            self.transport(&channel.scheme),
            Some(Transport::Datagram(_))
        )
    }

    /// What makes connections to a channel.
    pub(crate) fn connector(
        &self,
        channel: &Channel,
        config: &Config,
    ) -> Result<Box<dyn Connector>, Unusable> {
        let names = channel.messaging.iter().map(String::as_str);
        let messaging = self.stack(names)?;
        let transport = match self.get(&channel.scheme)? {
            Transport::Stream(transport) => transport,
            Transport::Datagram(transport) => {
                return Ok(Box::new(DatagramConnector {
                    transport: Arc::clone(transport),
                    address: channel.address.clone(),
                    properties: config.properties,
                    messaging: over_datagrams(messaging)?,
                    limit: config.limits.message_size,
                }));
            }
        };
        let inner = transport
            .connector(&channel.address, &config.properties)
            .map_err(Unusable::Address)?;
        Ok(match messaging {
            None => inner,
            Some(messaging) => Box::new(CodedConnector {
                inner,
                messaging,
                limit: config.limits.message_size,
            }),
        })
    }

    /// Listens at an endpoint.
    pub(crate) fn listen(
        &self,
        endpoint: &Endpoint,
        config: &Config,
    ) -> Result<Box<dyn Acceptor>, OrbError> {
        let unusable =
            |error: Unusable| OrbError::Protocol(endpoint.to_string(), error.to_string());
        let messaging = self.stack(endpoint.messaging()).map_err(unusable)?;
        let failed = |error| match error {
            ListenError::Endpoint(error) => OrbError::Endpoint(error),
            ListenError::Io(error) => OrbError::Listen(endpoint.to_string(), error),
        };
        let limit = config.limits.message_size;
        let inner = match self.get(&endpoint.scheme).map_err(unusable)? {
            Transport::Stream(transport) => transport.listen(endpoint, &config.properties),
            Transport::Datagram(transport) => {
                let messaging = over_datagrams(messaging).map_err(unusable)?;
                let socket = transport.bind(endpoint, &config.properties);
                let socket = socket.map_err(failed)?;
                let acceptor = DatagramAcceptor::new(socket, &endpoint.scheme, messaging, limit);
                return Ok(Box::new(
                    acceptor.map_err(|error| failed(ListenError::Io(error)))?,
                ));
            }
        };
        let inner = inner.map_err(failed)?;
        Ok(match messaging {
            None => inner,
            Some(messaging) => Box::new(CodedAcceptor {
                inner,
                messaging,
                limit,
            }),
        })
    }
}

/// The messaging over a datagram transport, where nothing may depend on what was
/// sent before.
fn over_datagrams(messaging: Option<Arc<dyn Messaging>>) -> Result<Arc<dyn Messaging>, Unusable> {
    match messaging {
        None => Ok(Arc::new(Giop)),
        Some(messaging) if messaging.is_stateful() => Err(Unusable::NeedsStream {
            name: messaging.name().to_owned(),
        }),
        Some(messaging) => Ok(messaging),
    }
}

impl PartialEq for Protocols {
    /// Equal if they are the very same halves.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Transport, &Transport)| match (a, b) {
            (Transport::Stream(a), Transport::Stream(b)) => Arc::ptr_eq(a, b),
            (Transport::Datagram(a), Transport::Datagram(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let same_messaging = |(a, b): (&Arc<dyn Messaging>, &Arc<dyn Messaging>)| Arc::ptr_eq(a, b);
        self.transports.len() == other.transports.len()
            && self.transports.iter().zip(&other.transports).all(same)
            && self.messaging.len() == other.messaging.len()
            && self
                .messaging
                .iter()
                .zip(&other.messaging)
                .all(same_messaging)
    }
}

impl Eq for Protocols {}
