// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that connect and send nothing, and how room is made when there are as many
//! connections as there may be.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use orbium::giop::MessageKind;
use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{PATIENCE, Peer, RequestLine, Served, each_strategy, eventually, request};
use orbium_transport::TcpByteStream;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

fn limited(strategy: ServerStrategy, connections: usize, initial: Option<Duration>) -> Served {
    Served::with(Config {
        strategy,
        limits: Limits {
            connections,
            initial_idle_time: initial,
            ..Limits::default()
        },
        ..Config::default()
    })
}

/// Calls; `false` if the connection was closed.
fn is_answered(peer: &mut Peer, id: u32) -> bool {
    peer.try_send(&request(RequestLine::new(id, "noop"), |_| {}))
        && peer
            .try_receive()
            .is_some_and(|it| it.kind() == MessageKind::Reply && it.reply().0 == id)
}

/// A connection from that host of the loopback.
fn from_host(host: u8, port: u16) -> Peer {
    let own = SocketAddr::from(([127, 0, 0, host], 0));
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &own).unwrap();
    connect(&socket, &SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
    Peer::over(Box::new(TcpByteStream::new(socket.into())))
}

/// They stayed for ever.
///
/// Conformance: robustness - peers that send nothing, or half of a handshake, are cut off in every
/// strategy
#[test]
fn a_connection_over_which_nothing_comes_is_closed() {
    each_strategy(|strategy| {
        let served = limited(strategy, 100, Some(Duration::from_millis(300)));
        let mut silent: Vec<_> = (0..20).map(|_| Peer::connect(served.port())).collect();
        for peer in &mut silent {
            peer.expect(MessageKind::CloseConnection);
            peer.expect_end();
        }
        // One that has spoken is left alone.
        let mut peer = Peer::connect(served.port());
        eventually("a client is quick enough", || {
            is_answered(&mut peer, 2) || {
                peer = Peer::connect(served.port());
                false
            }
        });
        assert!(peer.is_silent(Duration::from_secs(1)));
        assert!(is_answered(&mut peer, 4));
        served.end();
    });
}

/// 4,096 silent connections kept every new client out.
///
/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn silent_connections_make_room_for_new_clients() {
    each_strategy(|strategy| {
        let served = limited(strategy, 10, None);
        let mut first = Peer::connect(served.port());
        assert!(is_answered(&mut first, 2));
        let mut silent: Vec<_> = (0..9).map(|_| Peer::connect(served.port())).collect();
        let mut clients = Vec::new();
        for _ in 0..9 {
            let mut client = Peer::connect(served.port());
            assert!(is_answered(&mut client, 2), "locked out");
            clients.push(client);
        }
        for peer in &mut silent {
            peer.expect(MessageKind::CloseConnection);
            peer.expect_end();
        }
        // Where nobody is silent or idle, nobody goes.
        Peer::connect(served.port()).expect_end();
        for client in clients.iter_mut().chain([&mut first]) {
            assert!(is_answered(client, 4));
        }
        served.end();
    });
}

/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn the_longest_idle_connection_makes_room() {
    each_strategy(|strategy| {
        let served = limited(strategy, 4, Some(Duration::from_secs(2)));
        let port = served.port();
        let mut busy: Vec<_> = (0..2).map(|_| Peer::connect(port)).collect();
        let mut idle = Peer::connect(port);
        let mut other = Peer::connect(port);
        for peer in busy.iter_mut().chain([&mut idle, &mut other]) {
            assert!(is_answered(peer, 2));
        }
        let limit = Instant::now() + PATIENCE;
        let mut id = 4;
        loop {
            assert!(Instant::now() < limit, "no room is made");
            for peer in busy.iter_mut().chain([&mut other]) {
                assert!(is_answered(peer, id), "one that is used was closed");
            }
            id += 2;
            if is_answered(&mut Peer::connect(port), 2) {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        idle.expect(MessageKind::CloseConnection);
        served.end();
    });
}

/// One host could take all connections for itself.
///
/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn a_host_that_has_most_connections_makes_room_for_others() {
    each_strategy(|strategy| {
        let served = limited(strategy, 8, None);
        let mut many: Vec<_> = (0..8).map(|_| Peer::connect(served.port())).collect();
        for peer in &mut many {
            assert!(is_answered(peer, 2));
        }
        Peer::connect(served.port()).expect_end();
        let mut others = Vec::new();
        for _ in 0..3 {
            let mut other = from_host(2, served.port());
            assert!(is_answered(&mut other, 2), "locked out");
            others.push(other);
        }
        // A thread that served one of them may still be about to close it.
        eventually("three make room", || {
            many.retain_mut(|it| it.is_silent(Duration::ZERO));
            many.len() == 5
        });
        for peer in &mut many {
            assert!(is_answered(peer, 4));
        }
        for other in &mut others {
            assert!(is_answered(other, 4));
        }
        served.end();
    });
}

/// A connection of which a request is being served stays, whatever comes.
///
/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn a_connection_that_is_owed_an_answer_gets_it() {
    each_strategy(|strategy| {
        let served = limited(strategy, 2, None);
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "gate"), |_| {}));
        eventually("the request is served", || served.state.gate.waiting() == 1);
        let mut silent = Peer::connect(served.port());
        if matches!(strategy, ServerStrategy::Reactive) {
            // Its one thread waits at the gate, and accepts nobody.
            served.state.gate.open();
        }
        let mut client = Peer::connect(served.port());
        assert!(is_answered(&mut client, 2));
        silent.expect(MessageKind::CloseConnection);
        served.state.gate.open();
        assert_eq!(peer.receive().reply().0, 2);
        served.end();
    });
}

/// One with a request that came together with the new connection stayed and counted as ended: its next reply from a thread that
/// had handed the reading over was its last, and requests behind that were served without a reply.
///
/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn a_connection_with_a_request_to_be_served_stays_as_it_is() {
    let served = limited(ServerStrategy::Reactive, 2, None);
    let other = Served::new(ServerStrategy::Reactive);
    let nested = other.seen_by(&served.orb);
    served.state.on_act(move |_, v| nested.noop().map(|()| v));
    let mut asking = Peer::connect(served.port());
    let mut holding = Peer::connect(served.port());
    for peer in [&mut asking, &mut holding] {
        assert!(is_answered(peer, 2));
    }
    holding.send(&request(RequestLine::new(4, "gate"), |_| {}));
    served.state.gate.await_waiting(1);
    // Its one thread finds both when it looks again, the request first.
    asking.send(&request(RequestLine::new(4, "act"), |w| w.write_u32(7)));
    let mut newcomer = from_host(2, served.port());
    served.state.gate.open();
    assert!(is_answered(&mut newcomer, 2), "locked out");
    assert_eq!(asking.receive().reply().0, 4);
    assert!(is_answered(&mut asking, 6), "it has ended");
    served.end();
    other.end();
}
