// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways over datagrams, to one object and to groups.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU16, Ordering};

use orbium::{Config, ExceptionKind, Interface, Orb, ProtocolPolicy, ServerStrategy};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, eventually, reach};

fn config(strategy: ServerStrategy, endpoints: &[&str]) -> Config {
    let mut config = Config {
        strategy,
        endpoints: endpoints.iter().map(|at| at.parse().unwrap()).collect(),
        ..Config::default()
    };
    config.properties.set("multicast_interface", "lo").unwrap();
    config
}

fn client(protocols: &str) -> Orb {
    let mut config = config(ServerStrategy::default(), &[]);
    config.client_protocols = Some(protocols.parse::<ProtocolPolicy>().unwrap());
    Orb::new(config).unwrap()
}

/// A group of this test alone, in the range that organisations use for
/// themselves.
fn group() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let test = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    format!(
        "239.255.{}.{}",
        process % 256,
        (process / 256 + u32::from(test) * 7) % 256
    )
}

#[test]
fn oneways_go_over_udp_and_twoways_cannot() {
    each_strategy(|strategy| {
        let served = Served::with(config(
            strategy,
            &["iiop://127.0.0.1:0", "diop://127.0.0.1:0"],
        ));
        let client = client("diop");
        let target = served.seen_by(&client);
        target.post(7).unwrap();
        eventually("the oneway arrives", || served.state.posted() == [7]);
        let exception = target.echo_long(1).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::InvPolicy);
        // Preferred for oneways, where a policy names both.
        let both = target.with_protocols("diop,iiop".parse().unwrap());
        both.post(8).unwrap();
        assert_eq!(both.echo_long(9), Ok(9));
        eventually("the oneway arrives", || served.state.posted() == [7, 8]);
        served.end();
    });
}

#[test]
fn what_is_no_message_is_left_out() {
    each_strategy(|strategy| {
        let served = Served::with(config(strategy, &["diop://127.0.0.1:0"]));
        let at = served.orb.channels().unwrap()[0].address.clone();
        let client = client("diop");
        let target = served.seen_by(&client);
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut request = b"GIOP\x01\x02\x01\x00\x10\x00\x00\x00".to_vec();
        request.extend([0xff; 16]);
        for (v, garbage) in (1..).zip([
            &b"x"[..],
            b"",
            b"GIOP\x01\x02\x01\x00\xff\xff\x00\x00",
            &request,
        ]) {
            stranger.send_to(garbage, &at).unwrap();
            target.post(v).unwrap();
            eventually("a oneway behind it", || {
                served.state.posted().len() == v as usize
            });
        }
        assert_eq!(served.state.posted(), [1, 2, 3, 4]);
        served.end();
    });
}

#[test]
fn a_group_has_many_members() {
    each_strategy(|strategy| {
        let group = group();
        let first = Served::with(config(strategy, &[&format!("miop://{group}:0")]));
        let at = first.orb.channels().unwrap()[0].address.clone();
        let second = Served::with(config(strategy, &[&format!("miop://{at}")]));
        let url = format!("corbaloc:miop:1.0@1.0-lab-77/{at}");
        for member in [&first, &second] {
            let group = reach(&member.orb, &url);
            member.orb.join_group(&group, &member.target).unwrap();
        }
        let client = client("miop");
        let target: Target = reach(&client, &url);
        target.post(5).unwrap();
        // Many datagrams.
        target.pour(&[3; 100_000]).unwrap();
        target.post(6).unwrap();
        for member in [&first, &second] {
            eventually("all members have all", || member.state.calls() == 3);
            assert_eq!(member.state.posted(), [5, 6]);
        }
        // Nobody has joined that one.
        let other: Target = reach(&client, &format!("corbaloc:miop:1.0@1.0-lab-78/{at}"));
        other.post(9).unwrap();
        target.post(7).unwrap();
        for member in [first, second] {
            eventually("the next one", || member.state.posted() == [5, 6, 7]);
            member.end();
        }
    });
}

#[test]
fn only_groups_are_joined_and_only_by_own_objects() {
    let (a, b) = (
        Served::new(ServerStrategy::default()),
        Served::new(ServerStrategy::default()),
    );
    let group = reach(&a.orb, "corbaloc:miop:1.0@1.0-lab-1/239.255.1.1:5000");
    let foreign = b.seen_by(&a.orb);
    for (group, member) in [(&a.target, &a.target), (&group, &foreign)] {
        let exception = a.orb.join_group(group, member).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::BadParam);
    }
    a.orb.join_group(&group, &a.target).unwrap();
    a.end();
    b.end();
}
