// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--load` and `--protocols-only` as users of the program meet them. The
//! library is that of `examples/custom-transport`, which Cargo builds with these
//! tests as it is a dependency of theirs.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::program::{Folder, Server, orbium, run};

/// The library.
fn library() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let tests = std::env::current_exe().unwrap();
    let name = format!("{DLL_PREFIX}custom_transport{DLL_SUFFIX}");
    tests.with_file_name(name).to_str().unwrap().to_owned()
}

/// Conformance: protocols - protocols out of shared libraries
#[test]
fn a_loaded_transport_is_served_and_called() {
    let (folder, library) = (Folder::new(), library());
    let load = ["--load", library.as_str()];
    for strategy in ["thread-per-connection", "reactive"] {
        let endpoint = format!("pipe://{}", folder.path("pipes"));
        let options = ["--strategy", strategy];
        let server = Server::start_at(&endpoint, load.into_iter().chain(options));
        for reference in [server.ior("Cube"), server.corbaloc("Cube")] {
            let ran = run(["ping", "--json", reference].into_iter().chain(load));
            ran.assert_done();
            assert_eq!(ran.json()["address"], endpoint);
        }
        let call = ["demo", "call", "--op", "echo_structs", "--size", "1000"];
        let reference = ["--calls", "10", "--ref", server.ior("Receiver")];
        run(call.into_iter().chain(reference).chain(load)).assert_done();
        // A client without the library cannot call it.
        run(["ping", server.ior("Cube")])
            .assert_failed_saying("there is no transport `pipe` here, only iiop");
    }
}

#[test]
fn a_bridge_leads_to_a_loaded_transport() {
    let (folder, library) = (Folder::new(), library());
    let endpoint = format!("pipe://{}", folder.path("pipes"));
    let _server = Server::start_at(&endpoint, ["--load", library.as_str()]);
    let outside = format!("uiop://{}", folder.path("socket"));
    let mut bridge = orbium(["bridge", "--listen", &outside, "--to", &endpoint])
        .args(["--load", &library])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(bridge.stdout.take().unwrap());
    let is_ready = output.lines().any(|line| line.unwrap() == "READY");
    let reference = format!("corbaloc:uiop:1.2@{}|Cube", folder.path("socket"));
    let ran = run(["ping", reference.as_str()]);
    // It may have ended, which is checked below.
    let _ = bridge.kill();
    let _ = bridge.wait();
    assert!(is_ready);
    ran.assert_done();
}

#[test]
fn libraries_that_cannot_be_loaded_are_refused_with_a_sentence() {
    let folder = Folder::new();
    let text = folder.file("text.so", "no library");
    let nowhere = folder.path("nowhere.so");
    for path in [&text, &nowhere] {
        let sentence = format!("`{path}` cannot be loaded: ");
        let uiop = format!("uiop://{}", folder.path("socket"));
        for command in [
            &["ping", "corbaloc::127.0.0.1:1/Cube"][..],
            &["demo", "serve"],
            &["bridge", "--listen", &uiop, "--to", "iiop://127.0.0.1:1"],
        ] {
            let arguments = command.iter().copied().chain(["--load", path]);
            run(arguments).assert_failed_saying(&sentence);
        }
    }
}

/// Conformance: protocols - nothing fits: INV_POLICY, and why
#[test]
fn only_what_is_named_is_there() {
    let folder = Folder::new();
    let endpoint = format!("uiop://{}", folder.path("socket"));
    let server = Server::start_at(&endpoint, ["--protocols-only", "uiop"]);
    let cube = server.ior("Cube");
    run(["ping", "--protocols-only", "uiop,iiop", cube]).assert_done();
    run(["ping", "--protocols-only", "iiop", cube])
        .assert_failed_saying("there is no transport `uiop` here, only iiop");
    for (names, sentence) in [
        (
            "telex",
            "there is no transport and no messaging `telex` here, only iiop, ",
        ),
        ("iiop", "is not an endpoint of a protocol that is there"),
    ] {
        let serve = ["demo", "serve", "--endpoint", &endpoint];
        let ran = run(serve.into_iter().chain(["--protocols-only", names]));
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(sentence), "{ran:?}");
    }
}
