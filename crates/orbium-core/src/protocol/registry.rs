// SPDX-License-Identifier: MIT OR Apache-2.0
//! The halves of protocols that an ORB has.

use std::sync::Arc;

use orbium_transport::{Connector, EndpointError, ProtocolProperties, Tcp, Transport};

use super::Channel;

/// The transports an ORB can use, by scheme. A plain value, given to
/// [`Config`](crate::Config) before the ORB is built.
#[derive(Clone, Debug)]
pub struct Protocols {
    transports: Vec<Transport>,
}

impl Default for Protocols {
    /// What needs nothing beside this crate: TCP.
    fn default() -> Self {
        Self {
            transports: vec![Transport::stream(Tcp)],
        }
    }
}

impl Protocols {
    /// No protocol at all.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            transports: Vec::new(),
        }
    }

    /// Adds a transport; it takes the place of one with the same scheme.
    pub fn register(&mut self, transport: Transport) {
        self.transports
            .retain(|known| known.scheme() != transport.scheme());
        self.transports.push(transport);
    }

    /// The transport of a scheme.
    #[must_use]
    pub fn transport(&self, scheme: &str) -> Option<&Transport> {
        let mut transports = self.transports.iter();
        transports.find(|transport| transport.scheme() == scheme)
    }

    /// The schemes there are, in the order they were registered.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.transports.iter().map(Transport::scheme)
    }

    /// What makes connections to a channel.
    pub(crate) fn connector(
        &self,
        channel: &Channel,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, String> {
        let transport = self.transport(&channel.scheme).ok_or_else(|| {
            let known: Vec<_> = self.schemes().collect();
            format!("no such transport here, only {}", known.join(", "))
        })?;
        let made = match transport {
            Transport::Stream(transport) => transport.connector(&channel.address, properties),
            Transport::Datagram(_) => Err(EndpointError::UnknownScheme(channel.scheme.clone())),
        };
        made.map_err(|error| error.to_string())
    }

    /// Why a channel cannot be used, if it cannot.
    pub(crate) fn refusal(
        &self,
        channel: &Channel,
        properties: &ProtocolProperties,
    ) -> Option<String> {
        self.connector(channel, properties).err()
    }

    /// The same, with an error that says which there are.
    pub(crate) fn get(&self, scheme: &str) -> Result<&Transport, EndpointError> {
        self.transport(scheme)
            .ok_or_else(|| EndpointError::UnknownScheme(scheme.to_owned()))
    }
}

impl PartialEq for Protocols {
    /// Equal if they are the very same transports.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Transport, &Transport)| match (a, b) {
            (Transport::Stream(a), Transport::Stream(b)) => Arc::ptr_eq(a, b),
            (Transport::Datagram(a), Transport::Datagram(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        self.transports.len() == other.transports.len()
            && self.transports.iter().zip(&other.transports).all(same)
    }
}

impl Eq for Protocols {}
