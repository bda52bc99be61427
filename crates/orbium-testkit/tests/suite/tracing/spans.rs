// SPDX-License-Identifier: MIT OR Apache-2.0
//! A span for each call and each request: attributes, values, parents.

use std::time::Duration;

use orbium::{Config, Interface, ObjectRef, Orb, config::ServerStrategy, lane::Priority};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy,
    in_own_process, reach, reference, request, within,
};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::{expect, of, recording};

/// Conformance: robustness - a call and its request have spans with the attributes of
/// OpenTelemetry's conventions; the servant's events and calls are within its request's
#[test]
fn a_call_and_its_request_have_spans_in_every_server_strategy() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let count = log.spans("call").len() + 1;
            let served = Served::new(strategy);
            let (_client, target) = served.client();
            assert_eq!(target.echo_long(7), Ok(7));
            let call = log.ended("call", count).pop().unwrap();
            let request = log.ended("request", count).pop().unwrap();
            let port = served.port().to_string();
            let common = [
                ("otel.name", "Probe::Target/echo_long"),
                ("rpc.method", "Probe::Target/echo_long"),
                ("rpc.system.name", "corba"),
                ("rpc.status_code", "NO_EXCEPTION"),
                ("network.peer.address", "127.0.0.1"),
                ("corba.interface.repository_id", "IDL:Probe/Target:1.0"),
                ("corba.transport", "iiop"),
                ("corba.giop.version", "1.2"),
                ("corba.oneway", "false"),
                // What there is not.
                ("error.type", ""),
                ("otel.status_code", ""),
                ("corba.priority", ""),
                ("corba.deadline_remaining_us", ""),
                ("corba.deadline.missed", ""),
                ("corba.completed", ""),
                ("corba.minor", ""),
            ];
            expect(&call, &common);
            expect(&request, &common);
            let of_call = [
                ("otel.kind", "client"),
                ("server.address", "127.0.0.1"),
                ("server.port", &port),
                ("network.peer.port", &port),
                ("corba.forwards", ""),
                ("corba.retries", ""),
                ("corba.phase", ""),
            ];
            expect(&call, &of_call);
            let of_request = [
                ("otel.kind", "server"),
                ("rpc.method_original", ""),
                ("corba.poa", "RootPOA"),
                ("corba.lane", "orb"),
            ];
            expect(&request, &of_request);
            assert!(request.get("corba.request_id").parse::<u32>().is_ok());
            // Calls once had no such attribute.
            assert_eq!(
                call.get("corba.request_id"),
                request.get("corba.request_id")
            );
            assert!(request.get("corba.conn").parse::<u64>().is_ok());
            assert_ne!(request.get("network.peer.port"), port);
            // Both name the object by the same text.
            assert!(call.get("corba.object.key").contains('#'));
            assert_eq!(
                call.get("corba.object.key"),
                request.get("corba.object.key")
            );
            for (span, target) in [(&call, "orbium::call"), (&request, "orbium::request")] {
                assert_eq!(span.metadata.target(), target);
                assert_eq!(*span.metadata.level(), Level::DEBUG);
                assert_eq!(span.parent, None);
            }
            served.end();
        });
    });
}

/// Conformance: robustness - a call and its request have spans with the attributes of
/// OpenTelemetry's conventions; the servant's events and calls are within its request's
#[test]
fn a_call_has_a_span_in_every_client_strategy() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        each_client_strategy(|strategy| {
            let count = log.spans("call").len() + 1;
            let client = Orb::new(calling_by(strategy)).unwrap();
            served.seen_by(&client).noop().unwrap();
            let call = log.ended("call", count).pop().unwrap();
            let port = served.port().to_string();
            let expected = [
                ("rpc.method", "Probe::Target/noop"),
                ("network.peer.port", &port),
            ];
            expect(&call, &expected);
            let request = log.ended("request", count).pop().unwrap();
            assert!(request.get("corba.request_id").parse::<u32>().is_ok());
            assert_eq!(
                call.get("corba.request_id"),
                request.get("corba.request_id"),
                "{strategy:?}"
            );
            client.shutdown(true).unwrap();
        });
        served.end();
    });
}

