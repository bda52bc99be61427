// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each example runs to its end and prints what it is there to show.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Cargo builds examples beside the folder of the test programs.
fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().expect("this program");
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    Command::new(path)
}

/// Runs an example that ends by itself; returns its standard output.
fn output(name: &str) -> String {
    let output = example(name).output().expect("the example runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

macro_rules! prints {
    ($($name:ident: $expected:expr;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(output(stringify!($name)), $expected);
        })+
    };
}

prints! {
    admission: "refused: 20 are left\nAnna watches on\none has 1000\neach of 4 has 250\n";
    any: "Except IDL:Bank/Overdrawn:1.0\nLong\nBoolean\nString\n";
    async_calls: "1 of 2 was refused\n";
    callbacks: "Anna has 0\n";
    configuration: "leader-followers:2 200\nAnna\ntrue\n";
    events: "16 of 1: 21.5\n16 and 17 together\n";
    exceptions: "70 are missing\nTransient, completed: No\n";
    firewall: "Anna has 7\n";
    metrics: "orbium_server_requests_total{operation=\"Bank::Account/deposit\",lane=\"orb\",outcome=\"ok\"} 10\n";
    no_network: "Anna has 10\n";
    references: "Anna\nAnna\n";
    scheduled_tasks: "10 of 10 were paid, by muf\n";
    several_files: "P-101: too high is true\n";
    on_demand: "Anna has 30\nOBJECT_NOT_EXIST\nAnna is put away\n";
    shutdown: "Ok(42)\nTRANSIENT\n";
    state: "Anna has 4\nBert has 4\nOBJECT_NOT_EXIST\n";
    tls: "Anna\n";
    timeouts: "TIMEOUT\nAnna\n";
    threads: "thread-per-connection: 100\nreactive: 100\nleader-followers:2: 100\nworker-pool:2/64: 100\n";
}

#[test]
fn logging() {
    let output = output("logging");
    assert!(output.contains(" INFO "), "{output}");
    assert!(output.contains("listening"), "{output}");
    assert!(output.lines().any(|line| line == "Anna"), "{output}");
}

#[test]
fn retry() {
    let output = output("retry");
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines.first(), Some(&"not there yet"), "{output}");
    assert_eq!(lines.last(), Some(&"Anna"), "{output}");
}

#[test]
fn signals() {
    let mut child = example("signals")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut reference = String::new();
    lines.read_line(&mut reference).expect("a reference");
    assert!(reference.starts_with("IOR:"), "{reference}");
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status();
    assert!(killed.expect("kill").success());
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("what it says");
    assert_eq!(rest, "signal 15\nended\n");
    assert!(child.wait().expect("its status").success());
}
