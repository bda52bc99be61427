// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting and accepting where connections go both ways.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;
use orbium_channel::peer_memory::Budget;
use orbium_channel::{Channel, Protocols};
use orbium_giop::Headers;
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline};

use crate::hub::Hub;
use crate::policy::{BidirectionalHosts, BidirectionalPolicy};

impl Hub {
    /// The connections of an ORB with that policy, `None` with NORMAL. Clients are believed the
    /// addresses of their own and those of `hosts`; what they send is charged to the budget.
    #[must_use]
    pub fn of(
        policy: BidirectionalPolicy,
        hosts: &BidirectionalHosts,
        budget: &Budget,
    ) -> Option<Arc<Self>> {
        let hub = || Self::new(hosts.clone(), budget.clone());
        policy.is_both().then(hub)
    }

    /// What a lane accepts with that listens at those channels: what it was about to, and with
    /// a hub the connections that the ORB opens, if no other lane takes those.
    ///
    /// # Errors
    /// No descriptors left.
    pub fn accepting(
        this: Option<&Arc<Self>>,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting> {
        let Some(hub) = this else {
            return Ok(accepting);
        };
        hub.listen(channels);
        let opened = hub.acceptor()?;
        let both = |place: usize, inner| -> Box<dyn Acceptor> {
            let scheme = channels.get(place).map(|it| it.scheme.clone());
            Box::new(BidirectionalAcceptor {
                inner,
                hub: Arc::clone(hub),
                scheme: scheme.unwrap_or_default(),
            })
        };
        Ok(accepting.changed(&both, opened))
    }

    /// What connects to a channel over connections that go both ways, and otherwise as
    /// `inner` does. Only GIOP itself has distinct ids for both sides.
    #[must_use]
    pub fn connector(
        this: Option<&Arc<Self>>,
        inner: Box<dyn Connector>,
        channel: &Channel,
        protocols: &Protocols,
    ) -> Box<dyn Connector> {
        let is_giop = channel.messaging.is_empty()
            && protocols.headers(channel) == Headers::GIOP
            && !protocols.is_datagram(channel);
        let Some(hub) = this.filter(|_| is_giop) else {
            return inner;
        };
        Box::new(BidirectionalConnector {
            hub: Arc::clone(hub),
            inner,
            channel: channel.clone(),
        })
    }
}

/// Takes the connection that leads to a channel already, or opens one that is to carry
/// requests both ways.
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

/// Accepts connections that go both ways once their clients have announced where they listen.
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
        Ok(Box::new(self.hub.accepted(stream, &self.scheme)))
    }

    fn source(&self) -> &dyn AsFd {
        self.inner.source()
    }

    fn address(&self) -> &str {
        self.inner.address()
    }
}
