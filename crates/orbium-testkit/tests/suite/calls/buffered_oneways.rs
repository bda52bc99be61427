// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYNC_NONE: oneways that wait in the buffer of their connection.

use std::thread;
use std::time::Duration;

use orbium::giop::{Completion, ResponseFlags, minor};
use orbium::{
    Config, ExceptionKind, Interface, Orb, SystemException,
    config::{Limits, ServerStrategy},
    policy::{BufferingConstraint, SyncScope},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Served, calling_by, client, each_client_strategy, eventually, reach,
    reference, within,
};

/// Longer than any test takes.
pub(super) const NEVER: Duration = Duration::from_secs(3600);

pub(super) const A_MOMENT: Duration = Duration::from_millis(50);

/// Reached by nothing that a test does.
pub(super) const HELD: BufferingConstraint = BufferingConstraint {
    timeout: Some(NEVER),
    message_count: Some(1_000_000),
    message_bytes: Some(1 << 30),
};

fn until_count(count: usize) -> BufferingConstraint {
    BufferingConstraint {
        message_count: Some(count),
        ..BufferingConstraint::default()
    }
}

pub(super) fn target_of(server: &FakeServer, client: &Orb) -> Target {
    reach(
        client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    )
}

/// The values of so many posts, none of which wants a reply.
pub(super) fn posts(peer: &mut Peer, count: usize) -> Vec<i32> {
    let post = |_| {
        let request = peer.expect_request("post");
        assert_eq!(request.response, ResponseFlags::None);
        i32::from_ne_bytes(request.body[..4].try_into().unwrap())
    };
    (0..count).map(post).collect()
}

pub(super) fn counted(client: &Orb, name: &str) -> u64 {
    let all = client.enable_metrics().snapshot().buffered_oneways;
    all.iter().find(|it| it.name == name).unwrap().count
}

/// Conformance: Messaging - SyncScopePolicy - SYNC_NONE without a constraint: sent at once
/// Conformance: TAO 19 - each SyncScope reports what it should - the client's side
#[test]
fn without_a_constraint_oneways_are_sent_at_once() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = served.seen_by(&client).with_sync_scope(SyncScope::None);
        for v in 0..1000 {
            target.post(v).unwrap();
        }
        eventually("all arrived", || served.state.posted().len() == 1000);
        assert_eq!(served.state.posted(), (0..1000).collect::<Vec<_>>());
        client.shutdown(true).unwrap();
        served.end();
    });
}

/// Conformance: Messaging - buffered oneways - BUFFER_MESSAGE_COUNT
/// Conformance: TAO 21 - buffered oneways flush as configured - by count
#[test]
fn the_buffer_is_sent_once_it_has_so_many_messages() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(until_count(5));
    (0..4).for_each(|v| target.post(v).unwrap());
    let mut peer = server.accept();
    assert!(peer.is_silent(A_MOMENT));
    target.post(4).unwrap();
    assert_eq!(posts(&mut peer, 5), [0, 1, 2, 3, 4]);
    (5..9).for_each(|v| target.post(v).unwrap());
    assert!(peer.is_silent(A_MOMENT));
    target.post(9).unwrap();
    assert_eq!(posts(&mut peer, 5), [5, 6, 7, 8, 9]);
}

/// Conformance: Messaging - buffered oneways - BUFFER_MESSAGE_BYTES
/// Conformance: TAO 21 - buffered oneways flush as configured - by octets
#[test]
fn the_buffer_is_sent_once_it_has_so_many_octets() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(BufferingConstraint {
        message_bytes: Some(10_000),
        ..BufferingConstraint::default()
    });
    target.pour(&[1; 4000]).unwrap();
    target.pour(&[2; 4000]).unwrap();
    let mut peer = server.accept();
    assert!(peer.is_silent(A_MOMENT));
    target.pour(&[3; 4000]).unwrap();
    for v in 1..=3 {
        assert_eq!(peer.expect_request("pour").body[4..], [v; 4000]);
    }
}

