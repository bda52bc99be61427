// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium call` as its users meet it.

use serde_json::json;

use crate::program::{Folder, Ran, Server, project_idl, run, run_with};

/// Calls an operation of the demo server's `Kitchen::Peer`.
fn peer(server: &Server, arguments: &[&str]) -> Ran {
    let idl = project_idl("kitchen.idl");
    let start = ["call", "--idl", &idl, server.ior("Peer")];
    run(start.into_iter().chain(arguments.iter().copied()))
}

#[test]
fn a_result_alone_is_printed_as_it_is() {
    let server = Server::start([]);
    let idl = project_idl("cubit.idl");
    let ran = run(["call", "--idl", &idl, server.ior("Cube"), "cube_long", "-3"]);
    ran.assert_done();
    assert_eq!(ran.stdout, "-27\n");
}

/// A `corbaloc:` names no interface: the object is asked for it.
#[test]
fn the_object_is_asked_for_its_interface() {
    let server = Server::start([]);
    let idl = project_idl("kitchen.idl");
    let ran = run([
        "call",
        "--idl",
        &idl,
        server.corbaloc("Peer"),
        "match",
        "1",
        "2",
    ]);
    ran.assert_done();
    let other = "Kitchen::Other";
    let reference = server.corbaloc("Peer");
    let ran = run([
        "call",
        "--idl",
        &idl,
        "--interface",
        other,
        reference,
        "ident",
    ]);
    ran.assert_done();
    let ran = run([
        "call",
        "--idl",
        &idl,
        "--interface",
        other,
        reference,
        "label",
    ]);
    ran.assert_failed_saying("Kitchen::Other has no operation `label`; it has: ident");
}

#[test]
fn several_results_have_names() {
    let server = Server::start([]);
    let ran = peer(&server, &["echo_string", "one", "two", "--json"]);
    ran.assert_done();
    assert_eq!(ran.stdout.lines().count(), 1);
    let both = ran.json()["both"].as_str().map(str::to_owned);
    assert_eq!(ran.json()["$return"], json!("one"));
    assert_eq!(ran.json()["copy"], json!("one"));
    assert!(both.is_some(), "{ran:?}");
    let pretty = peer(&server, &["echo_string", "one", "two"]);
    assert_eq!(pretty.json(), ran.json());
    assert!(
        pretty.stdout.starts_with("{\n  \"$return\": \"one\",\n"),
        "{pretty:?}"
    );
}

