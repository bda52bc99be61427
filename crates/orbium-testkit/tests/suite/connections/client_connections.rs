// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of a client: made in advance, of a band, private, retained, and closed when
//! idle.

use std::thread;
use std::time::Duration;

use orbium::giop::real_time::PriorityBand;
use orbium::giop::{MessageKind, Version, close_connection};
use orbium::{
    Completion, Config, ExceptionKind, Interface, ObjectRef, Orb, SystemException,
    config::{ClientStrategy, Limits},
};
use orbium_core::{Priority, priority};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, calling_by, client, each_client_strategy, eventually, reach, reference,
    within,
};

struct Scripted {
    server: FakeServer,
    target: Target,
}

impl Scripted {
    fn new(client: &Orb) -> Self {
        let server = FakeServer::listen();
        let text = reference(2, &[server.port()], b"x", &[]).to_string();
        let target = reach(client, &text);
        Self { server, target }
    }

    fn object(&self) -> &ObjectRef {
        self.target.as_object()
    }

    /// Calls, and answers over a connection that is new, or over this one.
    fn call(&self, peer: Option<Peer>) -> Peer {
        call(&self.target, || match peer {
            Some(peer) => peer,
            None => self.server.accept(),
        })
    }
}

fn call(target: &Target, peer: impl FnOnce() -> Peer) -> Peer {
    let target = target.clone();
    let at = priority::current();
    let call = orbium_testkit::spawn(move || priority::while_at(at, || target.noop()));
    let mut peer = peer();
    let request = peer.expect_request("noop");
    peer.answer(&request, |_| {});
    within("the call", move || call.join().unwrap()).unwrap();
    peer
}

fn with(client_strategy: ClientStrategy, limits: Limits) -> Orb {
    let config = Config {
        limits,
        ..calling_by(client_strategy)
    };
    Orb::new(config).unwrap()
}

fn keeping(idle_connections: usize) -> Limits {
    Limits {
        idle_connections,
        ..Limits::default()
    }
}

fn band(low: i16, high: i16) -> PriorityBand {
    PriorityBand { low, high }
}

fn has_ended(peer: &mut Peer) -> bool {
    !peer.is_silent(Duration::ZERO)
}

/// Conformance: connections - connections made in advance
#[test]
fn connections_made_in_advance_are_those_that_calls_use() {
    for strategy in [ClientStrategy::ExclusivePool, ClientStrategy::IoThread] {
        let client = with(strategy, Limits::default());
        let scripted = Scripted::new(&client);
        scripted.object().connect_many(3).unwrap();
        let count = if strategy.is_multiplexed() { 1 } else { 3 };
        let mut peers: Vec<_> = (0..count).map(|_| scripted.server.accept()).collect();
        assert!(scripted.server.accept_at_once().is_none());
        scripted.object().connect_many(3).unwrap();
        assert!(
            scripted.server.accept_at_once().is_none(),
            "there were enough"
        );
        // The one released last is used first.
        let target = scripted.target.clone();
        let call = orbium_testkit::spawn(move || target.noop());
        let mut used = None;
        eventually("a request", || {
            used = peers.iter_mut().position(has_ended);
            used.is_some()
        });
        let peer = &mut peers[used.unwrap()];
        let request = peer.expect_request("noop");
        peer.answer(&request, |_| {});
        within("the call", move || call.join().unwrap()).unwrap();
        assert!(scripted.server.accept_at_once().is_none());
        client.shutdown(true).unwrap();
    }
}

/// Regression: the caller waited for ever for the release of the connections that it held itself.
///
/// Conformance: connections - connections made in advance
#[test]
fn connections_made_in_advance_are_as_many_as_permitted() {
    each_client_strategy(|strategy| {
        let limits = Limits {
            connections_per_server: 2,
            calls_per_connection: 2,
            ..Limits::default()
        };
        let client = with(strategy, limits);
        let scripted = Scripted::new(&client);
        let object = scripted.object().clone();
        let connected = within("connecting", move || {
            object.connect_many(5)?;
            object.connect_many(5)
        });
        assert_eq!(connected, Ok(()));
        let count = if strategy.is_multiplexed() { 1 } else { 2 };
        let _peers: Vec<_> = (0..count).map(|_| scripted.server.accept()).collect();
        assert!(scripted.server.accept_at_once().is_none());
        client.shutdown(true).unwrap();
    });
}

