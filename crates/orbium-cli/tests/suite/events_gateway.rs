// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events gateway` between two hosts: network name spaces, which take privileges and the
//! program `ip`.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use orbium_testkit::{eventually, skipped};

use crate::program::{Served, orbium, run};

/// Two name spaces with a cable between them, gone when dropped.
struct Hosts {
    names: [String; 2],
}

fn ip(arguments: &str) -> bool {
    let run = Command::new("ip")
        .args(arguments.split_whitespace())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

impl Hosts {
    /// `None` without the privileges.
    fn new() -> Option<Self> {
        let pid = std::process::id();
        let names = ["north", "south"].map(|name| format!("orbium-{pid}-{name}"));
        if !ip(&format!("netns add {}", names[0])) {
            return None;
        }
        let hosts = Self { names };
        let [a, b] = &hosts.names;
        let rest = [
            format!("netns add {b}"),
            format!("link add cable netns {a} type veth peer name cable netns {b}"),
            format!("-n {a} address add 10.78.0.1/24 dev cable"),
            format!("-n {b} address add 10.78.0.2/24 dev cable"),
            format!("-n {a} link set cable up"),
            format!("-n {b} link set cable up"),
            format!("-n {a} link set lo up"),
            format!("-n {b} link set lo up"),
        ];
        rest.iter().all(|command| ip(command)).then_some(hosts)
    }

    /// The program on a host.
    fn run(&self, host: usize, arguments: &str) -> Program {
        let mut child = Command::new("ip")
            .args(["netns", "exec", &self.names[host]])
            .arg(env!("CARGO_BIN_EXE_orbium"))
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Program { child, output }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns delete {name}"));
        }
    }
}

/// A program that ends with its standard input.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn line(&mut self) -> String {
        self.output.next().unwrap().unwrap()
    }

    fn await_ready(mut self) -> Self {
        while self.line() != "READY" {}
        self
    }

    fn all(mut self) -> String {
        let lines: Result<Vec<_>, _> = self.output.by_ref().collect();
        lines.unwrap().join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ADDRESSES: [&str; 2] = ["10.78.0.1", "10.78.0.2"];

fn channel(host: usize) -> String {
    format!("corbaloc::{}:5020/EventService", ADDRESSES[host])
}

impl Hosts {
    fn channel(&self, host: usize) -> Program {
        let address = ADDRESSES[host];
        let serve = "events serve --until-input-ends --endpoint";
        self.run(host, &format!("{serve} iiop://{address}:5020"))
            .await_ready()
    }

    /// Pushes on one host until a consumer on the other gets an event, and returns what it prints.
    fn through(&self, from: usize, to: usize, text: &str) -> serde_json::Value {
        let endpoint = format!("--endpoint iiop://{}:0", ADDRESSES[to]);
        let tail = format!("events tail {} --type 16 --count 1 {endpoint}", channel(to));
        let mut tail = self.run(to, &tail);
        let push = format!(
            "events push {} --type 16 --source 3 --text {text}",
            channel(from)
        );
        // What comes before the gateway has subscribed is not forwarded.
        eventually("an event comes through", || {
            self.run(from, &push).all();
            tail.child.try_wait().unwrap().is_some()
        });
        serde_json::from_str(&tail.line()).unwrap()
    }
}

/// Conformance: events - gateways: two hosts, by IIOP and by multicast groups - network name spaces
#[test]
fn hosts_are_federated_by_iiop_and_by_groups() {
    let Some(hosts) = Hosts::new() else {
        return skipped("gateways between network name spaces: `ip netns add` is refused");
    };
    let _channels = [hosts.channel(0), hosts.channel(1)];
    {
        let (from, to) = (channel(0), channel(1));
        let endpoint = format!("--endpoint iiop://{}:0", ADDRESSES[0]);
        let gateway = format!("events gateway {from} {to} --both --until-input-ends {endpoint}");
        let _gateway = hosts.run(0, &gateway).await_ready();
        for (from, to) in [(0, 1), (1, 0)] {
            let event = hosts.through(from, to, "by-iiop");
            assert!(event["any"].to_string().contains("by-iiop"), "{event}");
            assert_eq!((&event["source"], &event["ttl"]), (&3.into(), &0.into()));
        }
    }
    for group in [
        "udp:239.78.0.1:5078 --crc",
        "corbaloc:miop:1.0@1.0-events-1/239.78.0.2:5079",
    ] {
        let pairs = [0, 1].map(|host: usize| {
            let address = ADDRESSES[host];
            let ends = format!("{} {group}", channel(host));
            let places = format!("--endpoint iiop://{address}:0 --interface cable");
            let gateway = format!("events gateway {ends} --both --until-input-ends {places}");
            hosts.run(host, &gateway).await_ready()
        });
        for (from, to) in [(0, 1), (1, 0)] {
            let event = hosts.through(from, to, "by-group");
            assert!(event["any"].to_string().contains("by-group"), "{event}");
            assert_eq!(event["ttl"], 0);
        }
        drop(pairs);
    }
}

/// It ended at once, with status 0, and forwarded nothing.
#[test]
fn a_gateway_forwards_although_its_output_is_not_read() {
    let (from, to) = (Served::new("events", []), Served::new("events", []));
    let arguments = [
        "events",
        "gateway",
        "--all",
        "--until-input-ends",
        from.reference(),
        to.reference(),
    ];
    let (unread, output) = std::io::pipe().unwrap();
    drop(unread);
    let mut gateway = orbium(arguments)
        .stdin(Stdio::piped())
        .stdout(output)
        .spawn()
        .unwrap();
    let received = || {
        let stat = run(["events", "stat", "--json", to.reference()]).json();
        stat["received"].as_u64().unwrap()
    };
    eventually("an event is forwarded", || {
        from.push("news");
        received() > 0
    });
    drop(gateway.stdin.take());
    assert!(gateway.wait().unwrap().success());
}
