// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels federated by datagrams, within this host.
#![cfg(target_os = "linux")]

use std::net::UdpSocket;

use orbium_event_gateway::{DatagramConfig, End, Gateway, GatewayConfig, GatewayError};
use orbium_testkit::eventually;

use crate::channels::{Site, await_connection, event, orb, quick};

/// A group that no other process uses most likely.
fn group(test: u8) -> End {
    let [.., high, low] = std::process::id().to_be_bytes();
    End::Datagrams(format!("239.{high}.{low}.{test}:20{test:03}"))
}

fn on_loopback(crc: bool) -> GatewayConfig {
    GatewayConfig {
        datagrams: DatagramConfig {
            crc,
            mtu: 200,
            interface: Some("lo".to_owned()),
            ..DatagramConfig::default()
        },
        ..quick()
    }
}

/// Conformance: events - gateways: a multicast group, both ways - by datagrams
#[test]
fn channels_that_share_a_group_have_each_others_events_once() {
    let (sites, own, group) = ([(); 2].map(|()| Site::new()), orb(), group(31));
    let mut gateways = Vec::new();
    for site in &sites {
        for (from, to) in [(&site.end, &group), (&group, &site.end)] {
            let gateway = Gateway::start(&own, from, to, on_loopback(true)).unwrap();
            await_connection(&gateway);
            gateways.push(gateway);
        }
        site.await_consumers(1);
    }
    let consumers = [0, 1].map(|number: usize| sites[number].consumer(16));
    let mut large = event(16, 7, 1);
    large.data.payload = (0..=255).cycle().take(3000).collect();
    sites[0].supplier().push(&[large.clone()]).unwrap();
    for consumer in &consumers {
        let received = consumer.next();
        assert_eq!(received.data, large.data);
        assert_eq!(received.header.creation_time, large.header.creation_time);
    }
    // Its own datagrams come back to the first channel, which drops the event.
    eventually("the duplicate", || {
        sites[0].local.statistics().duplicates == 1
    });
    sites[1].supplier().push(&[event(16, 8, 1)]).unwrap();
    for consumer in &consumers {
        assert_eq!(consumer.sources_until(8), [8]);
    }
}

/// Conformance: events - gateways: datagrams of foreign formats are dropped - by datagrams
#[test]
fn datagrams_that_are_no_events_harm_nothing() {
    let (site, own) = (Site::new(), orb());
    let port = {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let here = End::Datagrams(format!("127.0.0.1:{port}"));
    let inward = Gateway::start(&own, &here, &site.end, quick()).unwrap();
    await_connection(&inward);
    let consumer = site.consumer(16);
    let attacker = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut datagram = vec![1, b'A', b'B', b'C'];
    datagram.extend([0xff; 60]);
    for length in 0..datagram.len() {
        attacker
            .send_to(&datagram[..length], ("127.0.0.1", port))
            .unwrap();
    }
    // One fragment of a set of four billion events.
    let mut header = vec![1, b'A', b'B', b'C'];
    for word in [1u32, 8, 8, 0, 0, 1, 0] {
        header.extend(word.to_le_bytes());
    }
    header.extend([0xff; 8]);
    attacker.send_to(&header, ("127.0.0.1", port)).unwrap();
    let from = Site::new();
    let outward = Gateway::start(&own, &from.end, &here, quick()).unwrap();
    from.await_consumers(1);
    from.supplier().push(&[event(16, 9, 1)]).unwrap();
    assert_eq!(consumer.sources_until(9), [9]);
    eventually("the count", || outward.statistics().forwarded == 1);
}

#[test]
fn a_gateway_needs_a_channel_and_a_size() {
    let own = orb();
    let group = group(32);
    let refused = Gateway::start(&own, &group, &group, quick());
    assert!(matches!(refused, Err(GatewayError::NoChannel)));
    let site = Site::new();
    let mut config = quick();
    config.datagrams.mtu = 39;
    let refused = Gateway::start(&own, &site.end, &group, config);
    assert!(matches!(refused, Err(GatewayError::Mtu(39))));
}