/// The servant's own events are within the span of its request, and so are the calls that
/// it makes.
///
/// Conformance: robustness - a call and its request have spans with the attributes of
/// OpenTelemetry's conventions; the servant's events and calls are within its request's
#[test]
fn logs_and_calls_of_a_servant_are_within_the_span_of_its_request() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let count = log.spans("call").len() + 2;
            let (outer, inner) = (Served::new(strategy), Served::new(strategy));
            let inner_seen = inner.seen_by(&outer.orb);
            outer.state.on_act(move |_, v| {
                tracing::info!(target: "test", "in the servant");
                inner_seen.echo_long(v)
            });
            let (_client, target) = outer.client();
            let outermost = tracing::info_span!(target: "test", "program");
            assert_eq!(outermost.in_scope(|| target.act(5)), Ok(5));
            let calls = log.ended("call", count);
            let requests = log.ended("request", count);
            let last = |spans: &[orbium_testkit::RecordedSpan], method| {
                let mut of_method = spans
                    .iter()
                    .rev()
                    .filter(|it| it.get("rpc.method") == method);
                of_method.next().cloned().unwrap()
            };
            let act = last(&calls, "Probe::Target/act");
            assert_eq!(act.parent, outermost.id().map(|id| id.into_u64()));
            let serving = last(&requests, "Probe::Target/act");
            // No context travels with a request: it is the first of a trace.
            assert_eq!(serving.parent, None);
            let nested = last(&calls, "Probe::Target/echo_long");
            assert_eq!(nested.parent, Some(serving.id));
            assert_eq!(last(&requests, "Probe::Target/echo_long").parent, None);
            let inside = log.events("in the servant").pop().unwrap();
            assert_eq!(inside.span, Some(serving.id));
            outer.end();
            inner.end();
        });
    });
}

/// The thread that waits for a reply by its reactor dispatches upcalls as well: what these call
/// is no part of its call.
#[test]
fn a_request_served_while_a_call_waits_is_no_part_of_that_call() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        let other = Served::new(ServerStrategy::Reactive);
        let (back, there) = (
            served.target.clone(),
            served.orb.object_to_string(&other.target),
        );
        let there: orbium_testkit::probe::Target = reach(&served.orb, &there);
        // The other calls back what waits for it.
        served.state.on_act(move |_, v| there.nest(Some(&back), v));
        let (_client, target) = served.client();
        assert_eq!(within("the call", move || target.act(3)), Ok(3));
        let requests = log.ended("request", 5);
        assert!(
            requests.iter().all(|it| it.parent.is_none()),
            "{requests:#?}"
        );
        served.end();
        other.end();
    });
}

#[test]
fn a_collocated_request_is_part_of_its_call() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        served.target.echo_long(1).unwrap();
        served.target.refuse(4).unwrap_err();
        let calls = log.ended("call", 2);
        let requests = log.ended("request", 2);
        for (call, request) in calls.iter().zip(&requests) {
            assert_eq!(request.parent, Some(call.id));
            expect(
                call,
                &[
                    ("corba.transport", "collocated"),
                    ("network.peer.address", ""),
                ],
            );
            expect(
                request,
                &[("corba.transport", "collocated"), ("corba.poa", "RootPOA")],
            );
        }
        for span in [&calls[1], &requests[1]] {
            expect(span, &[("error.type", "Probe::Refused")]);
        }
        served.end();
    });
}

