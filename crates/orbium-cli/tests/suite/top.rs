// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium top` on a running demonstration.

use std::sync::Arc;
use std::time::Duration;

use crate::program::{Server, run};
use orbium::budget::{BudgetCounts, OperationBudget};
use orbium::interceptor::{Interceptors, ServerInterceptor};
use orbium::rt::{Budget, Offer, RtObject, RtOrb};
use orbium_qos::{CommunicationClass, Priority, PublishedQos, Qos, QosObject, RiopDispatch};
use serde_json::Value;

/// Calls until `top` has seen some: what it shows are those of one interval.
///
/// Conformance: robustness - `orbium top` shows a running process, and says how to turn it on where
/// there is nothing to show
#[test]
fn a_running_demo_shows_its_operations_lanes_and_connections() {
    let server = Server::start(["--watch"]);
    let pid = server.process().to_string();
    let orb = orbium::Orb::builder().build().unwrap();
    let object = orb.string_to_object(server.ior("Cube")).unwrap();
    let cube: orbium_demo::cubit::Cube = orbium::narrow(object).unwrap();
    for _ in 0..100 {
        cube.noop().unwrap();
    }
    let shown = run(["top", &pid, "--json", "--once", "-i", "0.2"]);
    shown.assert_done();
    assert_eq!(shown.stdout.lines().count(), 1);
    let view: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(view["pid"].to_string(), pid);
    assert_eq!(view["measuring"], true);
    let operations = view["operations"].as_array().unwrap();
    let noop = operations.iter().find(|it| {
        let name = it["operation"].as_str().unwrap();
        name.ends_with("/noop") && it["role"] == "server"
    });
    // The last may be counted after it was answered.
    assert!(noop.unwrap()["total"].as_u64() >= Some(99), "{view:#}");
    assert_eq!(view["lanes"][0]["lane"], "orb");
    let connections = view["connections"].as_array().unwrap();
    let counted = connections
        .iter()
        .find(|it| it["role"] == "server" && it["requests"].as_u64() >= Some(99));
    assert!(counted.unwrap()["bytes_in"].as_u64().unwrap() > 4000);
    let text = run(["top", &pid, "--once", "-i", "0.1"]);
    text.assert_done();
    assert!(text.stdout.contains("OPERATION") && text.stdout.contains("/noop"));
    let picture = run(["top", &pid, "--svg", "-i", "0.1"]);
    picture.assert_done();
    assert!(picture.stdout.starts_with("<svg "));
}

/// An ORB of this process shows itself: connections to servers by server, and a warning. Other tests
/// show ORBs of this process too: the socket says which one is meant.
#[test]
fn bindings_and_the_log_are_shown() {
    let server = Server::start([]);
    let config = orbium::Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..orbium::Config::default()
    };
    let orb = orbium::Orb::new(config).unwrap();
    let socket = orb.watch().unwrap().display().to_string();
    let cube: orbium_demo::cubit::Cube = orb.resolve(server.ior("Cube")).unwrap();
    for _ in 0..3 {
        cube.noop().unwrap();
    }
    // A request that is held, as no manager was activated, is warned of.
    let client = orbium::Orb::builder()
        .call_timeout(std::time::Duration::from_millis(300))
        .build()
        .unwrap();
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let held = root.create_poa("held", None, orbium::poa::Policies::default());
    let held = held.unwrap();
    let servant = orbium_demo::CubeServant::default();
    let cube: orbium_demo::cubit::Cube = held.activate(servant).unwrap();
    let cube = client.resolve::<orbium_demo::cubit::Cube>(&orb.object_to_string(&cube));
    assert!(cube.unwrap().noop().is_err());

    let shown = run(["top", &socket, "--json", "--once", "-i", "0.1"]);
    shown.assert_done();
    let view: Value = serde_json::from_str(&shown.stdout).unwrap();
    let bindings = view["bindings"].as_array().unwrap();
    assert_eq!(bindings.len(), 1, "{view:#}");
    assert_eq!(bindings[0]["connections"], 1);
    assert_eq!(bindings[0]["transport"], "iiop");
    let events = view["events"].as_array().unwrap();
    let warned = events.iter().find(|it| {
        let text = it["text"].as_str().unwrap();
        text.starts_with("a request is held") && text.contains("operation=noop")
    });
    assert!(warned.is_some(), "{view:#}");
    assert_eq!(warned.unwrap()["level"], "warn");
    assert!(view["client_retries_total"]["stale_connection"].is_u64());
    let text = run(["top", &socket, "--once", "-i", "0.1"]);
    text.assert_done();
    assert!(text.stdout.contains("SERVER") && text.stdout.contains("EVENT"));
    assert!(text.stdout.contains("a request is held"), "{}", text.stdout);
}

