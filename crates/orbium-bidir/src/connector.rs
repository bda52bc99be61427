// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting and accepting of bidirectional connections.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;
use orbium_channel::{BidirectionalConnections, Channel, Protocols};
use orbium_giop::Headers;
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline};

use crate::hub::Hub;

impl BidirectionalConnections for Hub {
    fn accepting(
        self: Arc<Self>,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting> {
        self.listen(channels);
        let opened = self.acceptor()?;
        let both = |place: usize, inner| -> Box<dyn Acceptor> {
            let scheme = channels.get(place).map(|it| it.scheme.clone());
            Box::new(BidirectionalAcceptor {
                inner,
                hub: Arc::clone(&self),
                scheme: scheme.unwrap_or_default(),
            })
        };
        Ok(accepting.changed(&both, opened))
    }

    fn connector(
        self: Arc<Self>,
        inner: Box<dyn Connector>,
        channel: &Channel,
        protocols: &Protocols,
    ) -> Box<dyn Connector> {
        // Only GIOP itself has distinct ids for both sides.
        let is_giop = channel.messaging.is_empty()
            && protocols.headers(channel) == Headers::GIOP
            && !protocols.is_datagram(channel);
        if !is_giop {
            return inner;
        }
        Box::new(BidirectionalConnector {
            hub: self,
            inner,
            channel: channel.clone(),
        })
    }
}

/// Uses an existing connection that leads to a channel, or opens one that carries requests in both
/// directions.
#[derive(Debug)]
struct BidirectionalConnector {
    hub: Arc<Hub>,
    inner: Box<dyn Connector>,
    channel: Channel,
}

impl Connector for BidirectionalConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        if let Some(half) = self.hub.half_to(&self.channel) {
            return Ok(Box::new(half));
        }
        let stream = self.inner.connect(deadline)?;
        self.hub.adopt(stream, &self.channel)
    }
}

/// Accepts connections that become bidirectional once their clients have announced listen points.
#[derive(Debug)]
struct BidirectionalAcceptor {
    inner: Box<dyn Acceptor>,
    hub: Arc<Hub>,
    /// The transport.
    scheme: String,
}

impl Acceptor for BidirectionalAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let stream = self.inner.accept()?;
        if stream.has_many_peers() {
            // Datagrams: there is no connection that could be bidirectional.
            return Ok(stream);
        }
        Ok(Box::new(self.hub.accepted(stream, &self.scheme)))
    }

    fn source(&self) -> &dyn AsFd {
        self.inner.source()
    }

    fn address(&self) -> &str {
        self.inner.address()
    }
}