/// Conformance: connections - connections made in advance
#[test]
fn each_thread_makes_its_own_in_advance() {
    let client = with(ClientStrategy::ExclusivePerThread, Limits::default());
    let scripted = Scripted::new(&client);
    let object = scripted.object().clone();
    let ready = orbium_testkit::spawn(move || {
        object.connect()?;
        object.connect()
    });
    assert_eq!(within("connecting", move || ready.join().unwrap()), Ok(()));
    let mut first = scripted.server.accept();
    // With its thread it ends.
    first.expect(MessageKind::CloseConnection);
    first.expect_end();
    scripted.object().connect().unwrap();
    let mut own = scripted.server.accept();
    assert!(scripted.server.accept_at_once().is_none());
    let mut other = scripted.call(None);
    other.expect(MessageKind::CloseConnection);
    assert!(!has_ended(&mut own));
    client.shutdown(true).unwrap();
    own.expect(MessageKind::CloseConnection);
    own.expect_end();
}

/// Conformance: connections - connections made in advance
#[test]
fn an_unreachable_server_is_reported() {
    each_client_strategy(|strategy| {
        let client = with(strategy, Limits::default());
        let port = FakeServer::listen().port();
        let target = reach(&client, &reference(2, &[port], b"x", &[]).to_string());
        let refused = target.as_object().connect().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
        assert_eq!(refused.completed, Completion::No);
    });
}

/// Conformance: connections - connections made in advance
#[test]
fn a_connection_that_was_closed_is_replaced_in_advance() {
    let client = client();
    let scripted = Scripted::new(&client);
    scripted.object().connect_many(2).unwrap();
    for _ in 0..2 {
        scripted.server.accept().close();
    }
    eventually("both are known to have ended", || {
        scripted.object().connect_many(2).unwrap();
        scripted.server.accept_at_once().is_some()
    });
    let _peer = scripted.server.accept();
    client.shutdown(true).unwrap();
}

/// Once a server had closed an idle connection the next oneway was always lost:
/// it was sent over that very connection, and nothing told.
#[test]
fn a_oneway_is_not_sent_to_where_the_server_has_closed() {
    each_client_strategy(|strategy| {
        let client = with(strategy, Limits::default());
        let server = FakeServer::listen();
        let target = reach(
            &client,
            &reference(2, &[server.port()], b"x", &[]).to_string(),
        );
        for v in 0..3 {
            target.post(v).unwrap();
            let mut peer = server.accept();
            peer.expect_request("post");
            peer.send(&close_connection(Version::V1_2));
            drop(peer);
            // Clients do not look again for a moment.
            thread::sleep(Duration::from_millis(20));
        }
        client.shutdown(true).unwrap();
    });
}

/// Conformance: connections - private connections, and one for each band, with every client
/// strategy
#[test]
fn a_private_connection_serves_no_other_reference() {
    each_client_strategy(|strategy| {
        let client = with(strategy, Limits::default());
        let scripted = Scripted::new(&client);
        let shared = scripted.call(None);
        let private = Target::from_object(scripted.object().with_private_connections());
        let mut own = call(&private, || scripted.server.accept());
        let clone = private.clone();
        own = call(&clone, || own);
        let other = Target::from_object(scripted.object().with_private_connections());
        let mut others = call(&other, || scripted.server.accept());
        if strategy != ClientStrategy::ExclusivePerThread {
            scripted.call(Some(shared));
        }
        // It ends with the last reference.
        drop(private);
        assert!(!has_ended(&mut own));
        drop(clone);
        own.expect(MessageKind::CloseConnection);
        own.expect_end();
        assert!(!has_ended(&mut others));
        client.shutdown(true).unwrap();
        others.expect(MessageKind::CloseConnection);
    });
}

/// Conformance: connections - private connections, and one for each band, with every client
/// strategy
#[test]
fn each_band_has_a_connection_of_its_own() {
    each_client_strategy(|strategy| {
        if strategy == ClientStrategy::ExclusivePerThread {
            // Each call here has a thread, and so a connection.
            return;
        }
        let client = with(strategy, Limits::default());
        let scripted = Scripted::new(&client);
        let bands = [band(0, 9), band(10, 19), band(15, 40)];
        let banded = Target::from_object(scripted.object().with_bands(&bands));
        let at = |number: i16, peer: Option<Peer>| {
            priority::while_at(Priority::new(number), || {
                call(&banded, || peer.unwrap_or_else(|| bound(&scripted.server)))
            })
        };
        let low = at(3, None);
        let middle = at(12, None);
        let high = at(30, None);
        let low = at(9, Some(low));
        // The first band that has it counts.
        let middle = at(15, Some(middle));
        let _high = at(40, Some(high));
        let refused = SystemException::omg(ExceptionKind::NoResources, 2, Completion::No);
        let outside = priority::while_at(Priority::new(41), || banded.noop());
        assert_eq!(outside, Err(refused));
        // Another object with the same bands shares them.
        let again = Target::from_object(scripted.object().with_bands(&bands[1..2]));
        priority::while_at(Priority::new(10), || call(&again, || middle));
        let ready = Target::from_object(scripted.object().with_bands(&bands[..1]));
        priority::while_at(Priority::new(0), || ready.as_object().connect()).unwrap();
        drop(low);
        // Others do not.
        let _plain = scripted.call(None);
        client.shutdown(true).unwrap();
    });
}

