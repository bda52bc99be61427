// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels federated by datagrams, within this host.
#![cfg(target_os = "linux")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use orbium::{Call, ExceptionKind, SystemException};
use orbium_event::rtec::rtec_event_comm::EventHeader;
use orbium_event::rtec::rtec_udp_admin::{AddrServer, AddrServerServant, UdpAddr, UdpAddress};
use orbium_event_gateway::{Addresses, DatagramConfig, End, Gateway, GatewayConfig, GatewayError};
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

/// A table of two groups, by type or source, and of one group for the rest.
fn table(key: &str, first: u8) -> (String, [String; 3]) {
    let groups = [0, 1, 2].map(|it| match group(first + it) {
        End::Datagrams(address) => address,
        other => panic!("{other:?}"),
    });
    let [one, two, others] = &groups;
    (format!("{key}:16@{one},17@{two},*@{others}"), groups)
}

/// Conformance: events - gateways: an address for each event, by a table - by datagrams
#[test]
fn events_go_to_the_group_of_their_type_and_come_from_all() {
    let (sites, own) = ([(); 3].map(|()| Site::new()), orb());
    let (table, groups) = table("type", 33);
    let all = End::Datagrams(table);
    let outward = Gateway::start(&own, &sites[0].end, &all, on_loopback(false)).unwrap();
    await_connection(&outward);
    sites[0].await_consumers(1);
    let second = End::Datagrams(groups[1].clone());
    let of_all = Gateway::start(&own, &all, &sites[1].end, on_loopback(false)).unwrap();
    let of_second = Gateway::start(&own, &second, &sites[2].end, on_loopback(false)).unwrap();
    await_connection(&of_all);
    await_connection(&of_second);
    let consumers = [1, 2].map(|number: usize| sites[number].consumer(0));
    let supplier = sites[0].supplier();
    for (r#type, source) in [(16, 1), (17, 2), (18, 3), (17, 4)] {
        supplier.push(&[event(r#type, source, 1)]).unwrap();
    }
    // The order of datagrams is not kept.
    let mut sources = [(); 4].map(|()| consumers[0].next().header.source);
    sources.sort_unstable();
    assert_eq!(sources, [1, 2, 3, 4]);
    assert_eq!(consumers[1].sources_until(4), [2, 4]);
    eventually("the count", || outward.statistics().forwarded == 4);
}

/// Conformance: events - gateways: an address for each event, of an address server - by datagrams
#[test]
fn an_address_server_is_asked_for_the_group_of_each_event() {
    let (sites, own) = ([(); 2].map(|()| Site::new()), orb());
    let (text, groups) = table("source", 37);
    let known = text.split(",*").next().unwrap();
    let addresses: Addresses = known.parse().unwrap();
    let server: AddrServer = own.root_poa().activate(addresses).unwrap();
    let header = |source| event(16, source, 1).header;
    let found = server.get_addr(&header(17)).unwrap();
    let expected: SocketAddr = groups[1].parse().unwrap();
    let ip = Ipv4Addr::from_bits(found.ipaddr);
    assert_eq!(SocketAddr::from((ip, found.port)), expected);
    let none = server.get_address(&header(18)).unwrap_err();
    assert_eq!(none.kind, ExceptionKind::BadParam);

    let asked = End::Datagrams(format!("server:{}", own.object_to_string(&server)));
    let outward = Gateway::start(&own, &sites[0].end, &asked, on_loopback(false)).unwrap();
    await_connection(&outward);
    sites[0].await_consumers(1);
    let second = End::Datagrams(groups[1].clone());
    let inward = Gateway::start(&own, &second, &sites[1].end, on_loopback(false)).unwrap();
    await_connection(&inward);
    let consumer = sites[1].consumer(16);
    let supplier = sites[0].supplier();
    for source in [16, 18, 17] {
        supplier.push(&[event(16, source, 1)]).unwrap();
    }
    assert_eq!(consumer.next().header.source, 17);
    eventually("the counts", || {
        let counts = outward.statistics();
        (counts.forwarded, counts.lost) == (2, 1)
    });
    let refused = Gateway::start(&own, &asked, &sites[1].end, quick());
    assert!(matches!(refused, Err(GatewayError::AddressServer)));
}

/// A server of before addresses of IPv6.
struct Old;

impl AddrServerServant for Old {
    fn get_addr(&self, _: &Call<'_>, _: &EventHeader) -> Result<UdpAddr, SystemException> {
        let ipaddr = Ipv4Addr::LOCALHOST.to_bits();
        Ok(UdpAddr { ipaddr, port: 1 })
    }

    fn get_address(&self, _: &Call<'_>, _: &EventHeader) -> Result<UdpAddress, SystemException> {
        Err(ExceptionKind::BadOperation.into())
    }
}

#[test]
fn servers_and_tables_of_either_version_of_ip_are_asked() {
    let (site, own) = (Site::new(), orb());
    let old: AddrServer = own.root_poa().activate(Old).unwrap();
    let v6: Addresses = "type:*@[::1]:1".parse().unwrap();
    let v6: AddrServer = own.root_poa().activate(v6).unwrap();
    let refused = v6.get_addr(&event(16, 1, 1).header).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::DataConversion);
    for server in [old, v6] {
        let end = End::Datagrams(format!("server:{}", own.object_to_string(&server)));
        let gateway = Gateway::start(&own, &site.end, &end, quick()).unwrap();
        await_connection(&gateway);
        site.await_consumers(1);
        // Nothing may receive there: the first datagram is sent all the same.
        site.supplier().push(&[event(16, 1, 1)]).unwrap();
        eventually("the count", || gateway.statistics().forwarded == 1);
        drop(gateway);
        site.await_consumers(0);
    }
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
    let none = End::Datagrams("type:16@host".to_owned());
    for (from, to) in [(&site.end, &none), (&none, &site.end)] {
        let refused = Gateway::start(&own, from, to, quick());
        assert!(matches!(refused, Err(GatewayError::Address(_))));
    }
}