#[test]
fn exceptions_are_recorded_on_both_sides() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let count = log.spans("call").len() + 3;
            let served = Served::new(strategy);
            served.state.on_act(|_, _| panic!("on purpose"));
            let (_client, target) = served.client();
            target.refuse(3).unwrap_err();
            target.raise_system("NO_MEMORY").unwrap_err();
            target.act(1).unwrap_err();
            for spans in [log.ended("call", count), log.ended("request", count)] {
                let spans = &spans[count - 3..];
                let refused = [
                    ("rpc.status_code", "USER_EXCEPTION"),
                    ("error.type", "Probe::Refused"),
                    ("otel.status_code", ""),
                    ("corba.completed", ""),
                ];
                expect(of(spans, "Probe::Target/refuse"), &refused);
                let no_memory = [
                    ("rpc.status_code", "SYSTEM_EXCEPTION"),
                    ("error.type", "CORBA::NO_MEMORY"),
                    ("otel.status_code", "ERROR"),
                    ("corba.completed", "NO"),
                    ("corba.minor", "77"),
                ];
                expect(of(spans, "Probe::Target/raise_system"), &no_memory);
                let panicked = [
                    ("rpc.status_code", "SYSTEM_EXCEPTION"),
                    ("error.type", "CORBA::UNKNOWN"),
                    ("corba.completed", "MAYBE"),
                ];
                expect(of(spans, "Probe::Target/act"), &panicked);
            }
            let calls = log.spans("call");
            expect(calls.last().unwrap(), &[("corba.phase", "wait")]);
            served.end();
        });
    });
}

#[test]
fn a_oneway_has_spans_without_a_status() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::LeaderFollowers { threads: 2 });
        let (_client, target) = served.client();
        target.post(1).unwrap();
        let spans = [log.ended("call", 1), log.ended("request", 1)].concat();
        for span in &spans {
            let expected = [
                ("rpc.method", "Probe::Target/post"),
                ("corba.oneway", "true"),
                ("rpc.status_code", ""),
                ("error.type", ""),
            ];
            expect(span, &expected);
        }
        served.end();
    });
}

static ECHO: Operation = Operation::of("IDL:Probe/Target:1.0", "echo_long");
static RAISE: Operation = Operation::of("IDL:Probe/Target:1.0", "raise_system");
static REFUSE: Operation = Operation::of("IDL:Probe/Target:1.0", "refuse");

fn echo(object: &ObjectRef, v: i32) -> orbium::asynchronous::Asynchronous<i32> {
    object.call_async(&ECHO, v, Encode::encode, i32::decode)
}

/// Conformance: robustness - a call and its request have spans with the attributes of
/// OpenTelemetry's conventions; the servant's events and calls are within its request's
#[test]
fn an_asynchronous_call_has_a_span_until_its_answer_is_there() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        let (_client, target) = served.client();
        let object = target.as_object().clone();
        let outermost = tracing::info_span!(target: "test", "program");
        let call = outermost.in_scope(|| echo(&object, 3));
        assert_eq!(call.wait(), Ok(3));
        let name = String::from("NO_MEMORY");
        let call: orbium::asynchronous::Asynchronous<()> =
            object.call_async(&RAISE, name, Encode::encode, |_| Ok(()));
        call.wait().unwrap_err();
        let call: orbium::asynchronous::Asynchronous<i32> =
            object.call_async(&REFUSE, 3, Encode::encode, i32::decode);
        call.wait().unwrap_err();
        // Within the process a thread of the ORB makes the call.
        assert_eq!(echo(served.target.as_object(), 4).wait(), Ok(4));
        let calls = log.ended("call", 4);
        let requests = log.ended("request", 4);
        let port = served.port().to_string();
        let expected = [
            ("rpc.method", "Probe::Target/echo_long"),
            ("rpc.status_code", "NO_EXCEPTION"),
            ("network.peer.port", &port),
            ("server.port", &port),
            ("corba.transport", "iiop"),
        ];
        expect(&calls[0], &expected);
        for (call, request) in calls.iter().zip(&requests).take(3) {
            let id = call.get("corba.request_id");
            assert!(id.parse::<u32>().is_ok(), "{call:#?}");
            assert_eq!(id, request.get("corba.request_id"));
        }
        assert_eq!(calls[0].parent, outermost.id().map(|id| id.into_u64()));
        let failed = [
            ("rpc.status_code", "SYSTEM_EXCEPTION"),
            ("error.type", "CORBA::NO_MEMORY"),
            ("corba.phase", "wait"),
        ];
        expect(&calls[1], &failed);
        let refused = [
            ("rpc.status_code", "USER_EXCEPTION"),
            ("error.type", "Probe::Refused"),
        ];
        expect(&calls[2], &refused);
        expect(&calls[3], &[("corba.transport", "collocated")]);
        assert_eq!(requests[3].parent, Some(calls[3].id));
        // One that is given up ends too.
        drop(echo(&object, 5));
        let _ = log.ended("call", 5);
        served.end();
    });
}