/// Conformance: Messaging - buffered oneways - BUFFER_TIMEOUT
/// Conformance: TAO 21 - buffered oneways flush as configured - by time
#[test]
fn the_buffer_is_sent_when_its_time_is_over() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(BufferingConstraint {
        timeout: Some(Duration::from_millis(20)),
        ..BufferingConstraint::default()
    });
    let mut peer = None;
    for round in 0..3 {
        (0..4).for_each(|v| target.post(4 * round + v).unwrap());
        let peer = peer.get_or_insert_with(|| server.accept());
        let first = 4 * round;
        assert_eq!(posts(peer, 4), [first, first + 1, first + 2, first + 3]);
    }
}

/// Conformance: Messaging - buffered oneways - constraints together: the first that is reached
#[test]
fn of_several_constraints_the_first_that_is_reached_counts() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client);
    let by_count = target.with_buffering(BufferingConstraint {
        message_count: Some(2),
        ..HELD
    });
    by_count.post(1).unwrap();
    by_count.post(2).unwrap();
    let mut peer = server.accept();
    assert_eq!(posts(&mut peer, 2), [1, 2]);
    let by_octets = target.with_buffering(BufferingConstraint {
        message_bytes: Some(100),
        ..HELD
    });
    by_octets.post(3).unwrap();
    by_octets.post(4).unwrap();
    assert_eq!(posts(&mut peer, 2), [3, 4]);
    let by_time = target.with_buffering(BufferingConstraint {
        timeout: Some(Duration::from_millis(20)),
        ..HELD
    });
    by_time.post(5).unwrap();
    assert_eq!(posts(&mut peer, 1), [5]);
}

/// Conformance: Messaging - buffered oneways - sent before a call with a reply, over its connection
#[test]
fn the_buffer_is_sent_before_a_call_with_a_reply() {
    each_client_strategy(|strategy| {
        let (server, client) = (
            FakeServer::listen(),
            Orb::new(calling_by(strategy)).unwrap(),
        );
        let target = target_of(&server, &client).with_buffering(HELD);
        let mut peer = None;
        for round in 0..3 {
            (0..3).for_each(|v| target.post(3 * round + v).unwrap());
            let call = {
                let target = target.clone();
                orbium_testkit::spawn(move || target.echo_long(7))
            };
            let peer = peer.get_or_insert_with(|| server.accept());
            let first = 3 * round;
            assert_eq!(posts(peer, 3), [first, first + 1, first + 2]);
            let request = peer.expect_request("echo_long");
            peer.answer(&request, |w| w.write_u32(7));
            assert_eq!(within("the call", || call.join().unwrap()), Ok(7));
        }
    });
}

/// Conformance: Messaging - buffered oneways - sent by hand
/// Conformance: TAO 21 - buffered oneways flush as configured - by hand
#[test]
fn the_buffer_is_sent_by_hand() {
    each_client_strategy(|strategy| {
        let (server, client) = (
            FakeServer::listen(),
            Orb::new(calling_by(strategy)).unwrap(),
        );
        let target = target_of(&server, &client).with_buffering(HELD);
        (0..3).for_each(|v| target.post(v).unwrap());
        let mut peer = server.accept();
        assert!(peer.is_silent(A_MOMENT));
        target.flush_oneways(NEVER).unwrap();
        assert_eq!(posts(&mut peer, 3), [0, 1, 2]);
        // With nothing to send.
        target.flush_oneways(Duration::ZERO).unwrap();
    });
}

/// Conformance: Messaging - buffered oneways - sent at the shutdown of the ORB, before CloseConnection
#[test]
fn the_buffer_is_sent_when_the_orb_shuts_down() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = served.seen_by(&client).with_buffering(HELD);
        (0..100).for_each(|v| target.post(v).unwrap());
        within("the shutdown", move || client.shutdown(true)).unwrap();
        eventually("all arrived", || served.state.posted().len() == 100);
        assert_eq!(served.state.posted(), (0..100).collect::<Vec<_>>());
        assert_eq!(target.post(1).unwrap_err().kind, ExceptionKind::BadInvOrder);
        served.end();
    });
}

