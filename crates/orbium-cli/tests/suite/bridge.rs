// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bridge` as its users meet it.

use std::process::{Child, ChildStdin};

use crate::program::{Folder, Server, run, serving, signal};

/// A running bridge, ended with the test.
struct Bridge {
    child: Child,
    lines: Vec<String>,
    /// Its end is the end of the bridge too.
    input: Option<ChildStdin>,
}

impl Bridge {
    fn start<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let start = ["bridge", "--until-input-ends"];
        let (mut child, lines) = serving(start.into_iter().chain(arguments));
        let input = child.stdin.take();
        Self {
            child,
            lines,
            input,
        }
    }

    /// Where it listens, and where that leads.
    fn way(&self) -> (&str, &str) {
        self.lines[0].split_once(" -> ").unwrap()
    }

    /// The reference that it was given, as its clients need it.
    fn reference(&self) -> &str {
        let reference = &self.lines[1];
        assert!(reference.starts_with("IOR:"), "{:?}", self.lines);
        reference
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Neither matters to one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server behind a Unix socket, and where that is.
fn behind_a_socket(folder: &Folder, parameters: &str) -> (Server, String) {
    let endpoint = format!("uiop://{}", folder.path("inside"));
    let server = Server::start_at(&format!("{endpoint}{parameters}"), []);
    (server, format!("{endpoint}{parameters}"))
}

/// Conformance: protocols - bridges
#[test]
fn a_server_behind_a_unix_socket_is_reached_over_tcp() {
    let folder = Folder::new();
    for parameters in ["", "?messaging=giop-lite"] {
        let (server, inside) = behind_a_socket(&folder, parameters);
        let cube = server.ior("Cube");
        let listen = ["--listen", "iiop://127.0.0.1:0", "--to", &inside];
        let bridge = Bridge::start(listen.into_iter().chain(["--ref", cube]));
        let (outside, to) = bridge.way();
        assert_eq!(to, inside);
        // By the reference that it has rewritten.
        let ran = run(["ping", "--json", "--protocols", "iiop", bridge.reference()]);
        ran.assert_done();
        assert_eq!(ran.json()["type_id"], "IDL:Cubit/Cube:1.0");
        let address = outside.strip_prefix("iiop://").unwrap();
        assert_eq!(ran.json()["address"], address);
        // The reference of the server itself does not go that way.
        run(["ping", "--protocols", "iiop", cube])
            .assert_failed_saying("the policy does not name it");
        // By key.
        run(["ping", &format!("corbaloc::{address}/Receiver")]).assert_done();
        run(["ping", &format!("corbaloc::{address}/Nobody")])
            .assert_failed_saying("no such object");
        // Calls of all sizes.
        let call = ["demo", "call", "--op", "echo_octets", "--size", "300000"];
        run(call
            .into_iter()
            .chain(["--calls", "3", "--ref", bridge.reference()]))
        .assert_done();
    }
}

#[test]
fn it_ends_with_its_standard_input_and_with_a_signal() {
    let folder = Folder::new();
    let (_server, inside) = behind_a_socket(&folder, "");
    let outside = format!("uiop://{}", folder.path("outside"));
    let listen = ["--listen", &outside, "--to", &inside];
    let mut bridge = Bridge::start(listen);
    drop(bridge.input.take());
    assert_eq!(bridge.child.wait().unwrap().code(), Some(0));
    let mut bridge = Bridge::start(listen);
    signal(&bridge.child, "TERM");
    assert_eq!(bridge.child.wait().unwrap().code(), Some(0));
    assert!(!std::path::Path::new(&folder.path("outside")).exists());
}

#[test]
fn a_server_that_is_not_there_is_the_client_s_to_hear_of() {
    let folder = Folder::new();
    let unserved = format!("uiop://{}", folder.path("unserved"));
    let bridge = Bridge::start(["--listen", "iiop://127.0.0.1:0", "--to", &unserved]);
    let (outside, _) = bridge.way();
    let address = outside.strip_prefix("iiop://").unwrap();
    let ran = run([
        "ping",
        &format!("corbaloc::{address}/Cube"),
        "--timeout",
        "5",
    ]);
    ran.assert_failed_saying(&format!("the object at {address} cannot be asked"));
    assert!(ran.stderr.contains("TRANSIENT"), "{ran:?}");
}

/// Conformance: protocols - bridges
#[test]
fn impossible_bridges_are_refused_with_a_sentence() {
    let folder = Folder::new();
    let (server, inside) = behind_a_socket(&folder, "");
    let free = "iiop://127.0.0.1:0";
    for (listen, to, sentence) in [
        (
            "xiop://h",
            inside.as_str(),
            "there is no transport `xiop` here, only iiop",
        ),
        (
            free,
            "xiop://h",
            "there is no transport `xiop` here, only iiop",
        ),
        (
            free,
            "iiop://h:1?messaging=x",
            "there is no messaging `x` here, only",
        ),
        (inside.as_str(), free, "another process listens there"),
        (
            "ssliop://127.0.0.1:0",
            free,
            "needs a certificate: see --tls-cert",
        ),
    ] {
        run(["bridge", "--listen", listen, "--to", to]).assert_failed_saying(sentence);
    }
    let elsewhere = ["bridge", "--listen", free, "--to", "iiop://127.0.0.1:1"];
    run(elsewhere.into_iter().chain(["--ref", server.ior("Cube")]))
        .assert_failed_saying("nothing in the reference leads to iiop://127.0.0.1:1");
    let named = ["bridge", "--listen", free, "--to", &inside];
    run(named.into_iter().chain(["--ref", "corbaname::h#x"]))
        .assert_failed_saying("has to be resolved by a naming service first");
    // What makes no sense on any machine is wrong usage.
    for (listen, to, reason) in [
        ("nonsense", inside.as_str(), "is not an endpoint"),
        (free, "nonsense", "is not an endpoint"),
    ] {
        let ran = run(["bridge", "--listen", listen, "--to", to]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
}
