// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines and start times. Every test here would wait for ever, or find nothing
//! held back, if they did not hold; how exactly they hold is not measured.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant, SystemTime};

use orbium::giop::MessageKind;
use orbium::{
    config::{ConnectTimeout, ServerStrategy},
    policy::TimePolicies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, with_time_enough};

use super::*;

/// Enough to begin to send, on a machine with much else to do.
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_silent_server_is_given_up_with_timeout() {
    let (scripted, mut peer) = Scripted::connected();
    let hurried = scripted.object.with_timeout(SHORT);
    let call = echo(&hurried, 1);
    let request = peer.expect_request("echo_long");
    assert_eq!(result(call), Err(timed_out(Completion::Maybe)));
    let cancelled = peer.expect(MessageKind::CancelRequest).cancelled();
    assert_eq!(cancelled, request.id);
    // Late: the connection is good for others all the same.
    peer.answer(&request, |w| w.write_u32(1));
    let call = echo(&scripted.object, 2);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(2));
    scripted.end();
}

#[test]
fn each_call_has_its_own_deadline() {
    let (scripted, mut peer) = Scripted::connected();
    let calls: Vec<_> = (0..10)
        .map(|v| {
            let hurried = scripted.object.with_timeout(SHORT + v * SHORT / 10);
            handled(echo(&hurried, 1))
        })
        .collect();
    let patient = echo(&scripted.object, 7);
    for call in calls {
        assert_eq!(call.recv().unwrap().0, Err(timed_out(Completion::Maybe)));
    }
    for _ in 0..10 {
        peer.expect_request("echo_long");
    }
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(7));
    assert_eq!(result(patient), Ok(7));
    scripted.end();
}

/// Where somebody listens who accepts nobody, and what fills the backlog.
fn full() -> (SocketAddr, (TcpListener, Vec<TcpStream>)) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut connected = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        connected.push(stream);
        assert!(connected.len() < 10_000);
    }
    (address, (listener, connected))
}

#[test]
fn a_connection_that_takes_too_long_to_make_is_transient() {
    let (address, connected) = full();
    let client = Orb::new(Config {
        connect_timeout: ConnectTimeout(SHORT),
        ..Config::default()
    })
    .unwrap();
    let object = object(&client, &[address.port()]);
    let (kind, code) = (ExceptionKind::Transient, minor::CONNECT_TIMEOUT);
    let slow = SystemException::orbium(kind, code, Completion::No);
    // As a call that waits says.
    let waited = Target::from_object(object.clone()).echo_long(1);
    assert_eq!((waited, result(echo(&object, 1))), (Err(slow), Err(slow)));
    drop(connected);
}

#[test]
fn connecting_and_sending_are_within_the_deadline() {
    let (address, connected) = full();
    let client = orbium_testkit::client();
    let object = object(&client, &[address.port()]).with_timeout(SHORT);
    assert_eq!(result(echo(&object, 1)), Err(timed_out(Completion::No)));
    drop(connected);
    // A peer that takes nothing: what waits behind was never sent.
    let (scripted, peer) = Scripted::connected();
    let hurried = scripted.object.with_timeout(SHORT);
    let large = echo_octets(&hurried, vec![0; 16 << 20]);
    let behind = echo(&hurried, 1);
    assert_eq!(result(large), Err(timed_out(Completion::Maybe)));
    assert_eq!(result(behind), Err(timed_out(Completion::No)));
    drop(peer);
    scripted.end();
}

#[test]
fn expired_requests_are_not_sent() {
    let (scripted, mut peer) = Scripted::connected();
    let over = scripted.object.with_timeout(Duration::ZERO);
    assert_eq!(result(echo(&over, 1)), Err(timed_out(Completion::No)));
    let call = echo(&scripted.object, 2);
    let request = peer.expect_request("echo_long");
    assert_eq!(argument(&request), 2);
    peer.answer(&request, |w| w.write_u32(2));
    assert_eq!(result(call), Ok(2));
    scripted.end();
}