#[test]
fn deadlines_and_whether_they_were_missed_are_recorded() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let (_client, target) = served.client();
        let timed = |time| Interface::from_object(target.as_object().with_timeout(time));
        let long: orbium_testkit::probe::Target = timed(Duration::from_secs(600));
        long.noop().unwrap();
        let call = log.ended("call", 1).pop().unwrap();
        let request = log.ended("request", 1).pop().unwrap();
        for span in [&call, &request] {
            let left: u64 = span.get("corba.deadline_remaining_us").parse().unwrap();
            assert!((1..=600_000_000).contains(&left), "{left}");
            expect(span, &[("corba.deadline.missed", "false")]);
        }
        let short: orbium_testkit::probe::Target = timed(Duration::from_millis(100));
        let late = within("the call", move || short.gate()).unwrap_err();
        served.state.gate.open();
        assert_eq!(late.kind, orbium::ExceptionKind::Timeout);
        let missed = [("corba.deadline.missed", "true")];
        expect(log.ended("call", 2).last().unwrap(), &missed);
        expect(log.ended("request", 2).last().unwrap(), &missed);
        let failed = [("error.type", "CORBA::TIMEOUT"), ("corba.phase", "wait")];
        expect(log.spans("call").last().unwrap(), &failed);
        served.end();
    });
}

#[test]
fn a_request_that_changes_its_lane_has_one_span_there() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let before = log.spans("request").len();
            let served = Served::new(strategy);
            let lane = served.orb.add_lane(&orbium::lane::LaneConfig {
                name: "control".into(),
                priority: Priority::new(20),
                strategy,
                ..orbium::lane::LaneConfig::default()
            });
            let policies = orbium::poa::Policies {
                lanes: vec![lane.unwrap()],
                ..orbium::poa::Policies::default()
            };
            let root = served.orb.root_poa();
            let poa = root
                .create_poa("control", Some(root.manager()), policies)
                .unwrap();
            let state = std::sync::Arc::new(orbium_testkit::TargetState::default());
            state.on_act(|_, v| {
                tracing::info!(target: "test", "in the lane");
                Ok(v)
            });
            let object: orbium_testkit::probe::Target = poa.activate(state).unwrap();
            served.orb.bind_key_in_place("Control", &object).unwrap();
            let client = orbium_testkit::client();
            let at = format!("corbaloc::127.0.0.1:{}/Control", served.port());
            let target: orbium_testkit::probe::Target = reach(&client, &at);
            assert_eq!(target.act(1), Ok(1));
            let request = log.ended("request", before + 1).pop().unwrap();
            let expected = [
                ("corba.lane", "control"),
                ("corba.priority", "20"),
                ("corba.poa", "RootPOA/control"),
                ("rpc.status_code", "NO_EXCEPTION"),
            ];
            expect(&request, &expected);
            assert_eq!(
                log.events("in the lane").pop().unwrap().span,
                Some(request.id)
            );
            served.end();
        });
    });
}

#[test]
fn the_priority_of_the_caller_is_recorded() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        let (_client, target) = served.client();
        orbium::lane::priority::while_at(Priority::new(7), || target.noop()).unwrap();
        expect(&log.ended("call", 1)[0], &[("corba.priority", "7")]);
        served.end();
    });
}