/// Conformance: robustness - `orbium top` shows a running process, and says how to turn it on where
/// there is nothing to show
#[test]
fn a_process_that_shows_nothing_is_distinguished_and_the_message_says_how_to_turn_it_on() {
    let server = Server::start([]);
    let pid = server.process().to_string();
    let refused = run(["top", &pid, "--json", "--once"]);
    assert_eq!(refused.status, Some(1));
    for how in ["orb.watch()", "watch = true", "-ORBwatch true"] {
        assert!(refused.stderr.contains(how), "{}", refused.stderr);
    }
}

/// An ORB of this process that shows itself: its socket.
fn watched(orb_id: &str) -> (orbium::Orb, std::path::PathBuf) {
    let mut config = orbium::Config::default();
    config.identity.orb_id = orb_id.to_owned();
    let orb = orbium::Orb::new(config).unwrap();
    let socket = orb.watch().unwrap();
    (orb, socket)
}

/// `orbium top PID` once showed the ORB of a process that had begun to show itself first, and did not
/// say so.
///
/// Conformance: robustness - `orbium top` shows one of several ORBs of a process, chosen by its number or
/// its name, and names them all where none is chosen
#[test]
fn one_of_several_orbs_of_a_process_is_chosen_by_its_number_or_its_name() {
    let orbs = [watched("left"), watched("right")];
    let pid = std::process::id().to_string();
    let refused = run(["top", &pid, "--json", "--once"]);
    refused.assert_failed_saying("several ORBs show themselves: name one of");
    let unknown = run(["top", &pid, "--orb-id", "centre", "--json", "--once"]);
    unknown.assert_failed_saying("there is no such ORB: name one of");
    for (name, (_, socket)) in ["left", "right"].into_iter().zip(&orbs) {
        let stem = socket.file_stem().unwrap().to_str().unwrap();
        let numbered = match stem.split_once('-') {
            Some(_) => stem.to_owned(),
            None => format!("{stem}-1"),
        };
        for listed in [&refused, &unknown] {
            let this = format!("{numbered} (");
            let (_, of_this) = listed.stderr.split_once(&this).unwrap();
            let (described, _) = of_this.split_once(')').unwrap();
            assert!(described.contains(&format!("`{name}`")), "{listed:?}");
        }
        let by_name = [
            "top", &pid, "--orb-id", name, "--json", "--once", "-i", "0.1",
        ];
        let by_number = ["top", &numbered, "--json", "--once", "-i", "0.1"];
        for view in [run(by_name).json(), run(by_number).json()] {
            assert_eq!(view["orb_id"], name);
            assert_eq!(view["socket"], socket.to_str().unwrap());
        }
        let text = run(["top", &numbered, "--once", "-i", "0.1"]);
        assert!(
            text.stdout.contains(&format!(" {numbered} {name} ")),
            "{text:?}"
        );
    }
    let reference = run(["top", "corbaloc::localhost:1/X", "--orb-id", "left"]);
    assert_eq!(reference.status, Some(2), "{reference:?}");
}

/// The screen ended with a panic: no clock has that time.
#[test]
fn an_interval_beyond_a_century_is_refused() {
    for interval in ["1e10", "1e18", "0", "x"] {
        let refused = run(["top", "1", "-i", interval]);
        assert_eq!(refused.status, Some(2), "{interval}: {refused:?}");
    }
}

