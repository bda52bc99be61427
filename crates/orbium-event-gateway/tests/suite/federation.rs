// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels federated by IIOP.

use std::time::Duration;

use orbium_event::Pattern;
use orbium_event_gateway::{Forwards, GatewayConfig};
use orbium_testkit::eventually;

use crate::channels::{Consumer, Site, event, gateway, orb, quick};
use crate::channels::{await_connection, own_address};

/// Conformance: events - gateways: what the other channel's consumers subscribe to is forwarded - by IIOP
#[test]
fn a_gateway_forwards_what_is_subscribed_to() {
    let (north, south, own) = (Site::new(), Site::new(), orb());
    let gateway = gateway(&own, &north, &south, quick());
    assert_eq!(north.local.statistics().consumers.len(), 0);
    let consumer = south.consumer(16);
    north.await_consumers(1);
    let supplier = north.supplier();
    supplier.push(&[event(17, 1, 1)]).unwrap();
    supplier.push(&[event(16, 2, 0)]).unwrap();
    supplier.push(&[event(16, 3, 1)]).unwrap();
    let event = consumer.next();
    let header = &event.header;
    assert_eq!((header.r#type, header.source, header.ttl), (16, 3, 0));
    assert_eq!(event.data.any_value.extract::<String>().unwrap(), "text");
    eventually("the counts", || gateway.statistics().forwarded == 1);
    let counts = gateway.statistics();
    assert_eq!((counts.expired, counts.lost, counts.connections), (1, 0, 1));
    // Gateways are not seen by observers.
    assert_eq!(north.local.sums().consumers.dependencies.len(), 1);
    assert_eq!(south.local.sums().suppliers.publications.len(), 0);
    drop(gateway);
    north.await_consumers(0);
    eventually("the supplier", || south.local.statistics().suppliers == 0);
}

/// It ended with a panic: no point of time is so late.
#[test]
fn a_gateway_that_is_never_to_check_forwards() {
    let (north, south, own) = (Site::new(), Site::new(), orb());
    let config = GatewayConfig {
        check_period: Duration::MAX,
        ..quick()
    };
    let _gateway = gateway(&own, &north, &south, config);
    let consumer = south.consumer(16);
    north.await_consumers(1);
    north.supplier().push(&[event(16, 1, 1)]).unwrap();
    assert_eq!(consumer.next().header.source, 1);
}

/// Conformance: events - gateways: a changed subscription loses no event - by IIOP
#[test]
fn a_subscription_changes_without_a_gap() {
    let (north, south, own) = (Site::new(), Site::new(), orb());
    let _gateway = gateway(&own, &north, &south, quick());
    let first = south.consumer(16);
    north.await_consumers(1);
    let supplier = north.supplier();
    let mut others = Vec::new();
    for source in 1..=200 {
        supplier.push(&[event(16, source, 1)]).unwrap();
        if source % 20 == 0 {
            others.push(south.consumer(16 + source));
        }
    }
    // Two subscriptions may overtake each other.
    let mut sources: Vec<i32> = (0..200).map(|_| first.next().header.source).collect();
    sources.sort_unstable();
    assert_eq!(sources, (1..=200).collect::<Vec<_>>());
}

/// Conformance: events - gateways: loops are excluded in a ring - by IIOP
#[test]
fn each_event_reaches_each_consumer_once_in_a_ring_of_three() {
    let own = orb();
    let sites = [(); 3].map(|()| Site::new());
    let mut gateways = Vec::new();
    for from in &sites {
        for to in sites.iter().filter(|it| !std::ptr::eq(*it, from)) {
            gateways.push(gateway(&own, from, to, quick()));
        }
    }
    let consumers = [0, 1, 2].map(|number: usize| sites[number].consumer(16));
    for site in &sites {
        // Its own one, and the gateways to the two others.
        site.await_consumers(3);
    }
    for (site, base) in sites.iter().zip([100, 200, 300]) {
        let supplier = site.supplier();
        for source in base..base + 20 {
            supplier.push(&[event(16, source, 8)]).unwrap();
        }
    }
    let all: Vec<i32> = [100, 200, 300]
        .iter()
        .flat_map(|it| *it..*it + 20)
        .collect();
    for consumer in &consumers {
        let mut sources: Vec<i32> = (0..60).map(|_| consumer.next().header.source).collect();
        sources.sort_unstable();
        assert_eq!(sources, all);
    }
    // Whatever still goes round is dropped where it was before.
    eventually("the last duplicates", || {
        let counts = sites.iter().map(|it| it.local.statistics().duplicates);
        counts.sum::<u64>() >= 60
    });
    assert!(!consumers.iter().any(Consumer::has_more));
}

/// Conformance: events - gateways: chains of channels, by patterns - by IIOP
#[test]
fn a_chain_forwards_by_patterns() {
    let (sites, own) = ([(); 3].map(|()| Site::new()), orb());
    let config = || {
        let mut config = quick();
        config.forwards = Forwards::Pattern(Pattern::of(16, 0));
        config
    };
    let _gateways = [
        gateway(&own, &sites[0], &sites[1], config()),
        gateway(&own, &sites[1], &sites[2], config()),
    ];
    let consumer = sites[2].consumer(16);
    sites[0].await_consumers(1);
    sites[1].await_consumers(1);
    let supplier = sites[0].supplier();
    supplier.push(&[event(16, 1, 1)]).unwrap();
    supplier.push(&[event(16, 2, 2)]).unwrap();
    assert_eq!(consumer.sources_until(2), [2]);
}

/// Conformance: events - gateways: a channel that dies harms no other one, and is found again - by IIOP
#[test]
fn a_channel_that_was_started_again_is_found() {
    let (own, address) = (orb(), own_address(1));
    let (north, south) = (Site::new(), Site::at(&address));
    let gateway = gateway(&own, &north, &south, quick());
    let here = north.consumer(16);
    let there = south.consumer(16);
    north.await_consumers(2);
    let supplier = north.supplier();
    supplier.push(&[event(16, 1, 1)]).unwrap();
    assert_eq!(there.sources_until(1), [1]);
    drop(there);
    drop(south);
    eventually("the gateway sees the end", || {
        !gateway.statistics().is_connected
    });
    for source in 2..100 {
        supplier.push(&[event(16, source, 1)]).unwrap();
    }
    assert_eq!(here.sources_until(99).len(), 99);
    let south = Site::at(&address);
    let there = south.consumer(16);
    await_connection(&gateway);
    north.await_consumers(2);
    supplier.push(&[event(16, 100, 1)]).unwrap();
    assert_eq!(there.sources_until(100), [100]);
    assert!(gateway.statistics().connections >= 2);
}

/// Conformance: events - gateways: a channel that is not there yet - by IIOP
#[test]
fn a_gateway_may_start_before_its_channels() {
    let (own, address) = (orb(), own_address(2));
    let south = Site::new();
    let north = orbium_event_gateway::End::Channel(format!("corbaloc::{address}/EventService"));
    let started = orbium_event_gateway::Gateway::start(&own, &north, &south.end, quick());
    let gateway = started.unwrap();
    let consumer = south.consumer(16);
    let north = Site::at(&address);
    north.await_consumers(1);
    north.supplier().push(&[event(16, 1, 1)]).unwrap();
    assert_eq!(consumer.sources_until(1), [1]);
    drop(gateway);
}
