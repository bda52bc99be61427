// SPDX-License-Identifier: MIT OR Apache-2.0
//! RequestStartTime and ReplyStartTime of CORBA Messaging, and short deadlines:
//! nothing comes too early, and nothing too late.

use std::thread;
use std::time::{Duration, SystemTime};

use orbium::giop::time::{EndTimes, UtcTime};
use orbium::giop::{ReplyStatus, ServiceContext, SystemExceptionBody, minor, service_context};
use orbium::{
    Completion, ExceptionKind, Interface, Orb, SystemException,
    config::{ClientStrategy, ServerStrategy},
    policy::TimePolicies,
};
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy, reach,
    reference, request, spawn_blocked, within,
};

const SHORT: Duration = Duration::from_millis(60);
const LONG: Duration = Duration::from_secs(3600);

/// TIMEOUT of a call that was not made.
const OVER: SystemException = SystemException::orbium(
    ExceptionKind::Timeout,
    minor::DEADLINE_PASSED,
    Completion::No,
);

fn client(client_strategy: ClientStrategy) -> Orb {
    Orb::new(calling_by(client_strategy)).unwrap()
}

fn request_start(start: SystemTime) -> TimePolicies {
    TimePolicies {
        request_start: Some(start),
        ..TimePolicies::NONE
    }
}

fn reply_start(start: SystemTime) -> TimePolicies {
    TimePolicies {
        reply_start: Some(start),
        ..TimePolicies::NONE
    }
}

/// Conformance: connections - RequestStartTime, ReplyStartTime: the client keeps both, within the
/// deadline; what could not begin, or be had, in time is TIMEOUT at once, nothing sent
#[test]
fn a_request_is_not_sent_before_its_start() {
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let text = reference(2, &[server.port()], b"x", &[]).to_string();
        for oneway in [false, true] {
            let client = client(strategy);
            let target = reach(&client, &text);
            let start = SystemTime::now() + SHORT;
            let later = target.with_time_policies(request_start(start).or(TimePolicies {
                roundtrip_timeout: (!oneway).then_some(LONG),
                ..TimePolicies::NONE
            }));
            let call = orbium_testkit::spawn(move || {
                if oneway {
                    later.post(1)
                } else {
                    later.echo_long(1).map(drop)
                }
            });
            let mut peer = server.accept();
            let request = peer.receive().request();
            assert!(SystemTime::now() >= start);
            // Deadlines are sent to servers, start times need not be.
            assert_eq!(request.contexts.is_empty(), oneway);
            if !oneway {
                peer.answer(&request, |w| w.write_u32(1));
            }
            within("the call", move || call.join().unwrap()).unwrap();
            peer.close();
        }
    });
}

/// Conformance: connections - RequestStartTime, ReplyStartTime: the client keeps both, within the
/// deadline; what could not begin, or be had, in time is TIMEOUT at once, nothing sent
#[test]
fn a_reply_is_not_had_before_its_start() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = client(strategy);
        let remote = served.seen_by(&client);
        for target in [&remote, &served.target] {
            let start = SystemTime::now() + SHORT;
            let later = target.with_time_policies(reply_start(start));
            assert_eq!(later.echo_long(5), Ok(5));
            assert!(SystemTime::now() >= start);
            let start = SystemTime::now() + SHORT;
            let later = target.with_time_policies(reply_start(start));
            assert!(later.refuse(3).is_err());
            assert!(SystemTime::now() >= start);
            let start = SystemTime::now() + SHORT;
            let later = target.with_time_policies(reply_start(start));
            assert_eq!(later.raise_system("NO_MEMORY").unwrap_err().minor, 77);
            assert!(SystemTime::now() >= start);
        }
        served.end();
    });
}

/// Conformance: connections - RequestStartTime, ReplyStartTime: the client keeps both, within the
/// deadline; what could not begin, or be had, in time is TIMEOUT at once, nothing sent
#[test]
fn a_start_in_the_past_holds_nothing_back() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (_client, target) = served.client();
    let past = SystemTime::now() - LONG;
    let target = target.with_time_policies(request_start(past).or(reply_start(past)));
    assert_eq!(target.echo_long(7), Ok(7));
    served.end();
}

