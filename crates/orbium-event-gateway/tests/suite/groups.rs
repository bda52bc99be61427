// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels federated by an object group of MIOP, within this host.
#![cfg(target_os = "linux")]

use orbium::{Config, Interface, Orb, protocol::ProtocolPolicy};
use orbium_event::rtec::rtec_event_comm::PushConsumer;
use orbium_event_gateway::{End, Gateway, GatewayConfig, GatewayError, GroupConfig};
use orbium_testkit::eventually;

use crate::channels::{Site, await_connection, event, orb, quick};

/// A group that no other process uses most likely.
fn group(test: u8) -> String {
    let [.., high, low] = std::process::id().to_be_bytes();
    format!("corbaloc:miop:1.0@1.0-events-{test}/239.{high}.{low}.{test}:21{test:03}")
}

fn on_loopback() -> GatewayConfig {
    GatewayConfig {
        group: GroupConfig {
            interface: Some("lo".to_owned()),
            ..GroupConfig::default()
        },
        ..quick()
    }
}

/// Gateways of a channel to a group and from it.
fn both(own: &Orb, site: &Site, group: &End) -> [Gateway; 2] {
    let gateways = [(&site.end, group), (group, &site.end)].map(|(from, to)| {
        let gateway = Gateway::start(own, from, to, on_loopback()).unwrap();
        await_connection(&gateway);
        gateway
    });
    site.await_consumers(1);
    gateways
}

/// What else is in the group: an ORB that calls it.
fn caller(group: &str) -> (Orb, PushConsumer) {
    let mut config = Config::default();
    config.properties.set("multicast_interface", "lo").unwrap();
    config.client_protocols = Some("miop".parse::<ProtocolPolicy>().unwrap());
    let orb = Orb::new(config).unwrap();
    let object = orb.string_to_object(group).unwrap().unwrap();
    (orb, PushConsumer::from_object(object))
}

/// Conformance: events - gateways: a multicast group, both ways - by an object group of MIOP
#[test]
fn channels_in_an_object_group_have_each_others_events_once() {
    let (sites, own) = ([(); 3].map(|()| Site::new()), orb());
    let group: End = group(41).parse().unwrap();
    let gateways = [0, 1, 2].map(|it: usize| both(&own, &sites[it], &group));
    let consumers = [0, 1, 2].map(|it: usize| sites[it].consumer(16));
    // More than one packet.
    let mut large = event(16, 7, 1);
    large.data.payload = (0..=255).cycle().take(100_000).collect();
    sites[0].supplier().push(&[large.clone()]).unwrap();
    for (number, consumer) in consumers.iter().enumerate() {
        let received = consumer.next();
        assert_eq!(received.data, large.data);
        assert_eq!(received.header.creation_time, large.header.creation_time);
        // The time to live fell once, where the event was sent.
        let ttl = if number == 0 { 1 } else { 0 };
        assert_eq!(received.header.ttl, ttl);
    }
    // What comes back is left out before it reaches the channel.
    eventually("the own event", || gateways[0][1].statistics().own == 1);
    // What was forwarded is not forwarded again: it has no time to live left.
    sites[1]
        .supplier()
        .push(&[event(16, 8, 1), event(16, 9, 1)])
        .unwrap();
    for consumer in &consumers {
        assert_eq!(consumer.sources_until(9), [8, 9]);
    }
    eventually("the own events", || gateways[1][1].statistics().own == 2);
    eventually("the counts", || {
        let counts = gateways.each_ref().map(|[outward, inward]| {
            let (outward, inward) = (outward.statistics(), inward.statistics());
            (
                outward.forwarded,
                outward.expired,
                inward.forwarded,
                inward.missing,
            )
        });
        counts == [(1, 2, 2, 0), (2, 1, 1, 0), (0, 3, 3, 0)]
    });
    for site in &sites {
        assert_eq!(site.local.statistics().duplicates, 0);
    }
}

/// Conformance: events - gateways: a multicast group, both ways - events of any other sender of the group
#[test]
fn a_group_takes_events_of_senders_without_marks() {
    let (site, own) = (Site::new(), orb());
    let reference = group(42);
    let group = End::Group(reference.clone());
    let inward = Gateway::start(&own, &group, &site.end, on_loopback()).unwrap();
    await_connection(&inward);
    let consumer = site.consumer(16);
    let (_caller, pushed) = caller(&reference);
    pushed.push(&[event(16, 5, 1), event(16, 6, 0)]).unwrap();
    assert_eq!(consumer.sources_until(6), [5, 6]);
    // What is no request of the group harms nothing.
    pushed.disconnect_push_consumer().unwrap_err();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = reference.rsplit('/').next().unwrap();
    for garbage in [&b"MIOP"[..], b"x", &[0xff; 200]] {
        let _ = socket.send_to(garbage, at);
    }
    pushed.push(&[event(16, 7, 1)]).unwrap();
    assert_eq!(consumer.sources_until(7), [7]);
    eventually("the count", || inward.statistics().forwarded == 3);
}

/// Each counted its requests from 1 as the same sender, and receivers dropped those of the second
/// one as repeated.
#[test]
fn gateways_of_a_channel_to_one_group_are_all_heard() {
    let ([near, far], own) = ([(); 2].map(|()| Site::new()), orb());
    let group: End = group(44).parse().unwrap();
    let inward = Gateway::start(&own, &group, &far.end, on_loopback()).unwrap();
    await_connection(&inward);
    let (consumer, supplier) = (far.consumer(16), near.supplier());
    let outward = || {
        let gateway = Gateway::start(&own, &near.end, &group, on_loopback()).unwrap();
        await_connection(&gateway);
        near.await_consumers(1);
        gateway
    };
    let first = outward();
    for source in 1..=3 {
        supplier.push(&[event(16, source, 1)]).unwrap();
    }
    assert_eq!(consumer.sources_until(3), [1, 2, 3]);
    drop(first);
    let _second = outward();
    supplier.push(&[event(16, 4, 1)]).unwrap();
    assert_eq!(consumer.sources_until(4), [4]);
    assert_eq!(inward.statistics().missing, 0);
}

#[test]
fn references_that_are_no_group_are_refused() {
    let (site, own) = (Site::new(), orb());
    let group: End = group(43).parse().unwrap();
    let refused = Gateway::start(&own, &group, &group, quick());
    assert!(matches!(refused, Err(GatewayError::NoChannel)));
    for reference in [
        "corbaloc:miop:1.0@1.0-events/239.255.0.1:5000",
        "corbaloc:miop:nothing",
        "corbaloc::localhost:1/Channel",
    ] {
        let end = End::Group(reference.to_owned());
        for (from, to) in [(&site.end, &end), (&end, &site.end)] {
            let refused = Gateway::start(&own, from, to, quick());
            assert!(
                matches!(refused, Err(GatewayError::Group(_))),
                "{reference}"
            );
        }
    }
    let mut config = on_loopback();
    config.group.interface = Some("no such interface".to_owned());
    let refused = Gateway::start(&own, &group, &site.end, config);
    assert!(refused.is_err());
}
