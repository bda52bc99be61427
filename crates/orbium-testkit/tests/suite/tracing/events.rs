// SPDX-License-Identifier: MIT OR Apache-2.0
//! The life of an ORB: connections, references, servants that panic.

use std::time::Duration;

use orbium::{
    Config, Orb,
    config::{ClientStrategy, ForwardBoundKeys, Limits, ServerStrategy},
};
use orbium_testkit::{
    Peer, RecordedEvent, Served, calling_by, client, each_client_strategy, each_strategy,
    eventually, in_own_process, pause_calls, reach,
};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::recording;

/// Conformance: robustness - connections, references, forwards, retries, refusals and panics are
/// logged, and nothing unasked or per request at INFO
#[test]
fn a_connection_is_logged_on_both_sides_from_its_beginning_to_its_end() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let served = Served::new(strategy);
            let at = format!("iiop://127.0.0.1:{}", served.port());
            let port = served.port().to_string();
            let listening = log.event("listening", |it| it.get("published") == at);
            assert_eq!(*listening.metadata.level(), Level::INFO);
            assert_eq!(listening.metadata.target(), "orbium::conn");
            assert_eq!(listening.get("lane"), "orb");
            let (client, target) = served.client();
            target.noop().unwrap();
            let connected = log.event("connected", |it| it.get("address") == at);
            assert_eq!(*connected.metadata.level(), Level::DEBUG);
            let accepted = log.events("accepted").pop().unwrap();
            assert_eq!(*accepted.metadata.level(), Level::DEBUG);
            assert_eq!(accepted.get("transport"), "iiop");
            let peer = accepted.get("peer").to_owned();
            assert!(peer.starts_with("127.0.0.1:") && !peer.ends_with(&port));
            client.shutdown(true).unwrap();
            let ours = log.event("closed", |it| it.get("peer") == &at[7..]);
            assert_eq!(*ours.metadata.level(), Level::INFO);
            let fields = ["role", "transport", "by", "cause"].map(|it| ours.get(it));
            assert_eq!(fields, ["client", "iiop", "us", "shutdown"]);
            assert_eq!(ours.get("conn"), connected.get("conn"));
            let theirs = log.event("closed", |it| it.get("peer") == peer);
            assert_eq!(*theirs.metadata.level(), Level::INFO);
            let fields = ["role", "transport", "by", "cause"].map(|it| theirs.get(it));
            assert_eq!(fields, ["server", "iiop", "peer", "peer"]);
            assert_eq!(theirs.get("conn"), accepted.get("conn"));
            assert!(theirs.get("age_s").parse::<f64>().is_ok());
            served.end();
        });
    });
}

/// Such ends were once logged as by=us, cause=idle; and a shared connection that the client
/// closed as by=peer.
#[test]
fn clients_log_a_connection_that_the_server_closed_as_closed_by_the_peer() {
    in_own_process!(|| {
        let log = recording();
        each_client_strategy(|strategy| {
            // The thread of a connection sees its end in its own time.
            let sees_at_once = strategy != ClientStrategy::IoThread;
            for calls_again in [true, false].into_iter().filter(|it| *it || sees_at_once) {
                let served = Served::new(ServerStrategy::default());
                let at = format!("127.0.0.1:{}", served.port());
                let client = Orb::new(calling_by(strategy)).unwrap();
                let target = served.seen_by(&client);
                target.noop().unwrap();
                served.end();
                if calls_again {
                    target.noop().unwrap_err();
                }
                drop(target);
                client.shutdown(true).unwrap();
                let is_it = |it: &RecordedEvent| it.get("peer") == at;
                let closed = log.event("closed", is_it);
                let fields = ["role", "by", "cause"].map(|it| closed.get(it));
                assert_eq!(fields, ["client", "peer", "peer"], "{calls_again}");
            }
            let served = Served::new(ServerStrategy::default());
            let at = format!("127.0.0.1:{}", served.port());
            let client = Orb::new(calling_by(strategy)).unwrap();
            served.seen_by(&client).noop().unwrap();
            client.shutdown(true).unwrap();
            let closed = log.event("closed", |it| it.get("peer") == at);
            let fields = ["role", "by", "cause"].map(|it| closed.get(it));
            assert_eq!(fields, ["client", "us", "shutdown"]);
            served.end();
        });
    });
}

