// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo serve` as its users meet it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::program::{Folder, Server, orbium, run};
use orbium::{Orb, giop::Ior};
use orbium_demo::cubit::Cube;

/// Conformance: complaint 20 - tests pick a free port and lose the race for it
#[test]
fn references_are_printed_and_written() {
    let folder = Folder::new();
    let references = folder.path("refs");
    let server = Server::start(["--ior-dir", &references]);
    for key in ["Cube", "Receiver", "Peer"] {
        let file = format!("{references}/{}.ior", key.to_ascii_lowercase());
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written.trim(), server.ior(key));
        run(["ping", &file]).assert_done();
        run(["ping", server.corbaloc(key)]).assert_done();
    }
    // Nothing else is left there, such as a draft.
    assert_eq!(std::fs::read_dir(&references).unwrap().count(), 3);
}

#[test]
fn a_signal_ends_it_well() {
    for name in ["TERM", "INT"] {
        let server = Server::start([]);
        server.signal(name);
        assert_eq!(server.status(), Some(0), "SIG{name}");
    }
}

/// Once the signal was lost: ending takes a thread, and nothing was done without.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_it_where_no_thread_can_be_had() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let server = Server::start([]);
    let process = Pid::from_raw(server.process().try_into().unwrap());
    // Room for small allocations, and none for the stack of another thread.
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib: u64 = size
        .and_then(|size| size.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.parse().ok())
        .unwrap();
    let none = Rlimit {
        current: Some((kib + 512) << 10),
        maximum: None,
    };
    prlimit(process, Resource::As, none).unwrap();
    server.signal("TERM");
    assert_eq!(server.status(), Some(0));
}

#[test]
fn shutdown_ends_it_well() {
    let server = Server::start([]);
    let orb = Orb::builder().build().unwrap();
    let object = orb.string_to_object(server.ior("Cube")).unwrap();
    let cube: Cube = orbium::narrow(object).unwrap();
    cube.shutdown().unwrap();
    assert_eq!(server.status(), Some(0));
}

#[test]
fn every_strategy_and_version_serves() {
    for options in [
        ["--strategy", "reactive"],
        ["--strategy", "thread-per-connection"],
        ["--strategy", "leader-followers"],
        ["--strategy", "leader-followers:2"],
        ["--strategy", "worker-pool"],
        ["--strategy", "worker-pool:2/16"],
        ["--giop-minor", "0"],
        ["--giop-minor", "1"],
        ["--fragment-size", "64"],
    ] {
        let server = Server::start(options);
        run([
            "demo",
            "call",
            "--ref",
            server.ior("Cube"),
            "--op",
            "echo_octets",
            "--size",
            "1000",
            "--calls",
            "3",
        ])
        .assert_done();
    }
}

#[test]
fn the_giop_version_is_published() {
    let server = Server::start(["--giop-minor", "1"]);
    let ior: Ior = server.ior("Cube").parse().unwrap();
    assert_eq!(ior.iiop_profiles().next().unwrap().version.minor, 1);
    assert!(
        server
            .corbaloc("Cube")
            .starts_with("corbaloc:iiop:1.1@127.0.0.1:")
    );
}

#[test]
fn several_endpoints_are_served() {
    let server = Server::start(["--endpoint", "iiop://127.0.0.1:0"]);
    let ior: Ior = server.ior("Cube").parse().unwrap();
    let addresses: Vec<_> = ior.iiop_profiles().next().unwrap().addresses().collect();
    assert_eq!(addresses.len(), 2);
    for address in addresses {
        run(["ping", &format!("corbaloc::{address}/Cube")]).assert_done();
    }
}

