// SPDX-License-Identifier: MIT OR Apache-2.0
//! From channels to what connects to them, from endpoints to what accepts there.

use std::fmt;
use std::sync::Arc;

use orbium_giop::messaging::{Messaging, Stack, StackError};
use orbium_transport::DatagramTransport;
use orbium_transport::{
    Acceptor, Connector, Endpoint, EndpointError, ListenError, Protection, Transport,
};

use super::coded::{CodedAcceptor, CodedConnector};
use super::datagram::{DatagramAcceptor, DatagramConnector};
use super::offer::is_within_host;
use super::packets::Giop;
use super::registry::{listed, only};
use super::{Channel, Protocols};
use crate::{Config, OrbError};

/// The halves on top of one another; `None` for GIOP alone.
type Halves = Option<Arc<dyn Messaging>>;

/// The feature of orbium that a transport or messaging half was left out with.
pub(super) fn missing_feature(name: &str) -> Option<&'static str> {
    let (feature, is_there) = match name {
        "shmiop" => ("shm", cfg!(feature = "shm")),
        "ssliop" => ("tls", cfg!(feature = "tls")),
        "ziop" => ("ziop", cfg!(feature = "ziop")),
        _ => return None,
    };
    (!is_there).then_some(feature)
}

/// Why a protocol cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    Feature {
        name: String,
        feature: &'static str,
    },
    /// There is no certificate, nor are there authorities.
    NoTls,
    NoTransport {
        scheme: String,
        known: String,
    },
    NoMessaging {
        name: String,
        known: String,
    },
    NeedsStream {
        name: String,
    },
    Stack(StackError),
    Address(EndpointError),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature { name, feature } => write!(
                f,
                "`{name}` is not in this program: it comes with orbium's feature `{feature}`"
            ),
            Self::NoTls => f.write_str(
                "`ssliop` needs tls.certificate and tls.key to be listened at, tls.authorities \
                 to be called over",
            ),
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

impl Unusable {
    fn missing(name: &str, feature: &'static str) -> Self {
        Self::Feature {
            name: name.to_owned(),
            feature,
        }
    }

    /// That there is no ORB, or bridge, for that at an endpoint.
    #[inline(never)]
    pub(crate) fn at(self, endpoint: impl fmt::Display) -> OrbError {
        match self {
            Self::Feature { feature, .. } => OrbError::Feature(endpoint.to_string(), feature),
            other => OrbError::Protocol(endpoint.to_string(), other.to_string()),
        }
    }
}

impl Protocols {
    fn get(&self, scheme: &str) -> Result<&Transport, Unusable> {
        if let Some(transport) = self.transport(scheme) {
            return Ok(transport);
        }
        Err(match missing_feature(scheme) {
            Some(feature) => Unusable::missing(scheme, feature),
            None if scheme == "ssliop" => Unusable::NoTls,
            None => Unusable::NoTransport {
                scheme: scheme.to_owned(),
                known: listed(&mut self.schemes(), ", "),
            },
        })
    }

    /// The halves of those names on top of one another.
    fn stack(&self, names: &mut dyn Iterator<Item = &str>) -> Result<Halves, Unusable> {
        let mut halves = Vec::new();
        for name in names {
            halves.push(match (self.half(name), missing_feature(name)) {
                (Some(half), _) => Arc::clone(half),
                (None, Some(feature)) => return Err(Unusable::missing(name, feature)),
                (None, None) => {
                    return Err(Unusable::NoMessaging {
                        name: name.to_owned(),
                        known: listed(&mut self.messaging(), ", "),
                    });
                }
            });
        }
        if halves.len() < 2 {
            return Ok(halves.pop());
        }
        let stack = Stack::new(halves).map_err(Unusable::Stack)?;
        Ok(Some(Arc::new(stack)))
    }

