// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels that are served, and peers of them.

use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Channel, ChannelConfig, Pattern, RemoteConsumer, RemoteSupplier, connect_consumer,
    connect_supplier, new_event,
};
use orbium_event_gateway::{End, Gateway, GatewayConfig};
use orbium_testkit::{PATIENCE, eventually};

/// An ORB with an endpoint of its own.
pub(crate) fn orb() -> Orb {
    orb_at("127.0.0.1:0")
}

fn orb_at(address: &str) -> Orb {
    let endpoint = format!("iiop://{address}");
    let builder = Orb::builder().endpoint(&endpoint).unwrap();
    let orb = builder.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

/// A channel with an ORB of its own, and one of its peers.
pub(crate) struct Site {
    pub(crate) server: Orb,
    pub(crate) peers: Orb,
    pub(crate) local: Channel,
    pub(crate) channel: EventChannel,
    pub(crate) end: End,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::at("127.0.0.1:0")
    }

    pub(crate) fn at(address: &str) -> Self {
        let (server, peers) = (orb_at(address), orb());
        let (host, _) = address.split_once(':').unwrap();
        let local = Channel::new(ChannelConfig::default());
        local.serve(&server, "EventService").unwrap();
        let port = server.addresses().unwrap()[0].port;
        let url = format!("corbaloc::{host}:{port}/EventService");
        Self {
            channel: peers.resolve(&url).unwrap(),
            server,
            peers,
            local,
            end: End::Channel(url),
        }
    }

    /// A consumer that reports type, source and payload.
    pub(crate) fn consumer(&self, r#type: i32) -> Consumer {
        let (send, events) = mpsc::channel();
        let on_events = move |set: &[Event]| {
            for event in set {
                let _ = send.send(event.clone());
            }
        };
        let pattern = Pattern::of(r#type, 0);
        let connected = connect_consumer(&self.peers, &self.channel, &pattern, on_events);
        Consumer {
            _connected: connected.unwrap(),
            events,
        }
    }

    pub(crate) fn supplier(&self) -> RemoteSupplier {
        connect_supplier(&self.channel, &[(0, 0)]).unwrap()
    }

    /// Waits until so many consumers are connected, gateways included.
    pub(crate) fn await_consumers(&self, count: usize) {
        eventually("the consumers", || {
            self.local.statistics().consumers.len() == count
        });
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.peers.shutdown(true);
        let _ = self.server.shutdown(true);
    }
}

pub(crate) struct Consumer {
    _connected: RemoteConsumer,
    events: Receiver<Event>,
}

impl Consumer {
    pub(crate) fn next(&self) -> Event {
        self.events.recv_timeout(PATIENCE).unwrap()
    }

    /// The sources of events up to that of the source, which is included.
    pub(crate) fn sources_until(&self, last: i32) -> Vec<i32> {
        let mut sources = Vec::new();
        while sources.last() != Some(&last) {
            sources.push(self.next().header.source);
        }
        sources
    }

    pub(crate) fn has_more(&self) -> bool {
        self.events.try_recv().is_ok()
    }
}

/// An address of the loopback that no other process uses most likely, and this test alone: a
/// server can be started there again.
pub(crate) fn own_address(test: u8) -> String {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    format!("127.{}.{middle}.{low}:20{test:03}", 100 + high % 100)
}

/// An event that so many gateways may forward.
pub(crate) fn event(r#type: i32, source: i32, ttl: i32) -> Event {
    let mut event = new_event(r#type, source);
    event.header.ttl = ttl;
    event.data.any_value = "text".into();
    event
}

/// A gateway that connects again soon.
pub(crate) fn quick() -> GatewayConfig {
    GatewayConfig {
        check_period: Duration::from_millis(50),
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(100),
        ..GatewayConfig::default()
    }
}

pub(crate) fn gateway(orb: &Orb, from: &Site, to: &Site, config: GatewayConfig) -> Gateway {
    let gateway = Gateway::start(orb, &from.end, &to.end, config).unwrap();
    await_connection(&gateway);
    gateway
}

pub(crate) fn await_connection(gateway: &Gateway) {
    eventually("the gateway is connected", || {
        gateway.statistics().is_connected
    });
}
