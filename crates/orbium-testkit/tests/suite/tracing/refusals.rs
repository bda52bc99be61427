// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log events of refusals, once for each cause.

use std::time::Duration;

use orbium::giop::time::TimeLeft;
use orbium::giop::{ServiceContext, service_context};
use orbium::{
    Config,
    config::{Limits, ServerStrategy},
    poa::Policies,
};
use orbium_core::{Dispatch, DispatchHook, Hook, RequestInfo};
use orbium_testkit::{
    Peer, Recorder, RequestLine, Served, each_strategy, eventually, in_own_process, request,
};
use tracing::Level;
use tracing::level_filters::LevelFilter;

/// The warning of a cause that an ORB gives now, after `before` of them.
fn refusal(log: &Recorder, cause: &str, before: usize) -> orbium_testkit::RecordedEvent {
    let of_cause = || {
        let refusals = log.events("refused").into_iter();
        refusals
            .filter(|it| it.get("cause") == cause)
            .collect::<Vec<_>>()
    };
    eventually("the refusal is logged", || of_cause().len() > before);
    let refusals = of_cause();
    assert_eq!(refusals.len(), before + 1, "{refusals:#?}");
    let refusal = refusals.last().unwrap().clone();
    assert_eq!(*refusal.metadata.level(), Level::WARN);
    assert!(refusal.get("peer").contains("127.0.0.1:"), "{refusal:#?}");
    refusal
}

fn count(log: &Recorder, cause: &str) -> usize {
    let refusals = log.events("refused").into_iter();
    refusals.filter(|it| it.get("cause") == cause).count()
}

/// Peers decide how often: a second line within ten seconds would be theirs.
///
/// Conformance: robustness - connections, references, forwards, retries, refusals and panics are
/// logged, and nothing unasked or per request at INFO
#[test]
fn an_unknown_object_is_logged_once_however_often_it_is_called() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        each_strategy(|strategy| {
            let before = count(&log, "unknown_object");
            let served = Served::new(strategy);
            let mut peer = Peer::connect(served.port());
            for id in 0..50 {
                let line = RequestLine {
                    key: b"nowhere",
                    ..RequestLine::new(id, "noop")
                };
                peer.send(&request(line, |_| {}));
                let _ = peer.receive().reply();
            }
            let refused = refusal(&log, "unknown_object", before);
            assert_eq!(refused.metadata.target(), "orbium::request");
            assert_eq!(refused.get("operation"), "noop");
            assert_eq!(refused.get("suppressed"), "0");
            assert!(refused.get("error").contains("OBJECT_NOT_EXIST"));
            drop(peer);
            served.end();
        });
    });
}

#[test]
fn an_adapter_that_discards_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let (_client, target) = served.client();
        served
            .orb
            .root_poa()
            .manager()
            .discard_requests(true)
            .unwrap();
        target.noop().unwrap_err();
        assert!(
            refusal(&log, "not_active", 0)
                .get("error")
                .contains("TRANSIENT")
        );
        served.end();
    });
}

#[test]
fn a_request_with_a_deadline_in_the_past_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        let served = Served::new(ServerStrategy::WorkerPool {
            workers: 1,
            queue: 16,
        });
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(1, "gate"), |_| {}));
        served.state.gate.await_waiting(1);
        let left = TimeLeft {
            request: None,
            reply: Some(Duration::from_millis(1)),
        };
        let left = left.encode();
        let line = RequestLine {
            contexts: &[ServiceContext {
                id: service_context::ORBIUM_TIME_LEFT,
                data: left.as_slice(),
            }],
            ..RequestLine::new(2, "noop")
        };
        peer.send(&request(line, |_| {}));
        std::thread::sleep(Duration::from_millis(20));
        served.state.gate.open();
        assert!(
            refusal(&log, "deadline", 0)
                .get("error")
                .contains("TIMEOUT")
        );
        drop(peer);
        served.end();
    });
}

#[test]
fn a_connection_beyond_the_limit_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        each_strategy(|strategy| {
            let before = count(&log, "limit");
            let served = Served::with(Config {
                strategy,
                limits: Limits {
                    connections: 1,
                    ..Limits::default()
                },
                ..Config::default()
            });
            let mut first = Peer::connect(served.port());
            first.send(&request(RequestLine::new(1, "noop"), |_| {}));
            let _ = first.receive().reply();
            let mut second = Peer::connect(served.port());
            second.expect_end();
            let refused = refusal(&log, "limit", before);
            assert_eq!(refused.metadata.target(), "orbium::conn");
            assert_eq!(refused.get("limit"), "1");
            drop(first);
            served.end();
        });
    });
}

#[test]
fn a_message_beyond_the_limit_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        each_strategy(|strategy| {
            let before = count(&log, "message_size");
            let served = Served::with(Config {
                strategy,
                limits: Limits {
                    message_size: 1000,
                    ..Limits::default()
                },
                ..Config::default()
            });
            let (_client, target) = served.client();
            target.echo_octets(&[0; 5000]).unwrap_err();
            let refused = refusal(&log, "message_size", before);
            assert!(refused.get("error").contains("limits.message_size"));
            served.end();
        });
    });
}

#[test]
fn a_request_for_which_the_queue_has_no_room_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        let served = Served::new(ServerStrategy::WorkerPool {
            workers: 1,
            queue: 1,
        });
        let mut first = Peer::connect(served.port());
        first.send(&request(RequestLine::new(1, "gate"), |_| {}));
        served.state.gate.await_waiting(1);
        for id in 2..6 {
            first.send(&request(RequestLine::new(id, "noop"), |_| {}));
        }
        assert!(
            refusal(&log, "queue_full", 0)
                .get("error")
                .contains("TRANSIENT")
        );
        served.state.gate.open();
        drop(first);
        served.end();
    });
}

#[derive(Debug)]
struct RefusesAll;

impl DispatchHook for RefusesAll {
    fn arrived(&self, _: &RequestInfo<'_>) -> Dispatch {
        Dispatch::Refuse(orbium::ExceptionKind::NoPermission.into())
    }
}

#[test]
fn a_request_that_a_hook_refuses_is_logged() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        let served = Served::new(ServerStrategy::Reactive);
        let root = served.orb.root_poa();
        let policies = Policies {
            dispatch: Some(Hook(std::sync::Arc::new(RefusesAll))),
            ..Policies::default()
        };
        let poa = root
            .create_poa("guarded", Some(root.manager()), policies)
            .unwrap();
        let state = std::sync::Arc::new(orbium_testkit::TargetState::default());
        let object: orbium_testkit::probe::Target = poa.activate(state).unwrap();
        served.orb.bind_key_in_place("Guarded", &object).unwrap();
        let mut peer = Peer::connect(served.port());
        let line = RequestLine {
            key: b"Guarded",
            ..RequestLine::new(1, "noop")
        };
        peer.send(&request(line, |_| {}));
        let _ = peer.receive().reply();
        assert!(
            refusal(&log, "access", 0)
                .get("error")
                .contains("NO_PERMISSION")
        );
        drop(peer);
        served.end();
    });
}