    /// Whether a channel carries oneways alone.
    #[inline(never)]
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
        let halves = self.stack(&mut channel.messaging.iter().map(String::as_str))?;
        match self.get(&channel.scheme)? {
            Transport::Stream(transport) => {
                let inner = transport.connector(&channel.address, &config.properties);
                let inner = inner.map_err(Unusable::Address)?;
                Ok(coded_connector(inner, halves, config))
            }
            Transport::Datagram(transport) => Ok(Box::new(DatagramConnector {
                transport: Arc::clone(transport),
                address: channel.address.clone(),
                properties: config.properties,
                messaging: over_datagrams(halves)?,
                limit: config.limits.message_size,
                budget: config.protocols.budget().clone(),
            })),
        }
    }

    /// Listens at an endpoint.
    pub(crate) fn listen(
        &self,
        endpoint: &Endpoint,
        config: &Config,
    ) -> Result<Box<dyn Acceptor>, OrbError> {
        let required = self.protection_wanted() == Protection::Required;
        let scheme = &endpoint.scheme;
        let protection = self.transport(scheme).map(Transport::protection);
        if required && protection == Some(Protection::None) && !is_within_host(scheme) {
            let why = "TLS is required (tls.require): listen at ssliop://HOST:PORT".to_owned();
            return Err(OrbError::Protocol(endpoint.to_string(), why));
        }
        let halves = self.stack(&mut endpoint.messaging());
        let halves = halves.map_err(|error| error.at(endpoint))?;
        match self
            .get(&endpoint.scheme)
            .map_err(|error| error.at(endpoint))?
        {
            Transport::Stream(transport) => {
                let inner = transport.listen(endpoint, &config.properties);
                let inner = inner.map_err(|error| cannot_listen(endpoint, error))?;
                Ok(coded_acceptor(inner, halves, config))
            }
            Transport::Datagram(transport) => {
                listen_for_datagrams(&**transport, endpoint, halves, config)
            }
        }
    }
}

#[cold]
#[inline(never)]
fn cannot_listen(endpoint: &Endpoint, error: ListenError) -> OrbError {
    match error {
        ListenError::Endpoint(error) => OrbError::Endpoint(error),
        ListenError::Io(error) => OrbError::Listen(endpoint.to_string(), error),
    }
}

fn coded_connector(
    inner: Box<dyn Connector>,
    halves: Halves,
    config: &Config,
) -> Box<dyn Connector> {
    match halves {
        None => inner,
        Some(messaging) => Box::new(CodedConnector {
            inner,
            messaging,
            limit: config.limits.message_size,
            budget: config.protocols.budget().clone(),
        }),
    }
}

fn coded_acceptor(inner: Box<dyn Acceptor>, halves: Halves, config: &Config) -> Box<dyn Acceptor> {
    match halves {
        None => inner,
        Some(messaging) => Box::new(CodedAcceptor {
            inner,
            messaging,
            limit: config.limits.message_size,
            budget: config.protocols.budget().clone(),
        }),
    }
}

fn listen_for_datagrams(
    transport: &dyn DatagramTransport,
    endpoint: &Endpoint,
    halves: Halves,
    config: &Config,
) -> Result<Box<dyn Acceptor>, OrbError> {
    let messaging = over_datagrams(halves).map_err(|error| error.at(endpoint))?;
    let socket = transport.bind(endpoint, &config.properties);
    let socket = socket.map_err(|error| cannot_listen(endpoint, error))?;
    let bounds = (
        config.limits.message_size,
        config.protocols.budget().clone(),
    );
    let acceptor = DatagramAcceptor::new(socket, &endpoint.scheme, messaging, bounds);
    Ok(Box::new(acceptor.map_err(|error| {
        cannot_listen(endpoint, ListenError::Io(error))
    })?))
}

/// The messaging over a datagram transport, where nothing may depend on what was
/// sent before.
fn over_datagrams(messaging: Halves) -> Result<Arc<dyn Messaging>, Unusable> {
    match messaging {
        None => Ok(Arc::new(Giop)),
        Some(messaging) if messaging.is_stateful() => Err(Unusable::NeedsStream {
            name: messaging.name().to_owned(),
        }),
        Some(messaging) => Ok(messaging),
    }
}
