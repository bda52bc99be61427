// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters and histograms of calls and requests, and an ORB as data.

use std::time::{Duration, Instant};

use orbium::metrics::Role;
use orbium::metrics::exposition::{MetricsSnapshot, OperationMetrics};
use orbium::{Config, ExceptionKind, Orb, config::ServerStrategy, poa::ManagerState};
use orbium_testkit::{
    Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy, eventually, request,
};

fn measuring(strategy: ServerStrategy) -> Served {
    Served::with(Config {
        strategy,
        metrics: true,
        ..Config::default()
    })
}

fn snapshot(orb: &Orb) -> MetricsSnapshot {
    orb.metrics().expect("metrics are on").snapshot()
}

fn served(orb: &Orb, operation: &str) -> Option<OperationMetrics> {
    let all = snapshot(orb).served.into_iter();
    all.into_iter().find(|it| it.operation == operation)
}

fn called(orb: &Orb, operation: &str) -> OperationMetrics {
    let mut all = snapshot(orb).called.into_iter();
    all.find(|it| it.operation == operation)
        .expect("it was called")
}

/// A server hands its reply over before it counts: waits for so many requests.
fn await_served(orb: &Orb, operation: &str, ended: u64) -> OperationMetrics {
    let there = || served(orb, operation).is_some_and(|it| it.ended() >= ended);
    eventually("the requests are counted", there);
    served(orb, operation).expect("it was served")
}

/// Conformance: robustness - requests and calls are counted and measured by operation, outcome and
/// lane, in every strategy
#[test]
fn requests_are_counted_by_operation_and_outcome_in_every_strategy() {
    each_strategy(|strategy| {
        let server = measuring(strategy);
        let (_client, target) = server.client();
        for _ in 0..10 {
            target.noop().unwrap();
        }
        target.post(1).unwrap();
        target.refuse(3).unwrap_err();
        target.raise_system("NO_MEMORY").unwrap_err();
        let noop = await_served(&server.orb, "Probe::Target/noop", 10);
        assert_eq!((noop.ok, noop.ended(), noop.in_flight), (10, 10, 0));
        assert_eq!(noop.lane, "orb");
        assert!(noop.durations.max() > Duration::ZERO);
        assert!(noop.durations.quantile(0.5) <= noop.durations.max());
        let refuse = await_served(&server.orb, "Probe::Target/refuse", 1);
        assert_eq!((refuse.user_exceptions, refuse.ok), (1, 0));
        let raise = await_served(&server.orb, "Probe::Target/raise_system", 1);
        assert_eq!((raise.system_exceptions, raise.ok), (1, 0));
        let post = await_served(&server.orb, "Probe::Target/post", 1);
        assert_eq!((post.oneways, post.ok), (1, 0));
        let raised = snapshot(&server.orb).raised;
        assert_eq!(
            (raised.len(), raised[0].name, raised[0].count),
            (1, "NO_MEMORY", 1)
        );
        server.end();
    });
}

/// Conformance: robustness - requests and calls are counted and measured by operation, outcome and
/// lane, in every strategy
#[test]
fn a_request_that_is_served_is_in_flight_and_one_that_waits_counts_its_waiting() {
    let server = measuring(ServerStrategy::WorkerPool {
        workers: 1,
        queue: 16,
    });
    let mut first = Peer::connect(server.port());
    first.send(&request(RequestLine::new(1, "gate"), |_| {}));
    server.state.gate.await_waiting(1);
    let gate = served(&server.orb, "Probe::Target/gate").unwrap();
    assert_eq!((gate.in_flight, gate.ended()), (1, 0));
    let mut second = Peer::connect(server.port());
    second.send(&request(RequestLine::new(1, "noop"), |_| {}));
    let waits = || server.orb.lane_snapshots().entries[0].waiting == 1;
    eventually("a request waits", waits);
    let lane = &snapshot(&server.orb).lanes[0];
    assert_eq!((lane.busy, lane.lane.waiting, lane.lane.queue), (1, 1, 16));
    std::thread::sleep(Duration::from_millis(20));
    server.state.gate.open();
    let noop = await_served(&server.orb, "Probe::Target/noop", 1);
    // From its arrival: it has waited for the gate.
    assert!(noop.durations.max() >= Duration::from_millis(20));
    let lane = &snapshot(&server.orb).lanes[0];
    assert_eq!(lane.waited.count(), 2);
    assert!(lane.waited.max() >= Duration::from_millis(20));
    drop((first, second));
    server.end();
}

