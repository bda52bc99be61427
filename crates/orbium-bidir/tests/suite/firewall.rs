// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client on a host that drops what comes for its port. Server and client are processes in
//! network name spaces of their own, which takes privileges and the program `ip`.
//!
//! The test runs itself again in each name space, as server or client.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use orbium::{
    Config,
    config::{BidirectionalPolicy, ConnectTimeout},
};
use orbium_testkit::{Served, eventually, reach, skipped, within};

/// What the process that has it set is to do.
const ROLE: &str = "ORBIUM_TEST_ROLE";

/// Where the client listens.
const CLIENT: &str = "iiop://10.77.0.2:20077";

fn ip(arguments: &str) -> bool {
    let run = Command::new("ip")
        .args(arguments.split_whitespace())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// The name spaces of a server and of a client behind a firewall, gone when dropped.
struct Hosts {
    server: String,
    client: String,
}

impl Hosts {
    /// `None` without the privileges.
    fn new() -> Option<Self> {
        let pid = std::process::id();
        let server = format!("orbium-{pid}-server");
        let client = format!("orbium-{pid}-client");
        if !ip(&format!("netns add {server}")) {
            return None;
        }
        let hosts = Self { server, client };
        let (a, b) = (&hosts.server, &hosts.client);
        let rest = [
            format!("netns add {b}"),
            format!("link add cable netns {a} type veth peer name cable netns {b}"),
            format!("-n {a} address add 10.77.0.1/24 dev cable"),
            format!("-n {b} address add 10.77.0.2/24 dev cable"),
            format!("-n {a} link set cable up"),
            format!("-n {b} link set cable up"),
            format!("-n {b} link set lo up"),
            // The firewall: packets to the port vanish, SYN and all.
            format!("-n {b} rule add pref 200 lookup local"),
            format!("-n {b} rule delete pref 0"),
            format!("-n {b} rule add pref 100 iif cable ipproto tcp dport 20077 blackhole"),
        ];
        rest.iter().all(|command| ip(command)).then_some(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in [&self.server, &self.client] {
            ip(&format!("netns delete {name}"));
        }
    }
}

/// A process that is asked by lines and answers each with one.
struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// This test in a name space, in a role.
    fn start(host: &str, role: &str) -> Self {
        let test = "firewall::a_client_behind_a_firewall_is_called_back";
        let mut child = Command::new("ip")
            .args(["netns", "exec", host])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            input,
            output,
        }
    }

    fn answer(&mut self) -> String {
        for line in &mut self.output {
            // The test harness may have begun the line.
            if let Some((_, answer)) = line.unwrap().split_once("answer: ") {
                return answer.to_owned();
            }
        }
        panic!("ended without an answer");
    }

    fn ask(&mut self, question: &str) -> String {
        writeln!(self.input, "{question}").unwrap();
        self.answer()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn config(endpoint: &str, bidirectional: BidirectionalPolicy) -> Config {
    Config {
        endpoints: vec![endpoint.parse().unwrap()],
        bidirectional,
        // What the firewall swallows is waited for so long.
        connect_timeout: ConnectTimeout(Duration::from_secs(2)),
        ..Config::default()
    }
}

/// Gives its reference, then calls an object as often as its reference is given to it.
fn serve() {
    let served = Served::with(config("iiop://10.77.0.1:0", BidirectionalPolicy::Both));
    println!("answer: {}", served.orb.object_to_string(&served.target));
    for line in std::io::stdin().lines() {
        let target = reach(&served.orb, &line.unwrap());
        match within("a call-back", move || target.echo_long(7)) {
            Ok(value) => println!("answer: {value}"),
            Err(exception) => println!("answer: {:?}", exception.kind),
        }
    }
}

/// Gives its reference, then has the server call it back within calls, as deep as it is asked.
fn call(policy: BidirectionalPolicy, server: &str) {
    let client = Served::with(config(CLIENT, policy));
    println!("answer: {}", client.orb.object_to_string(&client.target));
    for line in std::io::stdin().lines() {
        let (depth, own) = (line.unwrap().parse().unwrap(), client.target.clone());
        let target = reach(&client.orb, server);
        match within("a chain", move || target.nest(Some(&own), depth)) {
            Ok(value) => println!("answer: {value}"),
            Err(exception) => println!("answer: {:?}", exception.kind),
        }
    }
}

/// Conformance: connections - bidirectional GIOP: through a firewall that drops what comes for
/// the client's port
#[test]
fn a_client_behind_a_firewall_is_called_back() {
    if let Ok(role) = std::env::var(ROLE) {
        return match role.split_once(' ') {
            Some(("both", server)) => call(BidirectionalPolicy::Both, server),
            Some(("normal", server)) => call(BidirectionalPolicy::Normal, server),
            _ => serve(),
        };
    }
    let Some(hosts) = Hosts::new() else {
        skipped("a call-back through a firewall: takes root and the program ip");
        return;
    };
    let mut server = Program::start(&hosts.server, "serve");
    let reference = server.answer();

    // Nothing comes through the firewall by itself.
    let mut client = Program::start(&hosts.client, &format!("normal {reference}"));
    let own = client.answer();
    assert_eq!(client.ask("0"), "0");
    assert_eq!(client.ask("1"), "Transient");
    assert_eq!(server.ask(&own), "Transient");
    drop(client);

    let mut client = Program::start(&hosts.client, &format!("both {reference}"));
    let own = client.answer();
    for depth in ["0", "1", "10"] {
        assert_eq!(client.ask(depth), depth);
    }
    assert_eq!(server.ask(&own), "7");
    drop(client);
    // The address in the reference is not reached.
    eventually("the connection is gone", || server.ask(&own) == "Transient");
}
