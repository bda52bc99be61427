// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time policies of CORBA Messaging: what they come to on the client, that
//! they travel, and that a server does not begin what is too late.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orbium::giop::time::{EndTimes, TimeLeft, UtcTime};
use orbium::giop::{ReplyStatus, ServiceContext, SystemExceptionBody, minor, service_context};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException, config::ServerStrategy,
    policy::TimePolicies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Request, RequestLine, Served, calling_by, client, each_client_strategy,
    each_pair, each_strategy, eventually, reach, reference, request, with_time_enough, within,
};

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(3600);

fn roundtrip(timeout: Duration) -> TimePolicies {
    TimePolicies {
        roundtrip_timeout: Some(timeout),
        ..TimePolicies::NONE
    }
}

fn within_time(request_timeout: Duration) -> TimePolicies {
    TimePolicies {
        request_timeout: Some(request_timeout),
        ..TimePolicies::NONE
    }
}

/// A server that does nothing by itself, and its object seen by `client`.
fn scripted(client: &Orb) -> (FakeServer, Target) {
    let server = FakeServer::listen();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let target = reach(client, &text);
    (server, target)
}

/// What TIMEOUT a server refuses a late request with.
fn late(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::Timeout, minor, Completion::No)
}

/// Conformance: connections - a deadline in the past: TIMEOUT at once, nothing sent
/// Conformance: faults - a deadline in the past, at the client and at the server; one that passes
/// within the call: TIMEOUT; at the server 2 or 3
#[test]
fn expired_requests_are_not_sent() {
    each_client_strategy(|client_strategy| {
        let client = Orb::new(calling_by(client_strategy)).unwrap();
        let (server, target) = scripted(&client);
        let past = SystemTime::now() - LONG;
        let over = SystemException::orbium(
            ExceptionKind::Timeout,
            minor::DEADLINE_PASSED,
            Completion::No,
        );
        for times in [
            TimePolicies {
                reply_end: Some(past),
                ..TimePolicies::NONE
            },
            TimePolicies {
                request_end: Some(past),
                ..TimePolicies::NONE
            },
            within_time(Duration::ZERO),
        ] {
            let target = target.with_time_policies(times);
            assert_eq!(target.echo_long(1), Err(over));
            assert_eq!(target.post(1), Err(over));
            assert_eq!(target.as_object().locate(), Err(over));
        }
        client.set_thread_time_policies(roundtrip(Duration::ZERO));
        assert_eq!(target.echo_long(1), Err(over));
        client.set_thread_time_policies(TimePolicies::NONE);
        // Nothing was even connected.
        assert!(server.accept_at_once().is_none());
        let call = orbium_testkit::spawn(move || target.echo_long(5));
        let mut peer = server.accept();
        let first = peer.expect_request("echo_long");
        assert_eq!(first.contexts, []);
        peer.answer(&first, |w| w.write_u32(5));
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(5));
    });
}

/// Makes a call and shows what the server gets.
fn seen(server: &FakeServer, target: Target) -> Request {
    let call = orbium_testkit::spawn(move || target.echo_long(1));
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(1));
    peer.close();
    request
}

fn contexts_of(request: &Request) -> (TimeLeft, EndTimes) {
    let data = |id| {
        let mut contexts = request.contexts.iter();
        let found = contexts.find(|(found, _)| *found == id);
        &found.expect("the context").1
    };
    (
        TimeLeft::decode(data(service_context::ORBIUM_TIME_LEFT)).unwrap(),
        EndTimes::decode(data(service_context::INVOCATION_POLICIES)).unwrap(),
    )
}

/// Conformance: connections - deadlines travel with requests (INVOCATION_POLICIES, and the time
/// that remains) and are per ORB, thread and reference
#[test]
fn deadlines_travel_with_the_request() {
    let client = client();
    let (server, target) = scripted(&client);
    let before = UtcTime::from(SystemTime::now() + LONG);
    let request = seen(&server, target.with_time_policies(roundtrip(LONG)));
    let (left, ends) = contexts_of(&request);
    let after = UtcTime::from(SystemTime::now() + LONG);
    assert_eq!((left.request, ends.request), (None, None));
    assert!(left.reply.unwrap() <= LONG && left.reply.unwrap() > LONG / 2);
    // To a millisecond: two clocks are read one after the other.
    let slack = 10_000;
    let end = ends.reply.unwrap().0;
    assert!((before.0 - slack..=after.0 + slack).contains(&end));

    let both = within_time(LONG / 2).or(TimePolicies {
        reply_end: Some(SystemTime::now() + LONG),
        ..TimePolicies::NONE
    });
    let (left, ends) = contexts_of(&seen(&server, target.with_time_policies(both)));
    assert!(left.request.unwrap() <= LONG / 2);
    assert!(left.reply.unwrap() > LONG / 2);
    assert!(ends.request < ends.reply);

    // As often as a request is sent again, with what is left then.
    let hurried = target.with_timeout(LONG);
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let mut peer = server.accept();
    let (first, _) = contexts_of(&peer.expect_request("echo_long"));
    peer.close();
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    assert!(contexts_of(&request).0.reply < first.reply);
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(1));
}