/// Conformance: Messaging - buffered oneways - sent when the connection of the reference is closed
#[test]
fn the_buffer_is_sent_when_a_private_connection_is_closed() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(HELD);
    target.post(1).unwrap();
    let mut peer = server.accept();
    drop(target);
    drop(client);
    assert_eq!(posts(&mut peer, 1), [1]);
    peer.expect_end();
}

/// An ORB with buffers of so many octets.
pub(super) fn client_with_room_for(octets: usize) -> Orb {
    let config = Config {
        limits: Limits {
            buffered_oneways: octets,
            ..Limits::default()
        },
        ..Config::default()
    };
    Orb::new(config).unwrap()
}

/// Sends until there is no room any more; how many messages that were.
pub(super) fn fill(target: &Target) -> usize {
    for sent in 0.. {
        if let Err(exception) = target.pour(&[7; 10_000]) {
            let (kind, code) = (ExceptionKind::Transient, minor::ONEWAYS_BUFFERED);
            let expected = SystemException::orbium(kind, code, Completion::No);
            assert_eq!(exception, expected);
            return sent;
        }
    }
    unreachable!("buffers are bounded")
}

/// Conformance: Messaging - buffered oneways - bounded: TRANSIENT where the server takes nothing; begin and end of flow control are counted
/// Conformance: TAO 20 - SYNC_NONE never blocks - the client's side
#[test]
fn a_full_buffer_is_transient_and_flow_control_is_counted() {
    let (server, client) = (FakeServer::listen(), client_with_room_for(100_000));
    let target = target_of(&server, &client).with_sync_scope(SyncScope::None);
    assert_eq!(counted(&client, "flow_control_begun"), 0);
    // The server accepts the connection, and reads nothing.
    let sent = within("calls without a deadline", {
        let target = target.clone();
        move || fill(&target)
    });
    assert_eq!(counted(&client, "flow_control_begun"), 1);
    assert_eq!(counted(&client, "flow_control_ended"), 0);
    let late = target.flush_oneways(Duration::from_millis(1)).unwrap_err();
    assert_eq!(late.kind, ExceptionKind::Timeout);
    let mut peer = server.accept();
    for _ in 0..sent {
        assert_eq!(peer.expect_request("pour").body[4..], [7; 10_000]);
    }
    eventually("flow control ends", || {
        counted(&client, "flow_control_ended") == 1
    });
    target.post(5).unwrap();
    assert_eq!(posts(&mut peer, 1), [5]);
    assert_eq!(counted(&client, "lost"), 0);
}

/// Conformance: Messaging - buffered oneways - waits for room as long as the call may take
#[test]
fn a_call_with_a_deadline_waits_for_room() {
    let (server, client) = (FakeServer::listen(), client_with_room_for(100_000));
    let target = target_of(&server, &client).with_sync_scope(SyncScope::None);
    let sent = fill(&target);
    let short = target.with_timeout(Duration::from_millis(5));
    let refused = short.pour(&[7; 10_000]).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Transient);
    let patient = target.with_timeout(NEVER);
    let waiting = orbium_testkit::spawn(move || patient.pour(&[7; 10_000]));
    let mut peer = server.accept();
    for _ in 0..=sent {
        peer.expect_request("pour");
    }
    assert_eq!(within("the call", || waiting.join().unwrap()), Ok(()));
}

/// Conformance: Messaging - buffered oneways - what is not sent to a server that is gone is counted
#[test]
fn oneways_lost_with_their_server_are_counted() {
    // Where the end of the connection has not arrived yet, the system takes what is sent.
    eventually("all are counted", || {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let (client, target) = served.client();
        let target = target.with_buffering(HELD);
        assert_eq!(target.echo_long(1), Ok(1));
        (0..7).for_each(|v| target.post(v).unwrap());
        served.end();
        let flushed = target.flush_oneways(NEVER);
        // What comes later raises what connecting raises.
        let later = target.with_buffering(BufferingConstraint::default());
        eventually("the server is gone", || {
            let kind = later.post(1).map_err(|exception| exception.kind);
            kind == Err(ExceptionKind::Transient)
        });
        let lost = counted(&client, "lost");
        assert_eq!(flushed.is_err(), lost > 0, "{flushed:?}");
        lost == 7
    });
}

