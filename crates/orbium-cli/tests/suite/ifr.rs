// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ifr`, and `--ifr` of other commands.

use std::process::Child;

use orbium_testkit::dead_port;

use crate::program::{Folder, Server, project_idl, run, run_with, serving};

/// A repository that the program serves, ended with the test.
struct Repository {
    child: Child,
    reference: String,
}

impl Repository {
    fn serve<'a>(more: impl IntoIterator<Item = &'a str>) -> Self {
        let start = [
            "ifr",
            "serve",
            "--until-input-ends",
            "--endpoint",
            "iiop://127.0.0.1:0",
        ];
        let (child, lines) = serving(start.into_iter().chain(more));
        let reference = lines[0].clone();
        Self { child, reference }
    }

    /// Ends it in good order.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        // Neither matters to one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Conformance: ORB - Interface Repository - `orbium ifr`, and types of `orbium call` from it
#[test]
fn loaded_definitions_serve_call_and_describe() {
    let repository = Repository::serve([]);
    let idl = project_idl("kitchen.idl");
    let ran = run(["ifr", "load", &idl, "--to", &repository.reference]);
    ran.assert_done();
    assert!(ran.stdout.ends_with(" new definitions\n"), "{ran:?}");
    let again = run(["ifr", "load", &idl, "--to", &repository.reference]);
    again.assert_done();
    assert_eq!(again.stdout, "0 new definitions\n");

    let exported = run(["ifr", "export", &repository.reference]);
    exported.assert_done();
    let folder = Folder::new();
    let file = folder.file("exported.idl", &exported.stdout);
    let same = run(["ifr", "load", &file, "--to", &repository.reference]);
    assert_eq!(same.stdout, "0 new definitions\n", "{same:?}");

    let server = Server::start([]);
    let peer = server.ior("Peer");
    let call = [
        "call",
        "--ifr",
        &repository.reference,
        peer,
        "match",
        "1",
        "2",
    ];
    let by_repository = run(call);
    by_repository.assert_done();
    let by_file = run(["call", "--idl", &idl, peer, "match", "1", "2"]);
    assert_eq!(by_repository.stdout, by_file.stdout);
    let described = run(["describe", "--ifr", &repository.reference, peer]);
    described.assert_done();
    assert!(described.stdout.contains("echo_matrix"), "{described:?}");
}

/// Conformance: ORB - `_interface`
#[test]
fn an_object_leads_to_its_types() {
    let repository = Repository::serve([]);
    let idl = project_idl("kitchen.idl");
    run(["ifr", "load", &idl, "--to", &repository.reference]).assert_done();
    let configured = format!(
        "initial_reference=InterfaceRepository={}",
        repository.reference
    );
    let server = Server::start(["--set", &configured]);
    let peer = server.ior("Peer");

    let argument = r#"[["a"],[],["b","c"]]"#;
    let ran = run(["call", peer, "echo_table", argument, "--json"]);
    ran.assert_done();
    assert_eq!(ran.stdout, format!("{{\"$return\":{argument}}}\n"));
    let by_file = run(["describe", "--idl", &idl, peer]);
    let ran = run(["describe", peer]);
    ran.assert_done();
    let names = |text: &str| text.matches("echo_").count();
    assert_eq!(names(&ran.stdout), names(&by_file.stdout), "{ran:?}");
    let ran = run_with(["shell", peer], "label 'set here'\nlabel\n");
    ran.assert_done();
    assert!(ran.stdout.contains("set here"), "{ran:?}");

    run(["call", server.ior("Cube"), "noop"])
        .assert_failed_saying("without the interface of the object: give the types by --idl");
    let named = run(["call", peer, "--interface", "Unheard", "ping"]);
    named.assert_failed_saying("the Interface Repository has no interface `Unheard`");
}

#[test]
fn without_types_a_call_is_refused_in_a_sentence() {
    let server = Server::start([]);
    let sentence = "has no Interface Repository: give the types by --idl FILE or --ifr REF";
    for command in ["call", "describe", "shell"] {
        let operation = (command == "call").then_some("noop");
        let ran = run([command, server.ior("Cube")].into_iter().chain(operation));
        ran.assert_failed_saying(sentence);
    }
    let dead = format!("corbaloc::127.0.0.1:{}/Cube", dead_port());
    run(["call", &dead, "noop"]).assert_failed_saying("nothing listens at");
}

#[test]
fn a_file_outlives_the_server() {
    let folder = Folder::new();
    let database = folder.path("types.redb");
    let idl = folder.file("s.idl", "struct S { long a; };");
    let first = Repository::serve(["--database", &database]);
    run(["ifr", "load", &idl, "--to", &first.reference]).assert_done();
    first.end();
    let second = Repository::serve(["--database", &database]);
    let exported = run(["ifr", "export", &second.reference]);
    assert_eq!(exported.stdout, "struct S { long a; };\n", "{exported:?}");
}

#[test]
fn files_that_cannot_be_loaded_are_refused_in_a_sentence() {
    let repository = Repository::serve([]);
    let folder = Folder::new();
    let one = folder.file("one.idl", "struct S { long a; };");
    let other = folder.file("other.idl", "struct S { string a; };");
    run(["ifr", "load", &one, "--to", &repository.reference]).assert_done();
    run(["ifr", "load", &other, "--to", &repository.reference])
        .assert_failed_saying("the repository has another definition of IDL:S:1.0");
    let server = Server::start([]);
    run(["ifr", "export", server.ior("Cube")]).assert_failed_saying("not an Interface Repository");
}
