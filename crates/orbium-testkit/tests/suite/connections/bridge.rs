// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls over an in-line bridge.

use std::net::{Shutdown, UdpSocket};
use std::time::Duration;

use orbium::cdr::ByteOrder;
use orbium::giop::{
    CancelRequest, MessageHeader, MessageKind, Profile, ReplyStatus, TaggedComponent, Version,
};
use orbium::{
    Bridge, Config, ExceptionKind, Interface, Orb, config::ServerStrategy, protocol::Channel,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, client, each_strategy, eventually, in_own_process,
    reach, reference, request, threads, within,
};

fn config(endpoint: &str) -> Config {
    Config {
        endpoints: vec![endpoint.parse().unwrap()],
        ..Config::default()
    }
}

fn bridge_to(served: &Served, endpoint: &str) -> Bridge {
    let inside = served.orb.channels().unwrap();
    Bridge::start(&config(endpoint), inside[0].clone()).unwrap()
}

/// Conformance: protocols - bridges
#[test]
fn calls_pass_between_protocols() {
    each_strategy(|strategy| {
        for (inside, outside) in [
            ("uiop://", "iiop://127.0.0.1:0"),
            ("iiop://127.0.0.1:0", "uiop://"),
            ("uiop://?messaging=giop-lite", "iiop://127.0.0.1:0"),
        ] {
            let served = Served::with(Config {
                strategy,
                ..config(inside)
            });
            let bridge = bridge_to(&served, outside);
            let ior = bridge.rewrite(served.target.as_object().ior());
            assert_eq!(ior.type_id, served.target.as_object().ior().type_id);
            let client = client();
            let target = reach(&client, &ior.to_string());
            let offered = target.as_object().protocols();
            let channel = offered[0].channel.as_ref().unwrap();
            assert_eq!(channel, &bridge.channels()[0]);
            within("calls over the bridge", move || {
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            (0..100).for_each(|v| assert_eq!(target.echo_long(v), Ok(v)));
                        });
                    }
                });
            });
            drop(client);
            drop(bridge);
            served.end();
        }
    });
}

/// Conformance: protocols - bridges
#[test]
fn a_key_leads_through_and_the_server_sees_the_bridge() {
    let served = Served::with(config("uiop://"));
    let bridge = bridge_to(&served, "iiop://127.0.0.1:0");
    served.state.on_act(|call, v| match call.peer() {
        Some(orbium::transport::Peer::Process { .. }) => Ok(v + 1),
        _ => Ok(0),
    });
    let client = client();
    let at = &bridge.channels()[0].address;
    let target = reach(&client, &format!("corbaloc:iiop:1.2@{at}/Target"));
    assert_eq!(target.act(41), Ok(42));
    served.end();
}

/// Conformance: protocols - bridges
#[test]
fn a_server_that_is_gone_is_transient_and_comes_back() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let port = served.port();
    let bridge = bridge_to(&served, "uiop://");
    let ior = bridge.rewrite(served.target.as_object().ior());
    let client = client();
    let target = reach(&client, &ior.to_string());
    assert_eq!(target.echo_long(1), Ok(1));
    served.end();
    // The old connection may still be noticed as lost, in order or not.
    eventually("the bridge says that the server is gone", || {
        let exception = target.echo_long(2).unwrap_err();
        exception.kind == ExceptionKind::Transient
    });
    let again = Served::with(config(&format!("iiop://127.0.0.1:{port}")));
    let plain = reach(
        &client,
        &bridge
            .rewrite(&reference(2, &[port], b"Target", &[]))
            .to_string(),
    );
    eventually("the bridge finds the server again", || {
        plain.echo_long(3) == Ok(3)
    });
    again.end();
}

/// Conformance: protocols - bridges
#[test]
fn components_of_the_server_are_kept_and_addresses_are_not() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let bridge = bridge_to(&served, "iiop://127.0.0.1:0");
    let kept = TaggedComponent {
        tag: 0x4321,
        data: vec![1, 2, 3],
    };
    let address = TaggedComponent::alternate_address("127.0.0.1", 1);
    let components = [kept.clone(), address];
    let ior = reference(1, &[served.port()], b"Target", &components);
    let rewritten = bridge.rewrite(&ior);
    let profiles: Vec<_> = rewritten.iiop_profiles().collect();
    let [profile] = &profiles[..] else {
        panic!("one profile, not {profiles:?}");
    };
    assert_eq!(profile.components, [kept]);
    assert_eq!(profile.version.minor, 1);
    let at = format!("{}:{}", profile.host, profile.port);
    assert_eq!(at, bridge.channels()[0].address);
    // Not ours: left alone.
    let elsewhere = reference(2, &[1], b"Target", &components);
    assert_eq!(bridge.rewrite(&elsewhere), elsewhere);
    assert!(Profile::parse(&elsewhere.profiles[0]).is_ok());
    served.end();
}

