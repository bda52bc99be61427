// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls through pipes.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use custom_transport::Pipes;
use orbium::{Config, Interface, Orb, protocol::Protocols, transport::Transport};
use orbium_testkit::{Served, each_strategy};

/// A directory of one test that is not there yet.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("orbium-pipes-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn endpoint(&self) -> String {
        format!("pipe://{}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn with_pipes() -> Config {
    let mut protocols = Protocols::none();
    protocols.register(Transport::stream(Pipes));
    Config {
        protocols,
        ..Config::default()
    }
}

/// Conformance: protocols - own transports
#[test]
fn objects_are_called_through_pipes_and_nothing_else() {
    each_strategy(|strategy| {
        let folder = Folder::new("calls");
        let server = Served::with(Config {
            endpoints: vec![folder.endpoint().parse().unwrap()],
            strategy,
            ..with_pipes()
        });
        let client = Orb::new(with_pipes()).unwrap();
        let target = server.seen_by(&client);
        assert_eq!(target.echo_long(7).unwrap(), 7);
        let octets = vec![7; 1 << 20];
        assert_eq!(target.echo_octets(&octets).unwrap(), octets);
        let offered = target.as_object().protocols();
        assert_eq!(offered.len(), 1, "{offered:?}");
        assert_eq!(offered[0].to_string(), folder.endpoint());
        server.end();
        assert!(!folder.0.exists(), "what the server made is left behind");
    });
}

/// Conformance: protocols - own transports
#[test]
fn a_reference_is_no_use_to_who_has_no_pipes() {
    let folder = Folder::new("strangers");
    let server = Served::with(Config {
        endpoints: vec![folder.endpoint().parse().unwrap()],
        ..with_pipes()
    });
    let stranger = Orb::builder().build().unwrap();
    let target = server.seen_by(&stranger);
    let refused = target.noop().unwrap_err();
    assert_eq!(refused.kind, orbium::ExceptionKind::InvPolicy);
    let offered = target.as_object().protocols()[0].to_string();
    let sentence = "there is no transport `pipe` here, only iiop";
    assert!(offered.contains(sentence), "{offered}");
    server.end();
}

#[test]
fn a_directory_with_something_else_in_it_is_left_alone() {
    let folder = Folder::new("others");
    std::fs::create_dir(&folder.0).unwrap();
    let precious = folder.0.join("precious");
    std::fs::write(&precious, "kept").unwrap();
    let config = Config {
        endpoints: vec![folder.endpoint().parse().unwrap()],
        ..with_pipes()
    };
    let refused = Orb::new(config).unwrap_err().to_string();
    let sentence = "what is there is no directory for pipes";
    assert!(refused.contains(sentence), "{refused}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

/// A process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that shows it.
fn pipes() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pipes"))
}

/// Conformance: protocols - own transports
#[test]
fn the_example_calls_another_process() {
    let folder = Folder::new("processes");
    let directory = folder.0.to_str().unwrap();
    let mut server = pipes()
        .args(["serve", directory])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = server.stdout.take().unwrap();
    let _running = Running(server);
    let mut reference = String::new();
    BufReader::new(output).read_line(&mut reference).unwrap();
    assert!(reference.starts_with("IOR:"), "{reference}");
    let called = pipes().args(["call", directory, "pipes"]).output().unwrap();
    assert!(called.status.success(), "{called:?}");
    assert_eq!(String::from_utf8_lossy(&called.stdout), "Hello, pipes!\n");
}