/// Conformance: connections - deadlines travel with requests (INVOCATION_POLICIES, and the time
/// that remains) and are per ORB, thread and reference
#[test]
fn deadlines_that_are_to_be_kept_do_not_travel() {
    let client = Orb::new(Config {
        call_timeout: Some(LONG),
        keeps_deadlines: true,
        ..Config::default()
    })
    .unwrap();
    let (server, target) = scripted(&client);
    assert_eq!(seen(&server, target).contexts, []);
}

/// Conformance: connections - deadlines travel with requests (INVOCATION_POLICIES, and the time
/// that remains) and are per ORB, thread and reference
/// Conformance: ORB - policies of references and threads, `validate_connection` - of time
/// Conformance: TAO 23 - time-outs at object and ORB level, the late reply discarded - at thread
/// level
/// Conformance: TAO 38 - concurrent policy overrides
#[test]
fn the_narrowest_policy_holds() {
    let client = Orb::new(Config {
        call_timeout: Some(LONG),
        request_timeout: Some(LONG / 2),
        ..Config::default()
    })
    .unwrap();
    let (server, target) = scripted(&client);
    let sent_by = |target: &Target| contexts_of(&seen(&server, target.clone())).0;
    let is = |left: Option<Duration>, bound: Duration| {
        left.is_some_and(|left| left <= bound && left > bound / 2)
    };
    let left = sent_by(&target);
    assert!(is(left.request, LONG / 2) && is(left.reply, LONG));
    let own = target.with_time_policies(within_time(LONG / 8));
    let left = sent_by(&own);
    assert!(is(left.request, LONG / 8) && is(left.reply, LONG));
    // Of this thread alone, and not before the reference's.
    client.set_thread_time_policies(within_time(LONG / 32));
    let on_this_thread = |target: &Target| {
        let server = &server;
        thread::scope(|scope| {
            let peer = scope.spawn(move || {
                let mut peer = server.accept();
                let request = peer.expect_request("echo_long");
                peer.answer(&request, |w| w.write_u32(1));
                peer.close();
                contexts_of(&request).0
            });
            assert_eq!(target.echo_long(1), Ok(1));
            peer.join().unwrap()
        })
    };
    assert!(is(on_this_thread(&target).request, LONG / 32));
    assert!(is(on_this_thread(&own).request, LONG / 8));
    assert!(is(sent_by(&target).request, LONG / 2));
    client.set_thread_time_policies(TimePolicies::NONE);
    assert!(is(on_this_thread(&target).request, LONG / 2));
}

/// Sends a request with contexts, and gives the exception it is answered with.
fn refused(peer: &mut Peer, contexts: &[(u32, &[u8])]) -> Option<SystemException> {
    let contexts: Vec<_> = contexts
        .iter()
        .map(|&(id, data)| ServiceContext { id, data })
        .collect();
    let line = RequestLine {
        contexts: &contexts,
        ..RequestLine::new(2, "noop")
    };
    peer.send(&request(line, |_| {}));
    let reply = peer.receive();
    match reply.reply().1 {
        ReplyStatus::NoException => None,
        _ => Some(reply.read(|reader| {
            orbium::giop::ReplyHeader::read(reader, 2).unwrap();
            SystemExceptionBody::read(reader).unwrap().exception()
        })),
    }
}

/// Conformance: connections - a request is not dispatched after its deadline: TIMEOUT 2 or 3,
/// completed NO; held by a manager, or waiting behind others, included
/// Conformance: faults - a deadline in the past, at the client and at the server; one that passes
/// within the call: TIMEOUT; at the server 2 or 3
#[test]
fn late_requests_are_not_dispatched() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let past = Some(UtcTime::from(SystemTime::now() - LONG));
        let future = Some(UtcTime::from(SystemTime::now() + LONG));
        let policies = service_context::INVOCATION_POLICIES;
        let of = |request, reply| EndTimes { request, reply }.encode();
        for (ends, outcome) in [
            (of(past, None), Some(late(2))),
            (of(None, past), Some(late(3))),
            (of(future, past), Some(late(3))),
            (of(past, future), Some(late(2))),
            (of(future, future), None),
            (of(None, None), None),
        ] {
            let before = served.state.calls();
            let answer = refused(&mut peer, &[(policies, ends.as_slice())]);
            assert_eq!(answer, outcome);
            let served_now = u64::from(outcome.is_none());
            assert_eq!(served.state.calls() - before, served_now);
        }
        // The time left is no better, where the clock is not ours.
        let left = TimeLeft {
            request: Some(Duration::ZERO),
            reply: None,
        };
        let left = left.encode();
        let answer = refused(
            &mut peer,
            &[(service_context::ORBIUM_TIME_LEFT, left.as_slice())],
        );
        assert_eq!(answer, Some(late(2)));
        // What cannot be read is refused, and the connection goes on.
        let answer = refused(&mut peer, &[(policies, &[1, 0, 0])]);
        assert_eq!(answer.unwrap().kind, ExceptionKind::Marshal);
        assert_eq!(refused(&mut peer, &[]), None);
        served.end();
    });
}

