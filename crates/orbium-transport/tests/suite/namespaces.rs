// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams to a group from one network name space to another, which is as far
//! as one machine goes. Takes privileges and the program `ip`.
//!
//! The test runs itself again in each name space, as a receiver or a sender.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use orbium_transport::{DatagramTransport, Deadline, Multicast, Peer, ProtocolProperties};

/// Says what the process that has it set is to do.
const ROLE: &str = "ORBIUM_TEST_ROLE";

fn ip(arguments: &str) -> bool {
    let run = Command::new("ip")
        .args(arguments.split_whitespace())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// Two name spaces with a cable between them, gone when dropped.
struct Cable {
    names: [String; 2],
}

impl Cable {
    /// `None` without the privileges.
    fn new() -> Option<Self> {
        let pid = std::process::id();
        let names = [format!("orbium-{pid}-a"), format!("orbium-{pid}-b")];
        if !ip(&format!("netns add {}", names[0])) {
            return None;
        }
        let made = Self { names };
        let [a, b] = &made.names;
        let rest = [
            format!("netns add {b}"),
            format!("link add cable netns {a} type veth peer name cable netns {b}"),
            format!("-n {a} address add 10.77.0.1/24 dev cable"),
            format!("-n {b} address add 10.77.0.2/24 dev cable"),
            format!("-n {a} link set cable addrgenmode none"),
            format!("-n {b} link set cable addrgenmode none"),
            format!("-n {a} link set cable mtu 1400 up"),
            format!("-n {b} link set cable mtu 1400 up"),
            format!("-n {a} address add fd77::1/64 dev cable nodad"),
            format!("-n {b} address add fd77::2/64 dev cable nodad"),
            format!("-n {a} address add fe80::1/64 dev cable nodad"),
            format!("-n {b} address add fe80::2/64 dev cable nodad"),
            format!("-n {a} route add 224.0.0.0/4 dev cable"),
            format!("-n {b} route add 224.0.0.0/4 dev cable"),
        ];
        rest.iter().all(|command| ip(command)).then_some(made)
    }

    /// This test in a name space, in a role.
    fn run(&self, place: usize, role: &str) -> Child {
        Command::new("ip")
            .args(["netns", "exec", &self.names[place]])
            .arg(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "namespaces::groups_reach_another_host",
                "--nocapture",
            ])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns delete {name}"));
        }
    }
}

/// A child that ends with the test.
struct Role(Child);

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Role {
    /// Ends a sender in order.
    fn stop(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }

    /// Reads its output up to a line that begins so; returns the rest of that.
    fn says(&mut self, start: &str) -> String {
        let output = BufReader::new(self.0.stdout.as_mut().unwrap());
        for line in output.lines() {
            let line = line.unwrap();
            // The test harness may have begun the line.
            if let Some((_, rest)) = line.split_once(start) {
                return rest.trim().to_owned();
            }
        }
        panic!("ended without `{start}`");
    }
}

fn receiver(endpoint: &str) {
    let endpoint = endpoint.parse().unwrap();
    let receiver = Multicast
        .bind(&endpoint, &ProtocolProperties::default())
        .unwrap();
    receiver.set_timeout(Some(Duration::from_secs(60))).unwrap();
    println!("listening: {}", receiver.address());
    let mut room = [0; 2000];
    let (length, peer) = receiver.receive(&mut room).unwrap();
    let Peer::Internet(peer) = peer else {
        panic!("{peer}");
    };
    println!("received: {length} from {}", peer.ip());
}

fn sender(address: &str, heard_here: bool) {
    let mut properties = ProtocolProperties::default();
    properties.set("multicast_interface", "cable").unwrap();
    properties.multicast_loop = Some(heard_here);
    let sender = Multicast
        .open(address, &properties, Deadline::NEVER)
        .unwrap();
    let octets = vec![7; sender.largest()];
    // Until the test has seen it arrive, for the first may be lost.
    let (started, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        let _ = started.send(());
    });
    while wait.recv_timeout(Duration::from_millis(20)).is_err() {
        sender.send(&[IoSlice::new(&octets)]).unwrap();
    }
}

fn skipped(what: &str) {
    let line = format!("SKIPPED: {what}\n");
    eprint!("{line}");
    if let Some(log) = std::env::var_os("ORBIUM_SKIPPED_LOG") {
        let log = OpenOptions::new().append(true).create(true).open(log);
        // Only the summary would lack the line.
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }
}

/// Conformance: protocols - multicast groups
#[test]
fn groups_reach_another_host() {
    if let Ok(role) = std::env::var(ROLE) {
        match role.split_once(' ') {
            Some(("receive", endpoint)) => receiver(endpoint),
            Some(("send", address)) => sender(address, true),
            Some(("send-away", address)) => sender(address, false),
            _ => panic!("no such role: {role}"),
        }
        return;
    }
    let Some(cable) = Cable::new() else {
        skipped("multicast between name spaces: takes root and the program ip");
        return;
    };
    let v4 = ["10.77.0.1", "10.77.0.2"];
    for (endpoint, addresses, largest) in [
        // Joined by interface, by address and by route.
        ("miop://239.7.7.7:0?interface=cable", v4, 1372),
        ("miop://239.7.7.7:0?interface={address}", v4, 1372),
        ("miop://239.7.7.7:0", v4, 1372),
        (
            "miop://[ff02::7:7777]:0?interface=cable",
            ["fe80::1", "fe80::2"],
            1352,
        ),
        (
            "miop://[ff05::7:7777]:0?interface=cable",
            ["fd77::1", "fd77::2"],
            1352,
        ),
    ] {
        let receive = |place: usize, port: &str| {
            let endpoint = endpoint.replace("{address}", addresses[place]);
            let endpoint = endpoint.replacen(":0", port, 1);
            Role(cable.run(place, &format!("receive {endpoint}")))
        };
        let heard = |place: usize| format!("{largest} from {}", addresses[place]);
        let mut here = receive(0, ":0");
        let address = here.says("listening: ");
        let port = address.rsplit_once(':').unwrap().1;
        let mut there = receive(1, &format!(":{port}"));
        assert_eq!(there.says("listening: "), address);

        // Heard elsewhere only.
        let sender = Role(cable.run(0, &format!("send-away {address}")));
        assert_eq!(there.says("received: "), heard(0), "{endpoint}");
        sender.stop();

        // Heard elsewhere and on the same host.
        let mut neighbour = receive(1, &format!(":{port}"));
        assert_eq!(neighbour.says("listening: "), address);
        let sender = Role(cable.run(1, &format!("send {address}")));
        for receiver in [&mut here, &mut neighbour] {
            assert_eq!(receiver.says("received: "), heard(1), "{endpoint}");
        }
        sender.stop();
    }
}