/// Who asks where an object is hears that nobody is there, or is told to ask the
/// object itself where a version of GIOP cannot say so.
///
/// Conformance: protocols - bridges
#[test]
fn locate_requests_beyond_a_bridge_without_a_server_are_answered() {
    let gone = Served::new(orbium::config::ServerStrategy::default());
    let port = gone.port();
    let bridge = bridge_to(&gone, "uiop://");
    gone.end();
    let client = client();
    for minor in 0..3 {
        let ior = bridge.rewrite(&reference(minor, &[port], b"Target", &[]));
        let target = reach(&client, &ior.to_string());
        let located = within("an answer", {
            let target = target.clone();
            move || target.as_object().locate()
        });
        match located {
            Ok(here) => assert!(here && minor < 2, "1.{minor}"),
            Err(exception) => {
                assert_eq!(exception.kind, ExceptionKind::Transient, "1.{minor}");
                assert_eq!(minor, 2);
            }
        }
        let exception = target.noop().unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::Transient, "1.{minor}");
    }
}

/// It kept a thread for ever.
///
/// Conformance: robustness - peers that send nothing, or half of a handshake, are cut off in every
/// strategy
#[test]
fn a_client_that_sends_nothing_is_cut_off() {
    let served = Served::with(config("uiop://"));
    let mut outside = config("iiop://127.0.0.1:0");
    outside.limits.initial_idle_time = Some(Duration::from_millis(300));
    let inside = served.orb.channels().unwrap();
    let bridge = Bridge::start(&outside, inside[0].clone()).unwrap();
    let port = bridge.channels()[0].address.rsplit_once(':').unwrap().1;
    Peer::connect(port.parse().unwrap()).expect_end();
    // One that has called may be silent then.
    let client = client();
    let ior = bridge.rewrite(served.target.as_object().ior());
    let target = reach(&client, &ior.to_string());
    assert_eq!(target.echo_long(1), Ok(1));
    drop((client, bridge));
    served.end();
}

/// A client that stayed connected while the server was gone was refused for ever.
///
/// Conformance: protocols - bridges
#[test]
fn a_client_that_stays_connected_finds_the_server_that_comes_back() {
    let gone = Served::new(ServerStrategy::default());
    let at = format!("iiop://127.0.0.1:{}", gone.port());
    let bridge = bridge_to(&gone, "iiop://127.0.0.1:0");
    gone.end();
    let port = bridge.channels()[0].address.rsplit_once(':').unwrap().1;
    let mut peer = Peer::connect(port.parse().unwrap());
    let mut call = || {
        peer.send(&request(RequestLine::new(1, "echo_long"), |w| {
            w.write_u32(3);
        }));
        peer.receive().reply().1
    };
    assert_eq!(call(), ReplyStatus::SystemException);
    let again = Served::with(config(&at));
    eventually("the bridge finds the server again", || {
        call() == ReplyStatus::NoException
    });
    again.end();
}

/// The first fragment of a call.
fn first_fragment(id: u32) -> Vec<u8> {
    let mut first = request(RequestLine::new(id, "echo_long"), |w| w.write_u32(3));
    first[6] |= 2;
    first
}

/// A request that was refused at its first fragment kept all later ones of its connection from the server for ever, if
/// it was cancelled in place of its last fragment.
#[test]
fn a_refused_request_without_its_last_fragment_harms_no_later_one() {
    let gone = Served::new(ServerStrategy::default());
    let at = format!("iiop://127.0.0.1:{}", gone.port());
    let bridge = bridge_to(&gone, "iiop://127.0.0.1:0");
    gone.end();
    let port = bridge.channels()[0].address.rsplit_once(':').unwrap().1;
    let mut peer = Peer::connect(port.parse().unwrap());
    for id in [1, 2] {
        peer.send(&first_fragment(id));
        assert_eq!(peer.receive().reply().1, ReplyStatus::SystemException);
    }
    peer.send(&CancelRequest { request_id: 1 }.message(Version::V1_2, ByteOrder::NATIVE));
    let again = Served::with(config(&at));
    let call = |peer: &mut Peer| {
        peer.send(&request(RequestLine::new(3, "echo_long"), |w| {
            w.write_u32(3);
        }));
        peer.receive().reply()
    };
    eventually("the bridge finds the server again", || {
        call(&mut peer).1 == ReplyStatus::NoException
    });
    // The server gets no fragment of a request of which it has not got the first.
    let mut last = MessageHeader::parse(first_fragment(2).first_chunk().unwrap()).unwrap();
    (last.kind, last.more_fragments, last.size) = (MessageKind::Fragment, false, 4);
    let id = 2_u32.to_ne_bytes();
    peer.send(&[&last.encode()[..], &id].concat());
    assert_eq!(call(&mut peer).1, ReplyStatus::NoException);
    again.end();
}