/// Requests of so much time are held for longer; whether they were sent in time.
fn are_held_too_long(config: Config, time: Duration) -> bool {
    let served = Served::with(config.clone());
    let client = Orb::new(Config {
        endpoints: Vec::new(),
        ..config
    });
    let client = client.unwrap();
    let target = served.seen_by(&client);
    // Connected, so that nothing but the manager takes time.
    assert_eq!(target.echo_long(1), Ok(1));
    let manager = served.orb.root_poa().manager();
    manager.hold_requests(true).unwrap();
    let hurried = target.with_time_policies(within_time(time));
    let call = orbium_testkit::spawn(move || hurried.act(1));
    let answer = within("the answer", move || call.join().unwrap());
    // A oneway has no reply.
    let posted = target.with_timeout(time).post(7);
    let not_sent = SystemException::orbium(
        ExceptionKind::Timeout,
        minor::DEADLINE_PASSED,
        Completion::No,
    );
    let in_time = answer != Err(not_sent) && posted != Err(not_sent);
    if in_time {
        // The server says so itself: the client would wait.
        assert_eq!(answer, Err(late(2)));
        posted.unwrap();
        target.post(8).unwrap();
        thread::sleep(3 * time);
        manager.activate().unwrap();
        eventually("the other one", || served.state.posted().contains(&8));
        assert_eq!(target.echo_long(2), Ok(2));
        assert_eq!(served.state.posted(), [8]);
    }
    served.end();
    in_time
}

/// Conformance: connections - a request is not dispatched after its deadline: TIMEOUT 2 or 3,
/// completed NO; held by a manager, or waiting behind others, included
/// Conformance: TAO 22 - time-outs bound oneways - a oneway that waits at the server beyond its
/// time is dropped
#[test]
fn requests_held_too_long_are_not_dispatched() {
    each_pair(|config| {
        with_time_enough(SHORT, |time| are_held_too_long(config.clone(), time));
    });
}

/// A reactor that is busy reads nothing: what waits in the socket waits in a
/// queue too.
///
/// Conformance: connections - a request is not dispatched after its deadline: TIMEOUT 2 or 3,
/// completed NO; held by a manager, or waiting behind others, included
#[test]
fn requests_waiting_behind_another_too_long_are_not_dispatched() {
    let (workers, queue) = (1, 16);
    for strategy in [
        ServerStrategy::Reactive,
        ServerStrategy::WorkerPool { workers, queue },
    ] {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let slow = target.clone();
        let blocking = orbium_testkit::spawn(move || slow.gate());
        served.state.gate.await_waiting(1);
        let before = served.state.calls();
        // The client itself would wait. An end is over in time, whenever the call begins.
        let hurried = target.with_time_policies(TimePolicies {
            request_end: Some(SystemTime::now() + SHORT),
            ..TimePolicies::NONE
        });
        let call = orbium_testkit::spawn(move || hurried.echo_long(1));
        thread::sleep(3 * SHORT);
        served.state.gate.open();
        within("the other call", move || blocking.join().unwrap()).unwrap();
        let answer = within("the call", move || call.join().unwrap()).unwrap_err();
        assert_eq!(
            (answer.kind, answer.completed),
            (ExceptionKind::Timeout, Completion::No)
        );
        assert_eq!(target.echo_long(2), Ok(2));
        // The last one alone.
        assert_eq!(served.state.calls() - before, 1);
        served.end();
    }
}

#[test]
fn servants_can_know_how_long_they_have() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (client, target) = served.client();
        let collocated = reach(&served.orb, &client.object_to_string(&target));
        let known = Arc::new(Mutex::new(None));
        let note = Arc::clone(&known);
        served.state.on_act(move |call, v| {
            *note.lock().unwrap() = Some(call.deadline());
            Ok(v)
        });
        for target in [target, collocated] {
            assert_eq!(target.act(1), Ok(1));
            assert_eq!(*known.lock().unwrap(), Some(None));
            assert_eq!(target.with_timeout(LONG).act(1), Ok(1));
            let deadline = known.lock().unwrap().flatten().unwrap();
            let left = deadline.saturating_duration_since(Instant::now());
            // Clocks are read one after the other.
            let slack = Duration::from_millis(1);
            assert!(left > LONG / 2 && left <= LONG + slack, "{left:?}");
        }
        served.end();
    });
}