/// Conformance: robustness - requests and calls are counted and measured by operation, outcome and
/// lane, in every strategy
#[test]
fn calls_are_counted_by_operation_and_outcome_in_every_client_strategy() {
    each_client_strategy(|strategy| {
        let server = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(Config {
            metrics: true,
            ..calling_by(strategy)
        })
        .unwrap();
        let target = server.seen_by(&client);
        for _ in 0..5 {
            target.noop().unwrap();
        }
        target.refuse(3).unwrap_err();
        target.raise_system("NO_MEMORY").unwrap_err();
        target.post(1).unwrap();
        let noop = called(&client, "Probe::Target/noop");
        assert_eq!((noop.ok, noop.in_flight), (5, 0));
        assert!(noop.durations.quantile(0.99) > Duration::ZERO);
        assert_eq!(called(&client, "Probe::Target/refuse").user_exceptions, 1);
        assert_eq!(called(&client, "Probe::Target/post").oneways, 1);
        let raised = called(&client, "Probe::Target/raise_system");
        assert_eq!(raised.system_exceptions, 1);
        let all = snapshot(&client);
        let received: Vec<_> = all.received.iter().map(|it| (it.name, it.count)).collect();
        assert_eq!(received, [("NO_MEMORY", 1)]);
        let over = &all.connections[0];
        assert_eq!((over.role, over.transport.as_str()), (Role::Client, "iiop"));
        assert!(over.opened >= 1 && over.open() >= 1);
        assert!(over.traffic.sent > 5 * 40 && over.traffic.received > 5 * 24);
        client.shutdown(true).unwrap();
        server.end();
    });
}

/// Conformance: robustness - requests and calls are counted and measured by operation, outcome and
/// lane, in every strategy
#[test]
fn an_asynchronous_call_is_counted_when_its_answer_is_there() {
    let server = Served::new(ServerStrategy::ThreadPerConnection);
    let client = Orb::builder().metrics().build().unwrap();
    let target = server.seen_by(&client);
    let object = orbium::Interface::as_object(&target);
    static NOOP: orbium::codegen::Operation =
        orbium::codegen::Operation::of("IDL:Probe/Target:1.0", "noop");
    let call: orbium::asynchronous::Asynchronous<()> =
        object.call_async(&NOOP, (), |(), _| {}, |_| Ok(()));
    call.wait().unwrap();
    assert_eq!(called(&client, "Probe::Target/noop").ok, 1);
    client.shutdown(true).unwrap();
    server.end();
}

/// A peer must not be able to make series: an outage by strangers in other systems.
///
/// Conformance: robustness - peers cannot invent series; nothing is counted unasked
#[test]
fn operations_that_no_skeleton_knows_share_one_series() {
    let server = measuring(ServerStrategy::Reactive);
    let mut peer = Peer::connect(server.port());
    for id in 0..50 {
        let name = format!("made_up_{id}");
        peer.send(&request(RequestLine::new(id, &name), |_| {}));
        peer.expect(orbium::giop::MessageKind::Reply);
    }
    let other = await_served(&server.orb, "_OTHER", 50);
    assert_eq!(other.system_exceptions, 50);
    assert_eq!(snapshot(&server.orb).served.len(), 1);
    server.end();
}

/// Conformance: robustness - peers cannot invent series; nothing is counted unasked
#[test]
fn nothing_is_counted_unless_it_was_asked_for_and_can_be_asked_for_later() {
    let server = Served::new(ServerStrategy::ThreadPerConnection);
    let (_client, target) = server.client();
    target.noop().unwrap();
    assert!(server.orb.metrics().is_none());
    let connection = &server.orb.connections().entries[0];
    assert_eq!((connection.received, connection.requests), (None, 0));
    let metrics = server.orb.enable_metrics();
    assert!(metrics.snapshot().served.is_empty());
    target.noop().unwrap();
    assert_eq!(await_served(&server.orb, "Probe::Target/noop", 1).ok, 1);
    assert_eq!(server.orb.connections().entries[0].requests, 1);
    server.end();
}

/// Conformance: robustness - refusals, closed connections and missed deadlines have their causes;
/// the text is what Prometheus reads
#[test]
fn refusals_and_closed_connections_have_their_causes() {
    let server = measuring(ServerStrategy::ThreadPerConnection);
    let mut peer = Peer::connect(server.port());
    let unknown = RequestLine {
        key: b"nobody",
        ..RequestLine::new(1, "noop")
    };
    peer.send(&request(unknown, |_| {}));
    peer.expect(orbium::giop::MessageKind::Reply);
    let count = |name: &str| {
        let refused = snapshot(&server.orb).refused;
        refused.iter().find(|it| it.name == name).unwrap().count
    };
    eventually("it is counted", || count("unknown_object") == 1);
    server
        .orb
        .root_poa()
        .manager()
        .discard_requests(false)
        .unwrap();
    peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
    peer.expect(orbium::giop::MessageKind::Reply);
    eventually("it is counted", || count("not_active") == 1);
    drop(peer);
    let closed = |name: &str| {
        let all = snapshot(&server.orb).connections;
        let over = all.iter().find(|it| it.role == Role::Server).unwrap();
        over.closed.iter().find(|it| it.name == name).unwrap().count
    };
    eventually("it is counted", || closed("peer") == 1);
    let mut noise = Peer::connect(server.port());
    noise.send(b"this is no GIOP message at all");
    eventually("it is counted", || closed("error") == 1);
    server.end();
}