/// Conformance: Messaging - buffered oneways - a connection that was closed in order is replaced
#[test]
fn the_buffer_goes_over_another_connection_if_the_server_closed_the_first() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(HELD);
    (0..3).for_each(|v| target.post(v).unwrap());
    server.accept().close();
    // The end need not have arrived yet.
    let mut again = None;
    eventually("another connection", || {
        target.flush_oneways(NEVER).unwrap();
        again = server.accept_at_once();
        if again.is_none() {
            target.post(9).unwrap();
        }
        again.is_some()
    });
    let mut peer = again.unwrap();
    let arrived = posts(&mut peer, 1);
    assert!(arrived == [0] || arrived == [9], "{arrived:?}");
    assert_eq!(counted(&client, "lost"), 0);
}

/// Conformance: Messaging - buffered oneways - of many threads: none is lost, each thread's in order
#[test]
fn oneways_of_many_threads_arrive_in_the_order_of_each() {
    const THREADS: i32 = 4;
    const EACH: i32 = 2000;
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (client, target) = served.client();
    let target = target.with_buffering(BufferingConstraint {
        timeout: Some(Duration::from_millis(1)),
        message_count: Some(50),
        ..BufferingConstraint::default()
    });
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let target = target.clone();
            scope.spawn(move || (0..EACH).for_each(|v| target.post(thread * EACH + v).unwrap()));
        }
    });
    target.flush_oneways(NEVER).unwrap();
    let all = (THREADS * EACH) as usize;
    eventually("all arrived", || served.state.posted().len() == all);
    for thread in 0..THREADS {
        let of_thread = |v: &i32| *v / EACH == thread;
        let posted: Vec<_> = served
            .state
            .posted()
            .into_iter()
            .filter(of_thread)
            .collect();
        assert_eq!(
            posted,
            (thread * EACH..(thread + 1) * EACH).collect::<Vec<_>>()
        );
    }
    client.shutdown(true).unwrap();
    served.end();
}

/// Of two connections, made by two threads at once, the second became idle, and the buffer took it after a
/// flush: the server's thread for the first was behind, and oneways of one thread arrived out of order.
#[test]
fn threads_that_begin_at_once_make_one_connection() {
    const THREADS: usize = 8;
    for _ in 0..20 {
        let (server, client) = (FakeServer::listen(), client());
        let target = target_of(&server, &client).with_buffering(HELD);
        let barrier = std::sync::Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    target.post(1).unwrap();
                });
            }
        });
        target.flush_oneways(NEVER).unwrap();
        assert_eq!(posts(&mut server.accept(), THREADS), [1; THREADS]);
        assert!(server.accept_at_once().is_none());
    }
}

/// Calls of other references are not held up, and acknowledged oneways are not buffered.
#[test]
fn a_buffer_holds_up_no_other_call() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(calling_by(strategy)).unwrap();
        let plain = served.seen_by(&client);
        let buffered = plain.with_buffering(HELD);
        buffered.post(1).unwrap();
        for v in 0..3 {
            assert_eq!(plain.echo_long(v), Ok(v));
            plain
                .with_sync_scope(SyncScope::WithTarget)
                .post(2)
                .unwrap();
        }
        assert_eq!(buffered.echo_long(4), Ok(4));
        eventually("all arrived", || served.state.posted().len() == 4);
        client.shutdown(true).unwrap();
        served.end();
    });
}

/// Within one ORB the servant runs in the caller's thread, as it does for every oneway.
#[test]
fn oneways_to_objects_of_the_same_orb_are_not_buffered() {
    let served = Served::new(ServerStrategy::Reactive);
    let here = served.seen_by(&served.orb).with_buffering(HELD);
    here.post(3).unwrap();
    assert_eq!(served.state.posted(), [3]);
    here.flush_oneways(Duration::ZERO).unwrap();
    served.end();
}