/// A peer must not invent methods: each would be a series of its own at the backend.
#[test]
fn an_operation_that_no_skeleton_knows_is_other() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        let mut peer = Peer::connect(served.port());
        let long = format!("line\n{}", "x".repeat(200));
        peer.send(&request(RequestLine::new(1, &long), |_| {}));
        let _ = peer.receive().reply();
        let line = RequestLine {
            key: b"nowhere",
            ..RequestLine::new(2, "noop")
        };
        peer.send(&request(line, |_| {}));
        let _ = peer.receive().reply();
        let requests = log.ended("request", 2);
        let original = format!("line\\n{}", "x".repeat(59));
        let unknown = [
            ("rpc.method", "_OTHER"),
            ("rpc.method_original", original.as_str()),
            ("corba.interface.repository_id", "IDL:Probe/Target:1.0"),
            ("error.type", "CORBA::BAD_OPERATION"),
            ("corba.request_id", "1"),
        ];
        expect(&requests[0], &unknown);
        let nowhere = [
            ("rpc.method", "_OTHER"),
            ("rpc.method_original", "noop"),
            ("error.type", "CORBA::OBJECT_NOT_EXIST"),
            ("corba.poa", ""),
        ];
        expect(&requests[1], &nowhere);
        drop(peer);
        served.end();
    });
}

#[test]
fn operations_that_every_object_has_are_for_trace() {
    in_own_process!(|| {
        let log = orbium_testkit::Recorder::install(LevelFilter::TRACE);
        let served = Served::new(ServerStrategy::Reactive);
        let (_client, target) = served.client();
        target.as_object().is_a("IDL:Probe/Target:1.1").unwrap();
        let spans = [log.ended("call", 1), log.ended("request", 1)].concat();
        for span in &spans {
            assert_eq!(*span.metadata.level(), Level::TRACE);
            assert!(span.get("rpc.method").ends_with("/_is_a"), "{span:#?}");
        }
        served.end();
    });
}

#[test]
fn at_debug_operations_that_every_object_has_leave_no_span() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::new(ServerStrategy::Reactive);
        let (_client, target) = served.client();
        target.as_object().is_a("IDL:Probe/Target:1.1").unwrap();
        target.noop().unwrap();
        let _ = (log.ended("call", 1), log.ended("request", 1));
        served.end();
    });
}

#[test]
fn forwards_and_retries_are_counted_in_the_span_of_the_whole_call() {
    in_own_process!(|| {
        let log = recording();
        let (first, second) = (FakeServer::listen(), FakeServer::listen());
        let client = Orb::new(Config::default()).unwrap();
        let here = reference(2, &[first.port()], b"here", &[]).to_string();
        let there = reference(2, &[second.port()], b"there", &[]);
        let target: orbium_testkit::probe::Target = reach(&client, &here);
        let call = orbium_testkit::spawn(move || target.echo_long(1));
        let mut peer = first.accept();
        let asked = peer.expect_request("echo_long");
        peer.forward(&asked, &there);
        let mut peer = second.accept();
        peer.expect_request("echo_long");
        // In order, before the request was begun: it is sent again.
        peer.close();
        let mut peer = second.accept();
        let asked = peer.expect_request("echo_long");
        peer.answer(&asked, |w| w.write_u32(1));
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(1));
        let call = log.ended("call", 1).pop().unwrap();
        let (named, reached) = (first.port().to_string(), second.port().to_string());
        let expected = [
            ("corba.forwards", "1"),
            ("corba.retries", "1"),
            ("server.port", &named),
            ("network.peer.port", &reached),
            ("rpc.status_code", "NO_EXCEPTION"),
        ];
        expect(&call, &expected);
        let followed = log.event("forward followed", |_| true);
        assert_eq!(followed.span, Some(call.id));
        assert_eq!(followed.get("from"), format!("iiop://127.0.0.1:{named}"));
        assert_eq!(followed.get("to"), format!("iiop://127.0.0.1:{reached}"));
        assert_eq!(*followed.metadata.level(), Level::INFO);
        let again = log.event("call is made again", |_| true);
        assert_eq!(again.get("cause"), "stale_connection");
        assert_eq!(again.get("address"), format!("iiop://127.0.0.1:{reached}"));
        assert_eq!(*again.metadata.level(), Level::INFO);
    });
}