/// Regression: a request that timed out between the note of its call that it is sent and its entry
/// at the connection was TIMEOUT, completed NO, and was sent.
#[test]
fn requests_that_are_not_completed_are_not_sent() {
    const CALLS: i32 = 1000;
    let (scripted, mut peer) = Scripted::connected();
    let server = orbium_testkit::spawn(move || {
        let mut arrived = HashSet::new();
        while let Some(message) = peer.try_receive() {
            if message.kind() == MessageKind::Request {
                arrived.insert(argument(&message.request()));
            }
        }
        arrived
    });
    let callers = [0, 1, 2].map(|caller| {
        let object = scripted.object.clone();
        orbium_testkit::spawn(move || {
            let mut not_completed = Vec::new();
            for number in caller * CALLS..(caller + 1) * CALLS {
                // About as long as sending takes.
                let timeout = Duration::from_micros(5 + number as u64 % 64);
                let passed = echo(&object.with_timeout(timeout), number)
                    .wait()
                    .unwrap_err();
                if passed.completed == Completion::No {
                    not_completed.push(number as u32);
                }
            }
            not_completed
        })
    });
    let not_completed = callers.map(|caller| within("the calls", move || caller.join().unwrap()));
    scripted.end();
    let arrived = within("the server", move || server.join().unwrap());
    let served = not_completed.concat().into_iter();
    let served: Vec<_> = served.filter(|number| arrived.contains(number)).collect();
    assert_eq!(served, [0; 0], "of {}", arrived.len());
}

#[test]
fn a_servant_of_the_same_orb_that_takes_too_long_is_given_up() {
    let served = Served::new(ServerStrategy::default());
    let hurried = served.target.as_object().with_timeout(SHORT);
    static GATE: Operation = Operation::new("gate");
    let call: Asynchronous<()> = hurried.call_async(&GATE, (), |(), _| {}, |_| Ok(()));
    served.state.gate.await_waiting(1);
    assert_eq!(result(call), Err(timed_out(Completion::Maybe)));
    served.state.gate.open();
    served.end();
}

fn starting(request: Option<Duration>, reply: Option<Duration>) -> TimePolicies {
    let at = |after: Option<Duration>| SystemTime::now().checked_add(after?);
    TimePolicies {
        request_start: at(request),
        reply_start: at(reply),
        ..TimePolicies::NONE
    }
}

#[test]
fn a_request_is_sent_at_its_start_time_and_no_thread_waits_for_that() {
    let (scripted, mut peer) = Scripted::connected();
    with_time_enough(Duration::from_millis(50), |time| {
        let began = Instant::now();
        let later = scripted
            .object
            .with_time_policies(starting(Some(time), None));
        let later = echo(&later, 1);
        let at_once = echo(&scripted.object, 2);
        let in_time = began.elapsed() < time;
        let first = peer.expect_request("echo_long");
        let second = peer.expect_request("echo_long");
        let sent = began.elapsed();
        for request in [&first, &second] {
            peer.answer(request, |w| w.write_u32(argument(request)));
        }
        assert_eq!((result(later), result(at_once)), (Ok(1), Ok(2)));
        assert!(!in_time || (argument(&second) == 1 && sent >= time));
        in_time
    });
    scripted.end();
}

#[test]
fn a_reply_is_had_when_it_may_be() {
    let (scripted, mut peer) = Scripted::connected();
    with_time_enough(Duration::from_millis(50), |time| {
        let began = Instant::now();
        let later = scripted
            .object
            .with_time_policies(starting(None, Some(time)));
        let later = echo(&later, 1);
        answer(&mut peer, 1);
        let at_once = echo(&scripted.object, 2);
        answer(&mut peer, 1);
        assert_eq!(result(at_once), Ok(2));
        let had = later.is_ready(Some(Duration::ZERO));
        let in_time = began.elapsed() < time;
        assert!(!in_time || !had);
        assert_eq!(result(later), Ok(1));
        assert!(began.elapsed() >= time);
        in_time
    });
    scripted.end();
}
