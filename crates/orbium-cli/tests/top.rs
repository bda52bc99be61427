// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium top` on a running demonstration.

mod program;

use program::{Server, run};
use serde_json::Value;

/// Calls until `top` has seen some: what it shows are those of one interval.
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

#[test]
fn a_process_that_shows_nothing_is_told_from_one_and_how_to_turn_it_on() {
    let server = Server::start([]);
    let pid = server.process().to_string();
    let refused = run(["top", &pid, "--json", "--once"]);
    assert_eq!(refused.status, Some(1));
    for how in ["orb.watch()", "watch = true", "-ORBwatch true"] {
        assert!(refused.stderr.contains(how), "{}", refused.stderr);
    }
}
