// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls over IPv6.

use std::net::TcpListener;

use orbium::{Config, config::ServerStrategy};
use orbium_testkit::{Served, client, each_strategy, reach, skipped};

fn has_loopback() -> bool {
    let there = TcpListener::bind("[::1]:0").is_ok();
    if !there {
        skipped("calls over IPv6: this host has no IPv6 loopback");
    }
    there
}

fn served(strategy: ServerStrategy) -> Served {
    Served::with(Config {
        strategy,
        endpoints: vec!["iiop://[::1]:0".parse().unwrap()],
        ..Config::default()
    })
}

/// Conformance: TAO 48 - IPv6, port 0, wildcard endpoints, corbaloc
/// Conformance: complaint 21 - corners of IPv6
#[test]
fn a_call_over_ipv6_is_served() {
    if !has_loopback() {
        return;
    }
    each_strategy(|strategy| {
        let served = served(strategy);
        assert_eq!(served.orb.addresses().unwrap()[0].host, "::1");
        let (_client, target) = served.client();
        assert_eq!(target.echo_long(6), Ok(6));
        assert_eq!(target.echo_octets(&[6; 100_000]), Ok(vec![6; 100_000]));
        served.end();
    });
}

/// Conformance: TAO 48 - IPv6, port 0, wildcard endpoints, corbaloc
/// Conformance: complaint 21 - corners of IPv6
#[test]
fn an_ipv6_address_in_an_object_url_is_called() {
    if !has_loopback() {
        return;
    }
    let served = served(ServerStrategy::default());
    let client = client();
    let url = format!("corbaloc:iiop:1.2@[::1]:{}/Target", served.port());
    assert_eq!(reach(&client, &url).echo_long(6), Ok(6));
    served.end();
}
