// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listen points that clients announce, and the protection of other clients against false
//! ones. The clients are scripted: each would get the calls that are for others.

use orbium::giop::{ServiceContext, service_context};
use orbium::{
    Config, ExceptionKind, Orb,
    config::{BidirectionalHosts, ServerStrategy},
};
use orbium_bidir::ListenPoint;
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, dead_port, reach, reference, request, within};

use crate::common::both;

pub(crate) fn point(host: &str, port: u16) -> ListenPoint {
    let host = host.to_owned();
    ListenPoint { host, port }
}

/// A request with that data for listen points.
pub(crate) fn announcing(id: u32, data: &[u8]) -> Vec<u8> {
    let id_of_context = service_context::BI_DIR_IIOP;
    let contexts = [ServiceContext {
        id: id_of_context,
        data,
    }];
    let line = RequestLine {
        contexts: &contexts,
        ..RequestLine::new(id, "noop")
    };
    request(line, |_| {})
}

/// Announces points with a call, which is answered as any other.
fn announce(peer: &mut Peer, id: u32, points: &[ListenPoint]) {
    peer.send(&announcing(id, &ListenPoint::encode(points).unwrap()));
    assert_eq!(peer.receive().reply().0, id);
}

/// A client of the server with its listen points.
fn client_at(server: &Served, points: &[ListenPoint]) -> Peer {
    let mut peer = Peer::connect(server.port());
    announce(&mut peer, 2, points);
    peer
}

/// An object at a port of the loopback, as an ORB sees it.
pub(crate) fn object_at(orb: &Orb, port: u16) -> Target {
    reach(orb, &reference(2, &[port], b"Target", &[]).to_string())
}

/// An ORB at another address of the loopback than that of the scripted clients. It serves two
/// requests of a connection at once.
fn other_host() -> Served {
    Served::with(Config {
        endpoints: vec!["iiop://127.0.0.2:0".parse().unwrap()],
        strategy: ServerStrategy::WorkerPool {
            workers: 2,
            queue: 16,
        },
        ..both()
    })
}

/// Conformance: connections - bidirectional GIOP: a client is believed its own address, and
/// those that the configuration names
#[test]
fn a_client_gets_no_calls_for_another_host() {
    let listed = BidirectionalHosts::Listed(vec!["127.0.0.2".into()]);
    for (hosts, is_believed) in [
        (BidirectionalHosts::Own, false),
        (listed, true),
        (BidirectionalHosts::Any, true),
    ] {
        let other = other_host();
        let server = Served::with(Config {
            bidirectional_hosts: hosts,
            ..both()
        });
        let mut peer = client_at(&server, &[point("127.0.0.2", other.port())]);
        let target = other.seen_by(&server.orb);
        let call = std::thread::spawn(move || target.echo_long(7));
        if is_believed {
            let request = peer.expect_request("echo_long");
            peer.answer(&request, |writer| writer.write_u32(8));
        }
        let result = within("a call", move || call.join().unwrap());
        assert_eq!(result, Ok(if is_believed { 8 } else { 7 }));
        assert_eq!(other.state.calls(), u64::from(!is_believed));
        drop(peer);
        server.end();
        other.end();
    }
}

/// The calling side needs a second connection while the first is in use.
///
/// Conformance: connections - bidirectional GIOP: connections that were opened to an address go
/// before those of clients that claim it
#[test]
fn a_client_does_not_take_over_an_address_that_was_connected_to() {
    let other = other_host();
    let server = Served::with(Config {
        bidirectional_hosts: BidirectionalHosts::Any,
        ..both()
    });
    let target = other.seen_by(&server.orb);
    let first = target.clone();
    within("a call", move || first.noop()).unwrap();
    let peer = client_at(&server, &[point("127.0.0.2", other.port())]);
    let waiting = target.clone();
    let waiting = std::thread::spawn(move || waiting.gate());
    assert_eq!(within("another call", move || target.echo_long(7)), Ok(7));
    other.state.gate.open();
    let opened = within("the first call", move || waiting.join().unwrap());
    assert_eq!(opened, Ok(()));
    drop(peer);
    server.end();
    other.end();
}

/// Conformance: connections - bidirectional GIOP: as many listen points of a connection as are
/// bounded, and none that is malformed
#[test]
fn absurd_listen_points_do_no_harm() {
    let server = Served::with(both());
    let mut peer = Peer::connect(server.port());
    let long = ListenPoint::encode(&[point(&"a".repeat(100_000), 7)]).unwrap();
    let odd = [
        "",
        "?!",
        "uiop://",
        "uiop:///",
        "iiop://127.0.0.1:1",
        "[::",
        "\u{e9}",
    ];
    let odd = odd
        .map(|host| [point(host, 0), point(host, 65535)])
        .concat();
    let odd = ListenPoint::encode(&odd).unwrap();
    let malformed: [&[u8]; 6] = [
        b"",
        b"\x01",
        b"\x01\0\0\0\xff\xff\xff\xff",
        b"\x01\0\0\0\x01\0\0\0\xff\xff\xff\x7f",
        &long,
        &odd,
    ];
    let mut id = 0;
    for data in malformed {
        id += 2;
        peer.send(&announcing(id, data));
        assert_eq!(peer.receive().reply().0, id);
    }
    let own = Served::with(both());
    let points: Vec<_> = (0..5000).map(|it| point("127.0.0.1", 1 + it)).collect();
    for points in points.chunks(50) {
        id += 2;
        announce(&mut peer, id, points);
    }
    // This one is beyond the bound: the call goes to where the reference leads.
    announce(&mut peer, id + 2, &[point("127.0.0.1", own.port())]);
    let target = own.seen_by(&server.orb);
    assert_eq!(within("a call", move || target.echo_long(7)), Ok(7));
    assert_eq!(own.state.calls(), 1);
    drop(peer);
    own.end();
    server.end();
}

/// Conformance: connections - bidirectional GIOP: the side that accepted has odd request ids; a
/// client that closes in order, and one that does not
#[test]
fn calls_end_with_the_connection_of_the_client() {
    for is_orderly in [true, false] {
        let server = Served::with(both());
        let port = dead_port();
        let mut peer = client_at(&server, &[point("127.0.0.1", port)]);
        let target = object_at(&server.orb, port);
        let call = std::thread::spawn(move || target.noop());
        let request = peer.expect_request("noop");
        assert_eq!(request.id % 2, 1, "{}", request.id);
        if is_orderly {
            peer.send(&orbium::giop::close_connection(orbium::giop::Version::V1_2));
        }
        drop(peer);
        let ended = within("the call", move || call.join().unwrap()).unwrap_err();
        let kind = if is_orderly {
            // It was not executed, and is tried again at the address.
            ExceptionKind::Transient
        } else {
            ExceptionKind::CommFailure
        };
        assert_eq!(ended.kind, kind, "{ended}");
        let again = object_at(&server.orb, port);
        let refused = within("a call", move || again.noop()).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient, "{refused}");
        server.end();
    }
}