/// A single datagram with a first fragment, sent while the server was gone, kept the oneways of all clients from it.
#[test]
fn a_refused_fragment_in_a_datagram_harms_no_other_client() {
    let gone = Served::new(ServerStrategy::default());
    let at = format!("iiop://127.0.0.1:{}", gone.port());
    let bridge = bridge_to(&gone, "diop://127.0.0.1:0");
    gone.end();
    let address = &bridge.channels()[0].address;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&first_fragment(1), address).unwrap();
    let client = Orb::new(Config {
        client_protocols: Some("diop".parse().unwrap()),
        ..Config::default()
    })
    .unwrap();
    let target: Target = reach(&client, &format!("corbaloc:diop:1.2@{address}/Target"));
    target.post(1).unwrap();
    let again = Served::with(config(&at));
    eventually("a oneway arrives", || {
        target.post(2).unwrap();
        again.state.posted().contains(&2)
    });
    drop(bridge);
    again.end();
}

/// The socket was shut down for good at the end of the first connection to the server, which ends those that are
/// idle, and a thread spun; where the server could not be reached at once, nothing was relayed ever after.
///
/// Conformance: protocols - bridges
#[test]
fn an_endpoint_of_datagrams_outlives_connections_to_the_server() {
    let gone = Served::new(ServerStrategy::default());
    let at = format!("iiop://127.0.0.1:{}", gone.port());
    let bridge = bridge_to(&gone, "diop://127.0.0.1:0");
    let client = Orb::new(Config {
        client_protocols: Some("diop".parse().unwrap()),
        ..Config::default()
    })
    .unwrap();
    let reference = format!("corbaloc:diop:1.2@{}/Target", bridge.channels()[0].address);
    let target: Target = reach(&client, &reference);
    target.post(1).unwrap();
    eventually("the first oneway arrives", || gone.state.posted() == [1]);
    gone.end();
    // With and without a server there.
    target.post(2).unwrap();
    let again = Served::with(config(&at));
    eventually("a oneway arrives again", || {
        target.post(3).unwrap();
        again.state.posted().contains(&3)
    });
    drop(bridge);
    again.end();
}

/// A bridge to that server, over which a message may take so long.
fn bridge_within(server: &FakeServer, message_time: Duration) -> (Bridge, u16) {
    let mut outside = config("iiop://127.0.0.1:0");
    outside.limits.message_time = message_time;
    let at = format!("127.0.0.1:{}", server.port());
    let bridge = Bridge::start(&outside, Channel::giop("iiop", at)).unwrap();
    let (_, port) = bridge.channels()[0].address.rsplit_once(':').unwrap();
    let port = port.parse().unwrap();
    (bridge, port)
}

/// The bridge kept two threads and two connections of each client that had gone, for ever.
///
/// Conformance: protocols - bridges
#[test]
fn a_server_that_hangs_keeps_nothing_of_clients_that_are_gone() {
    in_own_process!(|| {
        let server = FakeServer::listen();
        let (bridge, port) = bridge_within(&server, Duration::from_millis(100));
        let before = threads();
        let mut peer = Peer::connect(port);
        peer.send(&request(RequestLine::new(1, "noop"), |_| {}));
        let mut hung = server.accept();
        hung.expect_request("noop");
        assert!(threads() > before);
        drop(peer);
        eventually("the threads of the client end", || threads() <= before);
        drop((bridge, hung));
    });
}

/// A client that sends nothing more may wait for what it has asked.
///
/// Conformance: protocols - bridges
#[test]
fn a_client_that_has_ended_its_requests_gets_their_replies() {
    let server = FakeServer::listen();
    let (bridge, port) = bridge_within(&server, Duration::from_secs(60));
    let mut peer = Peer::connect(port);
    for id in [1, 2] {
        peer.send(&request(RequestLine::new(id, "noop"), |_| {}));
    }
    peer.stream().shutdown(Shutdown::Write);
    let mut behind = server.accept();
    let requests = [1, 2].map(|_| behind.expect_request("noop"));
    behind.expect_end();
    for request in requests {
        behind.answer(&request, |_| {});
        assert_eq!(peer.receive().reply().0, request.id);
    }
    drop(behind);
    peer.expect_end();
    drop(bridge);
}