/// A reference says its quality of service, and the connection shows what requests ask for.
///
/// Conformance: RT - one QoS value: in references, and what is in force is shown
#[test]
fn the_quality_of_service_in_force_is_shown() {
    let qos = Qos {
        class: Some(CommunicationClass::Message),
        priority: Priority::new(77),
        deadline: Some(Duration::from_secs(30)),
        ..Qos::NONE
    };
    let mut interceptors = Interceptors::new();
    let published = PublishedQos::new(&qos).unwrap();
    interceptors.add_ior(published).unwrap();
    let orb = orbium::Orb::new(orbium::Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        dispatch: Some(orbium::hook::Hook(Arc::new(RiopDispatch::new()))),
        interceptors,
        ..orbium::Config::default()
    });
    let orb = orb.unwrap();
    orb.watch().unwrap();
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let servant = orbium_demo::CubeServant::default();
    let cube: orbium_demo::cubit::Cube = root.activate(servant).unwrap();
    let reference = orb.object_to_string(&cube);
    let text = run(["ior", &reference]);
    text.assert_done();
    let line = "TAG_ORBIUM_QOS             class MESSAGE, priority 77, deadline 30s";
    assert!(text.stdout.contains(line), "{}", text.stdout);
    let json = run(["ior", "--json", &reference]).json();
    let components = json["profiles"][0]["components"].as_array().unwrap();
    let shown: Vec<_> = components.iter().filter_map(|it| it.get("qos")).collect();
    assert_eq!(shown.len(), 1, "{json:#}");
    assert_eq!(shown[0]["class"], "MESSAGE");
    assert_eq!(shown[0]["deadline_seconds"], 30.0);
    // What a client would call it with.
    for line in [
        "calls of a client here",
        "  connections  shared with other references",
        "  sockets      no delay, dscp 46",
        "  priority     77",
        "  time-out     30s",
    ] {
        assert!(text.stdout.contains(line), "{line}: {}", text.stdout);
    }
    let calls = json["calls"].as_array().unwrap();
    let first = calls[0]["value"].as_str().unwrap();
    assert_eq!(calls[0]["name"], "protocol");
    assert!(first.starts_with("iiop://127.0.0.1:"), "{first}");

    let client = orbium::Orb::builder().build().unwrap();
    let cube: orbium_demo::cubit::Cube = client.resolve(&reference).unwrap();
    let bound = cube.with_qos(&cube.published_qos()).unwrap();
    bound.noop().unwrap();
    // A binding, by a thread of its own.
    let rt = RtOrb::builder().soft().install(&orb).unwrap();
    let bindings = rt.serve_bindings(Budget::new()).unwrap();
    let offer = Offer::new(Priority::new(5).unwrap(), 10).deadline(Duration::from_secs(9));
    let own = cube.bind(&offer).unwrap();
    assert_eq!(bindings.active(), 1);
    let folder = orb.watch().unwrap();
    let shown = run([
        "top",
        folder.to_str().unwrap(),
        "--json",
        "--once",
        "-i",
        "0.1",
    ]);
    shown.assert_done();
    let view: Value = serde_json::from_str(&shown.stdout).unwrap();
    let connections = view["connections"].as_array().unwrap();
    let qualities = connections.iter().map(|it| it["quality"].as_str().unwrap());
    assert!(
        qualities
            .into_iter()
            .any(|it| it == "MESSAGE 77, deadline 30s"),
        "{view:#}"
    );
    let in_force = connections
        .iter()
        .map(|it| it["in_force"].as_str().unwrap());
    let expected = "binding: priority 5, 10 requests in 1s, deadline 9s";
    assert_eq!(in_force.filter(|it| *it == expected).count(), 1, "{view:#}");
    drop(own);
}

/// An operation with a budget, of which one request has exceeded it.
struct Watched;

impl ServerInterceptor for Watched {
    fn budgets(&self) -> Vec<OperationBudget> {
        let counts = BudgetCounts {
            requests: 4,
            overruns: 1,
            longest: Duration::from_millis(3),
        };
        let budget = Duration::from_millis(2);
        vec![OperationBudget::new("Cubit/noop".into(), budget, counts)]
    }
}

/// One that fails as it is asked.
struct Failing;

impl ServerInterceptor for Failing {
    fn budgets(&self) -> Vec<OperationBudget> {
        panic!("as a test of budgets")
    }
}

/// Conformance: RT 6 - budgets of requests: `orbium top` shows overruns
#[test]
fn overruns_of_budgets_are_shown() {
    let mut interceptors = Interceptors::new();
    interceptors.add_server(Failing).unwrap();
    interceptors.add_server(Watched).unwrap();
    let orb = orbium::Orb::builder().interceptors(interceptors);
    let orb = orb.build().unwrap();
    let path = orb.watch().unwrap().display().to_string();
    let view = run(["top", &path, "--json", "--once", "-i", "0.1"]).json();
    let budgets = view["budgets"].as_array().unwrap();
    assert_eq!(budgets.len(), 1, "{view:#}");
    assert_eq!(budgets[0]["operation"], "Cubit/noop");
    assert_eq!(budgets[0]["overruns_total"], 1);
    assert_eq!(budgets[0]["requests_total"], 4);
    assert_eq!(budgets[0]["budget_seconds"], 0.002);
    let text = run(["top", &path, "--once", "-i", "0.1"]);
    text.assert_done();
    assert!(text.stdout.contains("OVERRUNS") && text.stdout.contains("Cubit/noop"));
    let metrics = orb.metrics().unwrap().prometheus_text();
    let sample = "orbium_server_budget_overruns_total{operation=\"Cubit/noop\"} 1";
    assert!(metrics.contains(sample), "{metrics}");
}