#[test]
fn why_a_server_closes_a_connection_is_logged() {
    in_own_process!(|| {
        let log = recording();
        each_strategy(|strategy| {
            let served = Served::with(Config {
                strategy,
                limits: Limits {
                    server_idle_time: Some(Duration::from_millis(50)),
                    ..Limits::default()
                },
                ..Config::default()
            });
            let of_server = |cause: &'static str, before: usize| {
                eventually("the connection is closed", || {
                    let closed = log.events("closed").into_iter();
                    closed.filter(|it| it.get("cause") == cause).count() > before
                });
                let mut closed = log.events("closed").into_iter().rev();
                closed.find(|it| it.get("cause") == cause).unwrap()
            };
            let count = |cause: &str| {
                let closed = log.events("closed").into_iter();
                closed.filter(|it| it.get("cause") == cause).count()
            };
            let before = count("idle");
            let idle = Peer::connect(served.port());
            assert_eq!(*of_server("idle", before).metadata.level(), Level::DEBUG);
            drop(idle);
            let before = count("error");
            let mut strange = Peer::connect(served.port());
            strange.send(b"GET / HTTP/1.1\r\n\r\n");
            let error = of_server("error", before);
            assert_eq!(*error.metadata.level(), Level::INFO);
            assert_eq!((error.get("by"), error.get("role")), ("us", "server"));
            served.end();
        });
    });
}

#[test]
fn a_panic_of_a_servant_is_an_error_with_operation_peer_and_message() {
    in_own_process!(|| {
        // Without spans too.
        let log = orbium_testkit::Recorder::install(LevelFilter::INFO);
        each_strategy(|strategy| {
            let before = log.events("servant panicked").len();
            let served = Served::new(strategy);
            served.state.on_act(|_, v| panic!("on purpose, with {v}"));
            let (_client, target) = served.client();
            target.act(3).unwrap_err();
            let panics = log.events("servant panicked");
            assert_eq!(panics.len(), before + 1);
            let panicked = panics.last().unwrap();
            assert_eq!(*panicked.metadata.level(), Level::ERROR);
            assert_eq!(panicked.metadata.target(), "orbium::request");
            assert_eq!(panicked.get("operation"), "act");
            assert_eq!(panicked.get("panic"), "on purpose, with 3");
            assert!(panicked.get("peer").contains("127.0.0.1:"));
            served.end();
        });
    });
}

#[test]
fn a_published_reference_and_where_clients_are_sent_are_logged() {
    in_own_process!(|| {
        let log = recording();
        let served = Served::with(Config {
            strategy: ServerStrategy::Reactive,
            forward_bound_keys: ForwardBoundKeys(true),
            ..Config::default()
        });
        served.orb.bind_key("Whole", &served.target).unwrap();
        let published = log.event("reference published", |it| it.get("key") == "Whole");
        let at = format!("iiop://127.0.0.1:{}", served.port());
        assert_eq!(*published.metadata.level(), Level::INFO);
        assert_eq!(published.get("interface"), "IDL:Probe/Target:1.0");
        assert_eq!(published.get("published"), at);
        let activated = log.event("object activated", |_| true);
        assert_eq!(*activated.metadata.level(), Level::DEBUG);
        assert_eq!(activated.get("adapter"), "RootPOA");
        let client = client();
        let url = format!("corbaloc::127.0.0.1:{}/Whole", served.port());
        let target: orbium_testkit::probe::Target = reach(&client, &url);
        target.noop().unwrap();
        let sent = log.event("client sent to the whole reference", |_| true);
        assert_eq!(*sent.metadata.level(), Level::DEBUG);
        assert_eq!(sent.get("key"), "Whole");
        log.event("forward followed", |it| it.get("to") == at);
        let requests = log.ended("request", 2);
        assert_eq!(requests[0].get("rpc.status_code"), "LOCATION_FORWARD");
        assert_eq!(requests[1].get("rpc.status_code"), "NO_EXCEPTION");
        served.end();
    });
}

/// An idle connection whose server has gone is replaced before it is used.
#[test]
fn a_stale_connection_that_is_replaced_is_logged() {
    in_own_process!(|| {
        let log = recording();
        let server = orbium_testkit::FakeServer::listen();
        let client = Orb::new(Config::default()).unwrap();
        let url = orbium_testkit::reference(2, &[server.port()], b"x", &[]).to_string();
        let target: orbium_testkit::probe::Target = reach(&client, &url);
        for _ in 0..2 {
            let call = {
                let target = target.clone();
                orbium_testkit::spawn(move || target.noop())
            };
            let mut peer = server.accept();
            let asked = peer.expect_request("noop");
            peer.answer(&asked, |_| {});
            call.join().unwrap().unwrap();
            peer.reset();
            pause_calls();
        }
        let replaced = log.event("stale connection replaced", |_| true);
        let at = format!("iiop://127.0.0.1:{}", server.port());
        assert_eq!(replaced.get("address"), at);
        assert_eq!(*replaced.metadata.level(), Level::INFO);
    });
}