/// Conformance: connections - RequestStartTime, ReplyStartTime: the client keeps both, within the
/// deadline; what could not begin, or be had, in time is TIMEOUT at once, nothing sent
#[test]
fn requests_that_could_not_be_in_time_are_not_sent() {
    each_client_strategy(|strategy| {
        let client = client(strategy);
        let server = FakeServer::listen();
        let text = reference(2, &[server.port()], b"x", &[]).to_string();
        let target = reach(&client, &text);
        let soon = TimePolicies {
            roundtrip_timeout: Some(LONG / 2),
            ..TimePolicies::NONE
        };
        let later = SystemTime::now() + LONG;
        for start in [request_start(later), reply_start(later)] {
            let target = target.with_time_policies(start.or(soon));
            assert_eq!(target.echo_long(1), Err(OVER));
        }
        let target = target.with_time_policies(request_start(later).or(soon));
        assert_eq!(target.post(1), Err(OVER));
        assert!(server.accept_at_once().is_none());
    });
}

/// Conformance: connections - RequestStartTime, ReplyStartTime: the client keeps both, within the
/// deadline; what could not begin, or be had, in time is TIMEOUT at once, nothing sent
#[test]
fn callers_held_back_are_notified_of_the_end_of_the_orb() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (client, target) = served.client();
    let target = target.with_time_policies(request_start(SystemTime::now() + LONG));
    let call = spawn_blocked(move || target.echo_long(1));
    within("the client's end", move || client.shutdown(true)).unwrap();
    let ended = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_eq!(ended.kind, ExceptionKind::BadInvOrder);
    assert_eq!(served.state.calls(), 0);
    served.end();
}

/// INVOCATION_POLICIES of a client that leaves it to the server to wait: a
/// RequestStartTime alone.
fn start_context(start: SystemTime) -> Vec<u8> {
    let ends = EndTimes {
        request: Some(UtcTime::from(start)),
        reply: None,
    };
    let mut data = ends.encode().as_slice().to_vec();
    data[8..12].copy_from_slice(&27_u32.to_ne_bytes());
    data
}

/// Conformance: connections - a request that a peer sends before its RequestStartTime: INV_POLICY,
/// completed NO
#[test]
fn a_request_that_comes_before_its_start_is_refused() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let now = SystemTime::now();
        for (start, is_early) in [(now + LONG, true), (now - LONG, false)] {
            let data = start_context(start);
            let contexts = [ServiceContext {
                id: service_context::INVOCATION_POLICIES,
                data: &data,
            }];
            let line = RequestLine {
                contexts: &contexts,
                ..RequestLine::new(2, "noop")
            };
            peer.send(&request(line, |_| {}));
            let reply = peer.receive();
            if !is_early {
                assert_eq!(reply.reply().1, ReplyStatus::NoException);
                continue;
            }
            let refused = reply.read(|reader| {
                orbium::giop::ReplyHeader::read(reader, 2).unwrap();
                SystemExceptionBody::read(reader).unwrap().exception()
            });
            assert_eq!(refused.kind, ExceptionKind::InvPolicy);
            assert_eq!(refused.completed, Completion::No);
            assert_eq!(served.state.calls(), 0);
        }
        served.end();
    });
}

/// A socket's own timeouts are counted in ticks of up to 10 ms: the answer is
/// there before they are over.
///
/// Conformance: connections - short deadlines are not rounded up to the ticks of the system, and an
/// answer that comes after its deadline is none
#[test]
fn an_answer_that_comes_a_little_late_is_late() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        served.state.on_act(|_, v| {
            thread::sleep(Duration::from_millis(2));
            Ok(v)
        });
        let client = client(strategy);
        for target in [&served.seen_by(&client), &served.target] {
            for _ in 0..10 {
                // Connected, so that nothing but the servant takes time.
                assert_eq!(target.act(1), Ok(1));
                let hurried = target.with_timeout(Duration::from_millis(1));
                let late = hurried.act(1).unwrap_err();
                assert_eq!(late.kind, ExceptionKind::Timeout);
            }
        }
        served.end();
    });
}
