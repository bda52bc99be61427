// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways over datagrams, to one object and to groups.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU16, Ordering};

use orbium::giop::codeset::{CodeSetContext, CodeSetId};
use orbium::giop::{MessageHeader, ResponseFlags, ServiceContext, service_context};
use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::{BidirectionalPolicy, ServerStrategy},
    protocol::ProtocolPolicy,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{PATIENCE, RequestLine, Served, each_strategy, eventually, reach, request};

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

/// Conformance: protocols - oneways over UDP
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

/// Conformance: protocols - oneways over UDP
#[test]
fn datagrams_that_are_no_message_are_left_out() {
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

/// Conformance: protocols - multicast groups
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
        // No receiver has joined that one.
        let other: Target = reach(&client, &format!("corbaloc:miop:1.0@1.0-lab-78/{at}"));
        other.post(9).unwrap();
        target.post(7).unwrap();
        for member in [first, second] {
            eventually("the next one", || member.state.posted() == [5, 6, 7]);
            member.end();
        }
    });
}

/// Conformance: protocols - multicast groups
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

/// The stream of the socket was the emptiest connection. To make room for another one it was ended, and with a thread per
/// connection its socket was shut down for good: no oneway arrived any more, and two threads spun.
#[test]
fn an_endpoint_of_datagrams_makes_no_room_for_connections() {
    each_strategy(|strategy| {
        let mut config = config(strategy, &["iiop://127.0.0.1:0", "diop://127.0.0.1:0"]);
        config.limits.connections = 1;
        let served = Served::with(config);
        let calling = client("iiop");
        assert_eq!(served.seen_by(&calling).echo_long(1), Ok(1));
        let posting = client("diop");
        served.seen_by(&posting).post(7).unwrap();
        eventually("the oneway arrives", || served.state.posted() == [7]);
        served.end();
    });
}

/// A client that sends its requests in fragments sent those of a large oneway as datagrams: they
/// met those of other clients, with the same request ids, and any that was lost took the rest with it.
#[test]
fn a_oneway_over_datagrams_is_sent_in_one_piece() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = server.local_addr().unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut config = config(ServerStrategy::default(), &[]);
    config.client_protocols = Some("diop".parse().unwrap());
    config.fragment_size = Some(1024);
    let client = Orb::new(config).unwrap();
    let target: Target = reach(&client, &format!("corbaloc:diop:1.2@{at}/Target"));
    target.pour(&[3; 10_000]).unwrap();
    let mut datagram = [0; 1 << 16];
    let (len, _) = server.recv_from(&mut datagram).unwrap();
    let header = MessageHeader::parse(datagram.first_chunk().unwrap()).unwrap();
    assert!(
        !header.more_fragments && len > 10_000,
        "{header:?}, {len} octets"
    );
}

#[test]
fn code_sets_hold_for_the_message_that_names_them() {
    code_sets_hold_for_one_message(BidirectionalPolicy::Normal);
}

/// The stream of the socket was taken for a connection that may carry the requests of both sides,
/// and so of one client: text of the next client was read with the code sets of the one before.
#[test]
fn code_sets_hold_for_one_message_where_connections_go_both_ways() {
    code_sets_hold_for_one_message(BidirectionalPolicy::Both);
}

fn code_sets_hold_for_one_message(bidirectional: BidirectionalPolicy) {
    let wide = CodeSetContext::new(CodeSetId(0x0501_0001), CodeSetId(0x0001_0109));
    let data = wide.encode();
    let context = ServiceContext {
        id: service_context::CODE_SETS,
        data: &data,
    };
    each_strategy(|strategy| {
        let served = Served::with(Config {
            bidirectional,
            ..config(strategy, &["diop://127.0.0.1:0"])
        });
        let at = served.orb.channels().unwrap()[0].address.clone();
        let send = |contexts: &[ServiceContext<'_>]| {
            let line = RequestLine {
                response: ResponseFlags::None,
                contexts,
                ..RequestLine::new(2, "echo_wstring")
            };
            let message = request(line, |w| w.write_octets(&[0, b'w']));
            let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
            stranger.send_to(&message, &at).unwrap();
        };
        send(&[context]);
        eventually("wide text is understood", || served.state.calls() == 1);
        // Of a sender without an announcement.
        send(&[]);
        let client = client("diop");
        served.seen_by(&client).post(1).unwrap();
        eventually("the next oneway", || served.state.posted() == [1]);
        assert_eq!(served.state.calls(), 2);
        served.end();
    });
}
