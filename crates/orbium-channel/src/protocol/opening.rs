// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connectors of channels and acceptors of endpoints.

use std::sync::Arc;

use orbium_giop::Headers;
use orbium_giop::messaging::{Messaging, Stack};
use orbium_transport::DatagramTransport;
use orbium_transport::{
    Acceptor, Connector, Endpoint, ListenError, Protection, ProtocolProperties, Transport,
};

use super::coded::{CodedAcceptor, CodedConnector};
use super::datagram::{DatagramAcceptor, DatagramConnector};
use super::offer::is_within_host;
use super::packets::Giop;
use super::protocol_names::{listed, missing_feature};
use super::unusable::{OpenError, Unusable};
use super::{Channel, Protocols};
use crate::peer_memory::Budget;

/// A stack of protocols; `None` for GIOP alone.
type Layers = Option<Arc<dyn Messaging>>;

/// Options of new connections of any protocol.
#[derive(Clone, Copy, Debug)]
pub struct ChannelOptions {
    /// The properties of every socket.
    pub properties: ProtocolProperties,
    /// Octets of the largest message.
    pub message_size: usize,
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

    /// The stack of the protocols with those names.
    fn stack(&self, names: &mut dyn Iterator<Item = &str>) -> Result<Layers, Unusable> {
        let mut layers = Vec::new();
        for name in names {
            layers.push(match (self.layer(name), missing_feature(name)) {
                (Some(layer), _) => Arc::clone(layer),
                (None, Some(feature)) => return Err(Unusable::missing(name, feature)),
                (None, None) => {
                    return Err(Unusable::NoMessaging {
                        name: name.to_owned(),
                        known: listed(&mut self.messaging(), ", "),
                    });
                }
            });
        }
        if layers.len() < 2 {
            return Ok(layers.pop());
        }
        let stack = Stack::new(layers).map_err(Unusable::Stack)?;
        Ok(Some(Arc::new(stack)))
    }

    /// The header forms of requests and replies over connections of a channel; those other than
    /// GIOP's are read and written by the user: see [`Protocols::short_connector`].
    pub fn headers(&self, channel: &Channel) -> Headers {
        let mut names = channel.messaging.iter().map(String::as_str);
        if self.is_datagram(channel) {
            Headers::GIOP
        } else {
            self.headers_of(&mut names)
        }
    }

    /// The headers of messaging protocols: others than GIOP's only for a single protocol.
    fn headers_of(&self, names: &mut dyn Iterator<Item = &str>) -> Headers {
        let (Some(only), None) = (names.next(), names.next()) else {
            return Headers::GIOP;
        };
        self.layer(only)
            .map_or(Headers::GIOP, |layer| layer.headers())
    }

    /// The names of the messaging protocols of an endpoint as in references.
    pub(crate) fn messaging_at(&self, endpoint: &Endpoint) -> Vec<String> {
        let named = |name: &str| self.layer_called(name).map(|layer| layer.name().to_owned());
        let names = endpoint.messaging();
        names
            .map(|name| named(name).unwrap_or_else(|| name.to_owned()))
            .collect()
    }

    /// As [`Protocols::connector`], for a user that reads and writes the short headers of
    /// [`Protocols::headers`] itself.
    pub fn short_connector(
        &self,
        channel: &Channel,
        options: &ChannelOptions,
    ) -> Result<Box<dyn Connector>, Unusable> {
        if self.headers(channel) == Headers::GIOP {
            return self.connector(channel, options);
        }
        let plain = Channel {
            messaging: Vec::new(),
            ..channel.clone()
        };
        self.connector(&plain, options)
    }

    /// Whether a channel carries oneways only.
    pub fn is_datagram(&self, channel: &Channel) -> bool {
        matches!(
            self.transport(&channel.scheme),
            Some(Transport::Datagram(_))
        )
    }

    /// The connector to a channel.
    pub fn connector(
        &self,
        channel: &Channel,
        options: &ChannelOptions,
    ) -> Result<Box<dyn Connector>, Unusable> {
        let bounds = (options.message_size, self.budget().clone());
        let layers = self.stack(&mut channel.messaging.iter().map(String::as_str))?;
        match self.get(&channel.scheme)? {
            Transport::Stream(transport) => {
                let inner = transport.connector(&channel.address, &options.properties);
                let inner = inner.map_err(Unusable::Address)?;
                Ok(coded_connector(inner, layers, bounds))
            }
            Transport::Datagram(transport) => Ok(Box::new(DatagramConnector {
                transport: Arc::clone(transport),
                address: channel.address.clone(),
                properties: options.properties,
                messaging: over_datagrams(layers)?,
                limit: bounds.0,
                budget: bounds.1,
            })),
        }
    }

