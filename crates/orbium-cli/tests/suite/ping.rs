// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ping` as its users meet it.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::program::{Server, project_idl, run};
use orbium::giop::Ior;
use orbium_testkit::dead_port;

#[test]
fn an_object_that_is_there_answers_in_both_ways() {
    let server = Server::start([]);
    for reference in [server.ior("Cube"), server.corbaloc("Receiver")] {
        let ran = run(["ping", reference, "--count", "3"]);
        ran.assert_done();
        assert_eq!(ran.stderr, "");
        for start in ["LocateRequest  here", "_non_existent  false"] {
            let line = ran.stdout.lines().find(|line| line.starts_with(start));
            let line = line.unwrap_or_else(|| panic!("no `{start}` in {ran:?}"));
            assert!(line.contains("min ") && line.contains("median ") && line.contains("max "));
            assert!(line.contains("asked 3 times"), "{line}");
        }
    }
}

#[test]
fn json_has_the_latencies_in_order() {
    let server = Server::start([]);
    let ran = run(["ping", "--json", "-c", "9", server.ior("Peer")]);
    ran.assert_done();
    let json = ran.json();
    assert_eq!(json["type_id"], "IDL:orbium.test/Kitchen/Peer:1.0");
    assert_eq!(json["exists"], true);
    for question in ["locate", "non_existent"] {
        let of = |key: &str| json[question][key].as_u64().unwrap();
        assert!(of("min_ns") <= of("median_ns") && of("median_ns") <= of("max_ns"));
    }
}

#[test]
fn an_object_that_is_not_there_is_distinguished_from_one_that_is() {
    let server = Server::start([]);
    let reference = server.corbaloc("Cube").replace("/Cube", "/Nobody");
    let ran = run(["ping", &reference]);
    ran.assert_failed_saying("no such object");
    assert!(ran.stdout.contains("LocateRequest  unknown"), "{ran:?}");
    assert!(ran.stdout.contains("_non_existent  true"), "{ran:?}");
}

/// Regression: a reference could steer the terminal by its type.
#[test]
fn control_characters_of_a_reference_are_not_printed() {
    let server = Server::start([]);
    let mut ior: Ior = server.ior("Cube").parse().unwrap();
    ior.type_id = "IDL:a\u{1b}[2J:1.0".to_owned();
    let ran = run(["ping", &ior.to_string()]);
    ran.assert_done();
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.starts_with("IDL:a\u{fffd}[2J:1.0 at "), "{ran:?}");
    let idl = project_idl("cubit.idl");
    let ran = run(["describe", "--idl", &idl, &ior.to_string()]);
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn a_refused_connection_is_called_so() {
    let port = dead_port();
    let ran = run(["ping", &format!("corbaloc::127.0.0.1:{port}/Cube")]);
    ran.assert_failed_saying("connection refused: nothing listens at 127.0.0.1:");
    assert_eq!(ran.stdout, "");
}

#[test]
fn an_unknown_host_is_called_so() {
    run(["ping", "corbaloc::no-such-host.invalid:2809/Cube"])
        .assert_failed_saying("unknown host: the name in no-such-host.invalid:2809");
}

#[test]
fn a_silent_peer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    run([
        "ping",
        &format!("corbaloc::{address}/Cube"),
        "--timeout",
        "0.2",
    ])
    .assert_failed_saying("timed out: no answer from 127.0.0.1:");
}

#[test]
fn a_peer_that_speaks_something_else_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut request = [0; 12];
        connection.read_exact(&mut request).unwrap();
        connection
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
    });
    run(["ping", &format!("corbaloc::{address}/Cube")]).assert_failed_saying("COMM_FAILURE");
    peer.join().unwrap();
}

#[test]
fn references_without_an_object_are_refused() {
    let nil = orbium::giop::Ior::NIL.to_string();
    run(["ping", &nil]).assert_failed_saying("the reference is nil");
    run(["ping", "corbaloc:rir:/Nothing"]).assert_failed_saying("no initial reference `Nothing`");
    run(["ping", "IOR:00"]).assert_failed_saying("bad object reference");
    run(["ping", "corbaname::localhost#a/b"]).assert_failed_saying("the name was not resolved");
}

/// Conformance: complaint 33 - shared memory endpoints: "no usable transport protocol", no hint why
#[test]
fn protocols_that_cannot_be_used_are_listed_with_the_reasons() {
    let server = Server::start([]);
    let reference = server.corbaloc("Cube");
    run(["ping", reference, "--protocols", "uiop,iiop"]).assert_done();
    run(["ping", reference, "--protocols", "uiop"])
        .assert_failed_saying("no protocol of the reference can be used: iiop://127.0.0.1:");
    run(["ping", "corbaloc:htiop:1.2@localhost:80/Cube"]).assert_failed_saying("no protocol of");
    let ran = run(["ping", reference, "--protocols", "uiop,,iiop"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
}

#[test]
fn numbers_that_make_no_sense_are_wrong_usage() {
    for option in [
        ["--count", "0"],
        ["--timeout", "0"],
        ["--timeout", "soon"],
        ["--timeout", "-1"],
    ] {
        let ran = run(["ping", "corbaloc::localhost/Cube"]
            .into_iter()
            .chain(option));
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
}