/// Each channel of a server, by itself and chosen out of a reference to all.
#[cfg(unix)]
#[test]
fn several_protocols_are_served_and_announced() {
    let folder = Folder::new();
    let endpoint = format!("uiop://{}", folder.path("s"));
    let server = Server::start([
        "--endpoint",
        &endpoint,
        "--endpoint",
        "iiop://127.0.0.1:0?messaging=giop-lite",
    ]);
    assert_eq!(
        server.announced("Cube corbaloc:uiop:"),
        format!("Cube corbaloc:uiop:1.2@{}|Cube", folder.path("s"))
    );
    assert!(
        server
            .announced("Peer at ")
            .starts_with("Peer at iiop://127.0.0.1:")
    );
    let ran = run([
        "ping",
        &format!("corbaloc:uiop:1.2@{}|Cube", folder.path("s")),
    ]);
    ran.assert_done();
    assert!(ran.stdout.contains(&endpoint), "{ran:?}");
    // The nearest comes first.
    for (protocols, address) in [("uiop,iiop", endpoint.as_str()), ("iiop", " at 127.0.0.1:")] {
        let ran = run(["ping", server.ior("Cube"), "--protocols", protocols]);
        ran.assert_done();
        assert!(ran.stdout.contains(address), "{ran:?}");
    }
    // What is shown is what was used, not what comes first.
    std::fs::remove_file(folder.path("s")).unwrap();
    let ran = run(["ping", server.ior("Cube")]);
    ran.assert_done();
    assert!(ran.stdout.contains(" at 127.0.0.1:"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn shared_memory_is_served_and_announced() {
    let folder = Folder::new();
    let endpoint = format!("shmiop://{}", folder.path("m"));
    let server = Server::start(["--endpoint", &endpoint]);
    let reference = format!("corbaloc:shmiop:1.2@{}|Cube", folder.path("m"));
    assert_eq!(
        server.announced("Cube corbaloc:shmiop:"),
        format!("Cube {reference}")
    );
    for reference in [reference.as_str(), server.ior("Cube")] {
        let ran = run(["ping", reference, "--shm-spin", "none"]);
        ran.assert_done();
        assert!(ran.stdout.contains(&endpoint), "{ran:?}");
    }
    let more = ["--op", "echo_octets", "--size", "100000", "--calls", "3"];
    let call = ["demo", "call", "--ref", &reference, "--protocols", "shmiop"];
    run(call.into_iter().chain(more)).assert_done();
}

#[test]
fn a_port_that_is_taken_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    run(["demo", "serve", "--endpoint", &format!("iiop://{address}")])
        .assert_failed_saying(&format!("cannot listen at iiop://{address}"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new();
    let in_the_way = folder.file("file", "");
    run([
        "demo",
        "serve",
        "--endpoint",
        "iiop://127.0.0.1:0",
        "--ior-dir",
        &in_the_way,
    ])
    .assert_failed_saying("cannot write");
}

#[test]
fn options_that_make_no_sense_are_wrong_usage() {
    for (option, value, reason) in [
        ("--endpoint", "http://localhost", "is not an endpoint"),
        ("--endpoint", "iiop://localhost:99999", "is not a port"),
        ("--strategy", "magic", "is not a server strategy"),
        ("--strategy", "worker-pool:many", "is not a server strategy"),
        ("--giop-minor", "3", "expected 0, 1 or 2"),
    ] {
        let ran = run(["demo", "serve", option, value]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
}

/// Conformance: ORB - configuration from files and by named profiles; senseless combinations
/// refused
#[test]
fn a_configuration_is_read_and_what_is_wrong_in_it_is_shown() {
    let folder = Folder::new();
    let good = folder.file(
        "good.toml",
        "profile = 'embedded'\nendpoint = 'iiop://127.0.0.1:0'\n",
    );
    let mut server = orbium(["demo", "serve", "--until-input-ends", "--config", &good])
        .args(["--set", "limits.connections=3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let said: Vec<_> = lines
        .map(Result::unwrap)
        .take_while(|line| line != "READY")
        .collect();
    assert!(
        said.iter().any(|line| line.contains("@127.0.0.1:")),
        "{said:?}"
    );
    drop(server.stdin.take());
    assert_eq!(server.wait().unwrap().code(), Some(0));

    let bad = folder.file("bad.toml", "\ngiop_minr = 1\n");
    let senseless = folder.file("senseless.toml", "[limits]\nconnections = 0\n");
    for (options, status, reason) in [
        (
            ["--config", &bad],
            2,
            "bad.toml:2: there is no key `giop_minr`",
        ),
        (["--config", "/no/such/file"], 2, "cannot be read"),
        (["--profile", "fast"], 2, "write default, embedded"),
        (["--set", "giop_minor"], 2, "write --set KEY=VALUE"),
        (["--set", "giop_minor=9"], 2, "write 0, 1 or 2"),
        (["--config", &senseless], 1, "no client could be served"),
    ] {
        let ran = run(["demo", "serve"].into_iter().chain(options));
        assert_eq!(ran.status, Some(status), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
}
