// SPDX-License-Identifier: MIT OR Apache-2.0
//! Serving commands that read their configuration again at SIGHUP.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use orbium::{ObjectRef, Orb, SystemException};
use orbium_testkit::{PATIENCE, within};

use crate::program::{Folder, orbium, signal};

const FIRST: &str = "endpoint = ['iiop://127.0.0.1:0']\n";

/// A serving command, killed with the test unless it ended.
struct Reloading {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    reference: String,
}

fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

impl Reloading {
    fn start(command: &[&str], file: &str) -> Self {
        let arguments = command.iter().copied().chain(["--config", file]);
        let mut child = orbium(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = lines_of(child.stdout.take().unwrap());
        let stderr = lines_of(child.stderr.take().unwrap());
        let first = stdout.recv_timeout(PATIENCE).unwrap();
        let reference = first.rsplit(' ').next().unwrap().to_owned();
        let started = Self {
            child,
            stdout,
            stderr,
            reference,
        };
        while started.stdout.recv_timeout(PATIENCE).unwrap() != "READY" {}
        started
    }

    fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// What it reports once it has read the file again.
    fn hang_up(&self) -> String {
        self.signal("HUP");
        loop {
            let line = self.stderr.recv_timeout(PATIENCE).unwrap();
            // An error in the file is shown with its line, which belongs to the report before.
            if !line.starts_with(' ') {
                return line;
            }
        }
    }

    /// A client with a connection of its own.
    fn client(&self) -> (Orb, ObjectRef) {
        let orb = Orb::builder().build().unwrap();
        let object = orb.string_to_object(&self.reference).unwrap().unwrap();
        (orb, object)
    }

    fn end(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Reloading {
    fn drop(&mut self) {
        // Neither matters to one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call((_, object): &(Orb, ObjectRef)) -> Result<bool, SystemException> {
    object.non_existent()
}

fn reads_its_configuration_again(command: &[&str]) {
    let folder = Folder::new();
    let file = folder.file("server.toml", FIRST);
    let served = Reloading::start(command, &file);
    let first = served.client();
    assert_eq!(call(&first), Ok(false));

    // The connection of the first client is all that there may be.
    folder.file("server.toml", format!("{FIRST}limits.connections = 1\n"));
    assert_eq!(
        served.hang_up(),
        "reconfigured: limits.connections: 4096 → 1"
    );
    let second = served.client();
    assert!(call(&second).is_err());
    assert_eq!(call(&first), Ok(false));

    let more = format!("{FIRST}limits.connections = 9\n");
    folder.file("server.toml", format!("{more}limits.nesting = 9\n"));
    let refused = "error: not reconfigured, nothing is changed: cannot change while the ORB runs: limits.nesting";
    assert_eq!(served.hang_up(), refused);
    folder.file("server.toml", format!("{FIRST}limits.connectoins = 9\n"));
    let misspelt = served.hang_up();
    assert!(
        misspelt.starts_with("error: not reconfigured"),
        "{misspelt}"
    );
    assert!(misspelt.contains("connectoins"), "{misspelt}");
    assert!(call(&second).is_err());
    assert_eq!(call(&first), Ok(false));

    folder.file("server.toml", more);
    assert_eq!(served.hang_up(), "reconfigured: limits.connections: 1 → 9");
    assert_eq!(call(&second), Ok(false));
    served.end();
}

/// A test per command.
macro_rules! commands {
    ($($(#[$mark:meta])+ $name:ident: $command:expr;)+) => {$(
        $(#[$mark])+
        #[test]
        fn $name() {
            reads_its_configuration_again(&$command);
        }
    )+};
}

commands! {
    /// Conformance: ORB - SIGHUP reconfigures the servers of the program - `demo serve`
    demo_serve_reads_its_configuration_again: ["demo", "serve"];
    /// Conformance: ORB - SIGHUP reconfigures the servers of the program - `events serve`
    events_serve_reads_its_configuration_again: ["events", "serve"];
    /// Conformance: ORB - SIGHUP reconfigures the servers of the program - `notify serve`
    notify_serve_reads_its_configuration_again: ["notify", "serve"];
    /// Conformance: ORB - SIGHUP reconfigures the servers of the program - `sched serve`
    sched_serve_reads_its_configuration_again: ["sched", "serve"];
    /// Conformance: ORB - SIGHUP reconfigures the servers of the program - `ifr serve`
    ifr_serve_reads_its_configuration_again: ["ifr", "serve"];
}

/// Options are applied again, so that they differ from nothing; no protocol is taken away.
#[test]
fn options_hold_through_a_reload_and_protocols_are_refused() {
    let folder = Folder::new();
    let file = folder.file("server.toml", "limits.connections = 7\n");
    let at = ["--endpoint", "iiop://127.0.0.1:0"];
    let demo = ["demo", "serve", "--strategy", "reactive", at[0], at[1]];
    let events = ["events", "serve", at[0], at[1]];
    for command in [&demo[..], &events[..]] {
        folder.file("server.toml", "limits.connections = 7\n");
        let served = Reloading::start(command, &file);
        assert_eq!(served.hang_up(), "reconfigured: no key has another value");
        folder.file("server.toml", "protocols = 'iiop'\n");
        let refused = served.hang_up();
        assert!(refused.contains("runs: protocols (without "), "{refused}");
        let client = served.client();
        assert_eq!(call(&client), Ok(false));
        served.end();
    }
}

/// It ended the server: a reload right after the start, for example of a rotation of logs.
#[test]
fn a_hangup_before_a_server_is_ready_is_handled_once_it_is() {
    for command in [["events", "serve"], ["demo", "serve"]] {
        let folder = Folder::new();
        let file = folder.path("config.toml");
        let made = Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        let arguments = command.into_iter().chain(["--config", &file]);
        let mut child = orbium(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = lines_of(child.stdout.take().unwrap());
        let stderr = lines_of(child.stderr.take().unwrap());
        // Opening waits for a reader.
        let fifo = file.clone();
        let mut config = within("the file is read", move || {
            File::options().write(true).open(fifo).unwrap()
        });
        signal(&child, "HUP");
        // The file that is read again.
        std::fs::rename(folder.file("next.toml", FIRST), &file).unwrap();
        config.write_all(FIRST.as_bytes()).unwrap();
        drop(config);
        let report = stderr.recv_timeout(PATIENCE).unwrap();
        assert_eq!(report, "reconfigured: no key has another value");
        while stdout.recv_timeout(PATIENCE).unwrap() != "READY" {}
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