    /// Listens at an endpoint.
    pub fn listen(
        &self,
        endpoint: &Endpoint,
        options: &ChannelOptions,
    ) -> Result<Box<dyn Acceptor>, OpenError> {
        self.listen_with(endpoint, options, false)
    }

    /// Checks that an endpoint has the protection that is required.
    ///
    /// # Errors
    /// [`OpenError::Protocol`]: TLS is required, and the endpoint neither uses it nor is within the
    /// host.
    pub fn check_protection(&self, endpoint: &Endpoint) -> Result<(), OpenError> {
        let required = self.protection_wanted() == Protection::Required;
        let scheme = &endpoint.scheme;
        let protection = self.transport(scheme).map(Transport::protection);
        if required && protection == Some(Protection::None) && !is_within_host(scheme) {
            let why = "TLS is required (tls.require): listen at ssliop://HOST:PORT".to_owned();
            return Err(OpenError::Protocol(endpoint.to_string(), why));
        }
        Ok(())
    }

    /// As `listen`; with `short`, for a user that reads and writes short headers itself.
    pub(crate) fn listen_with(
        &self,
        endpoint: &Endpoint,
        options: &ChannelOptions,
        short: bool,
    ) -> Result<Box<dyn Acceptor>, OpenError> {
        self.check_protection(endpoint)?;
        let bounds = (options.message_size, self.budget().clone());
        let names = self.messaging_at(endpoint);
        let layers = self.stack(&mut names.iter().map(String::as_str));
        let layers = layers.map_err(|error| error.at(endpoint))?;
        match self
            .get(&endpoint.scheme)
            .map_err(|error| error.at(endpoint))?
        {
            Transport::Stream(transport) => {
                let inner = transport.listen(endpoint, &options.properties);
                let inner = inner.map_err(|error| cannot_listen(endpoint, error))?;
                let headers = self.headers_of(&mut names.iter().map(String::as_str));
                if short && headers != Headers::GIOP {
                    return Ok(inner);
                }
                Ok(coded_acceptor(inner, layers, bounds))
            }
            Transport::Datagram(transport) => {
                listen_for_datagrams(&**transport, endpoint, layers, &options.properties, bounds)
            }
        }
    }
}

#[cold]
fn cannot_listen(endpoint: &Endpoint, error: ListenError) -> OpenError {
    match error {
        ListenError::Endpoint(error) => OpenError::Endpoint(endpoint.to_string(), error),
        ListenError::Io(error) => OpenError::Listen(endpoint.to_string(), error),
    }
}

/// The message limit in octets, and the budget of connections.
type Bounds = (usize, Budget);

fn coded_connector(
    inner: Box<dyn Connector>,
    layers: Layers,
    (limit, budget): Bounds,
) -> Box<dyn Connector> {
    match layers {
        None => inner,
        Some(messaging) => Box::new(CodedConnector {
            inner,
            messaging,
            limit,
            budget,
        }),
    }
}

fn coded_acceptor(
    inner: Box<dyn Acceptor>,
    layers: Layers,
    (limit, budget): Bounds,
) -> Box<dyn Acceptor> {
    match layers {
        None => inner,
        Some(messaging) => Box::new(CodedAcceptor {
            inner,
            messaging,
            limit,
            budget,
        }),
    }
}

fn listen_for_datagrams(
    transport: &dyn DatagramTransport,
    endpoint: &Endpoint,
    layers: Layers,
    properties: &ProtocolProperties,
    bounds: Bounds,
) -> Result<Box<dyn Acceptor>, OpenError> {
    let messaging = over_datagrams(layers).map_err(|error| error.at(endpoint))?;
    let socket = transport.bind(endpoint, properties);
    let socket = socket.map_err(|error| cannot_listen(endpoint, error))?;
    let acceptor = DatagramAcceptor::new(socket, &endpoint.scheme, messaging, bounds);
    Ok(Box::new(acceptor.map_err(|error| {
        cannot_listen(endpoint, ListenError::Io(error))
    })?))
}

/// The messaging over a datagram transport, which must not depend on previous messages.
fn over_datagrams(messaging: Layers) -> Result<Arc<dyn Messaging>, Unusable> {
    match messaging {
        None => Ok(Arc::new(Giop)),
        Some(messaging) if messaging.is_stateful() => Err(Unusable::NeedsStream {
            name: messaging.name().to_owned(),
        }),
        Some(messaging) => Ok(messaging),
    }
}