/// A new connection, which the client says is of a band.
fn bound(server: &FakeServer) -> Peer {
    let mut peer = server.accept();
    let request = peer.expect_request("_bind_priority_band");
    peer.answer(&request, |_| {});
    peer
}

/// Conformance: connections - what is idle makes room and is closed after a time, without notice
/// Conformance: TAO 29 - the connection cache has a hard limit, busy ones are never purged - the
/// least recently used goes first
/// Conformance: complaint 25 - a cache of connections that leaks, and is sorted as raw memory
#[test]
fn the_least_recently_used_makes_room() {
    for strategy in [ClientStrategy::ExclusivePool, ClientStrategy::IoThread] {
        let client = with(strategy, keeping(3));
        let servers: Vec<_> = (0..4).map(|_| Scripted::new(&client)).collect();
        let mut peers: Vec<_> = servers[..3].iter().map(|s| s.call(None)).collect();
        // Used again: the oldest is now the second.
        let first = peers.remove(0);
        peers.insert(0, servers[0].call(Some(first)));
        let mut fourth = servers[3].call(None);
        peers[1].expect(MessageKind::CloseConnection);
        peers[1].expect_end();
        for still in [0, 2] {
            assert!(!has_ended(&mut peers[still]), "{strategy}, {still}");
        }
        assert!(!has_ended(&mut fourth));
        client.shutdown(true).unwrap();
    }
}

/// Conformance: connections - what is idle makes room and is closed after a time, without notice
/// Conformance: TAO 29 - the connection cache has a hard limit, busy ones are never purged - the
/// least recently used goes first
/// Conformance: complaint 25 - a cache of connections that leaks, and is sorted as raw memory
#[test]
fn a_busy_connection_is_never_closed_to_make_room() {
    each_client_strategy(|strategy| {
        let client = with(strategy, keeping(1));
        let servers: Vec<_> = (0..5).map(|_| Scripted::new(&client)).collect();
        let calls: Vec<_> = servers
            .iter()
            .map(|scripted| {
                let target = scripted.target.clone();
                orbium_testkit::spawn(move || target.echo_long(7))
            })
            .collect();
        let mut busy: Vec<_> = servers
            .iter()
            .map(|scripted| {
                let mut peer = scripted.server.accept();
                let request = peer.expect_request("echo_long");
                (peer, request)
            })
            .collect();
        for (peer, request) in &mut busy {
            peer.answer(request, |w| w.write_u32(7));
        }
        for call in calls {
            assert_eq!(within("the call", move || call.join().unwrap()), Ok(7));
        }
        // All but one, or all if their threads have ended.
        let mut ended = 0;
        eventually("there is room again", || {
            busy.retain_mut(|(peer, _)| !has_ended(peer));
            ended = 5 - busy.len();
            ended >= 4
        });
        client.shutdown(true).unwrap();
    });
}

/// Conformance: connections - what is idle makes room and is closed after a time, without notice
#[test]
fn idle_connections_are_closed_and_replaced_without_notice() {
    each_client_strategy(|strategy| {
        let client = with(
            strategy,
            Limits {
                client_idle_time: Some(Duration::from_millis(40)),
                ..Limits::default()
            },
        );
        let scripted = Scripted::new(&client);
        for _ in 0..3 {
            let mut peer = scripted.call(None);
            peer.expect(MessageKind::CloseConnection);
            peer.expect_end();
        }
        client.shutdown(true).unwrap();
    });
}

/// Conformance: connections - what is idle makes room and is closed after a time, without notice
#[test]
fn a_call_that_lasts_is_not_idle() {
    each_client_strategy(|strategy| {
        let time = Duration::from_millis(30);
        let client = with(
            strategy,
            Limits {
                client_idle_time: Some(time),
                ..Limits::default()
            },
        );
        let scripted = Scripted::new(&client);
        let target = scripted.target.clone();
        let call = orbium_testkit::spawn(move || target.echo_long(1));
        let mut peer = scripted.server.accept();
        let request = peer.expect_request("echo_long");
        assert!(peer.is_silent(5 * time), "closed under a call");
        peer.answer(&request, |w| w.write_u32(2));
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(2));
        client.shutdown(true).unwrap();
    });
}

#[test]
fn senseless_times_are_refused_with_a_sentence() {
    let limits = Limits {
        client_idle_time: Some(Duration::ZERO),
        ..Limits::default()
    };
    let refused = Orb::builder().limits(limits).build().unwrap_err();
    assert!(refused.to_string().contains("client_idle_time"));
}
