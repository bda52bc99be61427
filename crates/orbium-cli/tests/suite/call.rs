// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo call` as its users meet it.

use crate::program::{Ran, Server, run};
use orbium_demo::load::Load;
use orbium_testkit::dead_port;

fn call(reference: &str, op: &str, more: &[&str]) -> Ran {
    let arguments = ["demo", "call", "--ref", reference, "--op", op];
    run(arguments.into_iter().chain(more.iter().copied()))
}

#[test]
fn every_operation_can_be_repeated() {
    let server = Server::start([]);
    for load in Load::ALL {
        let reference = server.ior(load.object_key());
        let ran = call(reference, load.name(), &["--calls", "5", "--size", "7"]);
        ran.assert_done();
        assert!(ran.stdout.starts_with(load.name()), "{ran:?}");
        for figure in ["median ", "p99 ", "calls/s"] {
            assert!(ran.stdout.contains(figure), "{ran:?}");
        }
    }
}

#[test]
fn json_has_the_figures() {
    let server = Server::start([]);
    let ran = call(
        server.corbaloc("Cube"),
        "noop",
        &["--calls", "10", "--json"],
    );
    ran.assert_done();
    let json = ran.json();
    assert_eq!(
        (json["op"].as_str(), json["calls"].as_u64()),
        (Some("noop"), Some(10))
    );
    assert!(json["median_ns"].as_u64() <= json["p99_ns"].as_u64());
    assert!(json["calls_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn untimed_calls_have_a_total_only() {
    let server = Server::start([]);
    let ran = call(server.ior("Cube"), "noop", &["--calls", "10", "--untimed"]);
    ran.assert_done();
    assert!(
        ran.stdout.starts_with("noop  10 calls in ") && !ran.stdout.contains("median"),
        "{ran:?}"
    );
    let ran = call(
        server.ior("Cube"),
        "noop",
        &["--calls", "10", "--untimed", "--json"],
    );
    assert!(ran.json()["median_ns"].is_null());
    assert!(ran.json()["seconds"].as_f64().is_some());
}

#[test]
fn an_unknown_operation_is_wrong_usage() {
    let ran = call("corbaloc::localhost/Cube", "nonsense", &["--calls", "1"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("`nonsense` is not one of: noop post"),
        "{ran:?}"
    );
}

#[test]
fn a_missing_object_is_reported_before_any_call() {
    let server = Server::start([]);
    let reference = server.corbaloc("Cube").replace("/Cube", "/Nobody");
    call(&reference, "noop", &["--calls", "1"]).assert_failed_saying("no such object");
}

#[test]
fn an_object_without_the_operation_is_reported_before_the_loop() {
    let server = Server::start([]);
    call(server.ior("Receiver"), "noop", &["--calls", "1"])
        .assert_failed_saying("noop does not do what it should: BAD_OPERATION");
}

#[test]
fn a_server_that_is_gone_is_reported() {
    // A port that is only given back may be that of another test's server, or still
    // listen in a process that another test is starting.
    call(
        &format!("corbaloc::127.0.0.1:{}/Cube", dead_port()),
        "noop",
        &["--calls", "1"],
    )
    .assert_failed_saying("connection refused");
}

#[test]
fn zero_calls_are_a_usage_error() {
    let server = Server::start([]);
    assert_eq!(
        call(server.ior("Cube"), "noop", &["--calls", "0"]).status,
        Some(2)
    );
}