/// Conformance: robustness - refusals, closed connections and missed deadlines have their causes;
/// the text is what Prometheus reads
#[test]
fn a_deadline_that_passes_is_counted_where_it_passed() {
    let server = measuring(ServerStrategy::ThreadPerConnection);
    let (_client, target) = server.client();
    server.state.on_act(|call, v| {
        let deadline = call.deadline().expect("the client has told it");
        while Instant::now() <= deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(v)
    });
    let hurried = orbium::Interface::with_timeout(&target, Duration::from_secs(3));
    let late = hurried.act(1).unwrap_err();
    assert_eq!(late.kind, ExceptionKind::Timeout);
    let act = await_served(&server.orb, "Probe::Target/act", 1);
    assert_eq!((act.late_before, act.late_within), (0, 1));
    let text = server.orb.metrics().unwrap().prometheus_text();
    let line = "orbium_deadline_missed_total{lane=\"orb\",where=\"servant\"} 1\n";
    assert!(text.contains(line), "{text}");
    server.end();
}

/// Every line is a comment or a sample, each family is declared once, and buckets
/// grow up to the count.
///
/// Conformance: robustness - refusals, closed connections and missed deadlines have their causes;
/// the text is what Prometheus reads
#[test]
fn the_text_is_what_prometheus_reads() {
    let server = measuring(ServerStrategy::Reactive);
    let (_client, target) = server.client();
    for _ in 0..100 {
        target.echo_long(7).unwrap();
    }
    await_served(&server.orb, "Probe::Target/echo_long", 100);
    let text = server.orb.metrics().unwrap().prometheus_text();
    let mut families = std::collections::HashSet::new();
    let (mut last, mut buckets) = (0, 0);
    let bucket = "orbium_server_request_duration_seconds_bucket{operation=\"Probe::Target/echo_long\",lane=\"orb\",le=";
    for line in text.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            assert!(families.insert(family.to_owned()), "twice: {family}");
            continue;
        }
        if line.starts_with("# HELP orbium_") {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("orbium_"), "{line}");
        value.parse::<f64>().unwrap();
        if name.starts_with(bucket) {
            let value = value.parse::<u64>().unwrap();
            assert!(value >= last, "{line}");
            (last, buckets) = (value, buckets + 1);
        }
    }
    assert_eq!((last, buckets), (100, 23));
    let counted = "orbium_server_requests_total{operation=\"Probe::Target/echo_long\",lane=\"orb\",outcome=\"ok\"} 100\n";
    assert!(text.contains(counted), "{text}");
    server.end();
}

/// Conformance: robustness - an ORB is there as data: connections, lanes, adapters, objects
#[test]
fn an_orb_shows_its_connections_lanes_adapters_and_objects() {
    let server = Served::new(ServerStrategy::LeaderFollowers { threads: 2 });
    let held = server
        .orb
        .root_poa()
        .create_poa("held", None, orbium::poa::Policies::default())
        .unwrap();
    let (client, target) = server.client();
    target.noop().unwrap();
    let of_client = client.connections();
    assert_eq!((of_client.entries.len(), of_client.more), (1, false));
    assert_eq!(of_client.entries[0].role, Role::Client);
    let address = format!("127.0.0.1:{}", server.port());
    assert_eq!(of_client.entries[0].peer, address);
    let of_server = server.orb.connections().entries;
    assert_eq!((of_server.len(), of_server[0].lane), (1, Some(0)));
    assert!(of_server[0].peer.starts_with("127.0.0.1:"));
    let lanes = server.orb.lane_snapshots().entries;
    assert_eq!((lanes[0].name.as_str(), lanes[0].connections), ("orb", 1));
    assert!(lanes[0].threads >= 2 && lanes[0].endpoints[0].starts_with("iiop://"));
    let adapters = server.orb.adapters().entries;
    let shown: Vec<_> = adapters
        .iter()
        .map(|it| (it.path.as_str(), it.state))
        .collect();
    let expected = [
        ("RootPOA", ManagerState::Active),
        ("RootPOA/held", ManagerState::Holding),
    ];
    assert_eq!(shown, expected);
    assert_eq!(adapters[0].objects, 1);
    let objects = server.orb.objects().entries;
    assert_eq!(objects[0].interface, "IDL:Probe/Target:1.0");
    client.shutdown(true).unwrap();
    eventually("it is counted", || {
        server.orb.connections().entries.is_empty()
    });
    drop(held);
    server.end();
}

/// Conformance: robustness - an ORB is there as data: connections, lanes, adapters, objects
#[test]
fn lists_are_bounded() {
    let server = Served::new(ServerStrategy::Reactive);
    for _ in 0..1100 {
        let another = orbium_testkit::TargetState::default();
        let _: orbium_testkit::probe::Target = server.orb.root_poa().activate(another).unwrap();
    }
    let objects = server.orb.objects();
    assert_eq!((objects.entries.len(), objects.more), (1000, true));
    assert_eq!(server.orb.adapters().entries[0].objects, 1101);
    server.end();
}