#[test]
fn values_of_every_kind_come_back() {
    let server = Server::start([]);
    let mixed = r#"{"name":"n","wide":"w€","shade":"blue","m":[[1,2,3],[4,5,6]],
        "id":{"$hex":"000102030405060708090a0b0c0d0e0f"},"list":["a",""],"few":[-1],"flags":[true],
        "inner":{"b":true,"c":"c","o":1,"s":-2,"us":3,"l":-4,"ul":5,"ll":"-6","ull":"7","f":1.5,
        "d":-2.5,"w":"€"}}"#;
    for (operation, argument) in [
        ("echo_wstring", "\"wide €\""),
        ("echo_mixed", mixed),
        (
            "echo_tree",
            r#"{"name":"a","children":[{"name":"b","children":[]}]}"#,
        ),
        ("echo_table", r#"[["a"],[],["b","c"]]"#),
        ("echo_matrix", "[[1,2,3],[4,5,6]]"),
        ("echo_by_colour", r#"{"$d":"green","text":"t"}"#),
        ("echo_by_bool", r#"{"$d":false}"#),
        ("echo_by_char", r#"{"$d":"z","d":0.5}"#),
        (
            "echo_by_long",
            r#"{"$d":7,"other":{"$type":"short","$value":-7}}"#,
        ),
        (
            "echo_any",
            r#"{"$type":"IDL:orbium.test/Kitchen/Colour:1.0","$value":"red"}"#,
        ),
        ("echo_object", "null"),
    ] {
        let ran = peer(&server, &[operation, argument]);
        ran.assert_done();
        let mut sent: serde_json::Value = serde_json::from_str(argument).unwrap();
        if operation == "echo_mixed" {
            sent["id"] = json!("AAECAwQFBgcICQoLDA0ODw==");
        }
        assert_eq!(ran.json(), sent, "{operation}");
    }
    let ran = peer(&server, &["echo_money", "12.5"]);
    assert_eq!(ran.stdout, "\"12.50\"\n");
}

#[test]
fn references_can_be_called_and_passed_on() {
    let server = Server::start([]);
    let ran = peer(&server, &["make_peers", "2"]);
    ran.assert_done();
    let made = ran.json()[1].as_str().unwrap().to_owned();
    let echoed = peer(&server, &["echo_peer", &made]);
    assert_eq!(echoed.json(), json!(made));
    let idl = project_idl("kitchen.idl");
    run(["call", "--idl", &idl, &made, "ping"]).assert_done();
}

#[test]
fn attributes_are_read_and_written_by_their_name() {
    let server = Server::start([]);
    let ran = peer(&server, &["label", "a label"]);
    ran.assert_done();
    assert_eq!(ran.stdout, "");
    assert_eq!(peer(&server, &["label"]).stdout, "\"a label\"\n");
    peer(&server, &["shade", "red"]).assert_failed_saying("the attribute `shade` is readonly");
}

#[test]
fn oneways_print_nothing() {
    let server = Server::start([]);
    let ran = peer(&server, &["notify", "news"]);
    ran.assert_done();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn arguments_come_from_files_and_standard_input() {
    let server = Server::start([]);
    let folder = Folder::new();
    let tree = r#"{"name":"from a file","children":[]}"#;
    let file = format!("@{}", folder.file("tree.json", tree));
    assert_eq!(
        peer(&server, &["echo_tree", &file]).json()["name"],
        "from a file"
    );
    let idl = project_idl("kitchen.idl");
    let arguments = [
        "call",
        "--idl",
        &idl,
        server.ior("Peer"),
        "match",
        "--arguments",
        "-",
    ];
    let ran = run_with(arguments, r#"{"type": 4, "self": 3}"#);
    ran.assert_done();
    let in_order = peer(&server, &["match", "3", "4"]);
    assert_eq!(ran.stdout, in_order.stdout);
    let ran = run_with(arguments, r#"{"self": 3}"#);
    ran.assert_failed_saying("$: `type` is missing");
    let ran = peer(&server, &["echo_tree", "@/nowhere.json"]);
    ran.assert_failed_saying("cannot read `@/nowhere.json`");
}

#[test]
fn bad_json_is_reported_with_the_path_of_the_member() {
    let server = Server::start([]);
    let tree = r#"{"name":"a","children":[{"name":5,"children":[]}]}"#;
    let ran = peer(&server, &["echo_tree", tree]);
    ran.assert_failed_saying("v.children[0].name: expected string, found 5");
    let ran = peer(&server, &["match", "1"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr
            .contains("takes 2 arguments (long self, long type)"),
        "{ran:?}"
    );
}

#[test]
fn exceptions_are_errors_with_their_members() {
    let server = Server::start([]);
    let ran = peer(&server, &["refuse", "true"]);
    ran.assert_failed_saying("the operation raised IDL:orbium.test/Kitchen/Empty:1.0 {}");
    let ran = peer(&server, &["refuse", "false", "--json"]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(
        ran.json()["$exception"],
        "IDL:orbium.test/Kitchen/Refused:1.0"
    );
    assert_eq!(ran.json()["detail"]["$d"], "blue");
    assert!(ran.stderr.is_empty(), "{ran:?}");
    let ran = peer(&server, &["system_exception", "NO_MEMORY"]);
    ran.assert_failed_saying("the call raised NO_MEMORY");
    let ran = peer(&server, &["system_exception", "NO_MEMORY", "--json"]);
    assert_eq!(ran.json()["$exception"], "IDL:omg.org/CORBA/NO_MEMORY:1.0");
    assert_eq!(ran.json()["completed"], "MAYBE");
}

#[test]
fn repeated_calls_have_latencies() {
    let server = Server::start([]);
    let ran = peer(&server, &["match", "3", "4", "--repeat", "20"]);
    ran.assert_done();
    assert!(ran.stdout.contains("20 calls: first "), "{ran:?}");
    let ran = peer(&server, &["match", "3", "4", "--repeat", "20", "--json"]);
    assert_eq!(ran.json()["calls"], 20);
    assert!(ran.json()["median_ns"].as_u64() <= ran.json()["p99_ns"].as_u64());
    assert!(ran.json()["result"]["$return"].is_i64(), "{ran:?}");
}

#[test]
fn a_call_that_takes_too_long_times_out() {
    let server = Server::start([]);
    let ran = peer(&server, &["slow", "60000", "--timeout", "0.1"]);
    ran.assert_failed_saying("timed out: no answer from ");
}

#[test]
fn calls_may_have_a_priority() {
    let server = Server::start([]);
    peer(&server, &["match", "3", "4", "--priority", "100"]).assert_done();
}

#[test]
fn missing_operations_and_members_are_named() {
    let server = Server::start([]);
    let ran = peer(&server, &["fly"]);
    ran.assert_failed_saying("Kitchen::Peer has no operation `fly`; it has: ident, label");
    let ran = peer(&server, &["_is_a", "x"]);
    ran.assert_failed_saying("which every object has");
    let folder = Folder::new();
    let other = folder.file("other.idl", "interface A {}; interface B {};");
    let ran = run(["call", "--idl", &other, server.ior("Peer"), "ping"]);
    ran.assert_failed_saying("which the IDL does not define: choose one with --interface (A, B)");
    let wrong = folder.file("wrong.idl", "interface A { void f(in Nothing x); };");
    let ran = run(["call", "--idl", &wrong, server.ior("Peer"), "f"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("`Nothing` is not declared"), "{ran:?}");
}

#[test]
fn describe_prints_idl_that_can_be_called_by() {
    let server = Server::start([]);
    let idl = project_idl("kitchen.idl");
    let ran = run(["describe", "--idl", &idl, server.ior("Peer")]);
    ran.assert_done();
    assert!(ran.stdout.contains("interface Peer : "), "{ran:?}");
    assert!(!ran.stdout.contains("Labelled"), "{ran:?}");
    let folder = Folder::new();
    let written = folder.file("peer.idl", &ran.stdout);
    let ran = run([
        "call",
        "--idl",
        &written,
        server.ior("Peer"),
        "echo_money",
        "1",
    ]);
    ran.assert_done();
    assert_eq!(ran.stdout, "\"1.00\"\n");
}
