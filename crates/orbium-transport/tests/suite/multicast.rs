// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams to a group, within this host; `namespaces.rs` has two.
#![cfg(target_os = "linux")]

use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::time::Duration;

use orbium_testkit::spawn_blocked_in;
use orbium_transport::{
    DatagramTransport, Datagrams, Deadline, ListenError, Multicast, Peer, ProtocolProperties,
};

const LONG: Duration = Duration::from_secs(60);

/// A group that no other process uses most likely, and this test alone.
fn group(test: u8) -> String {
    let [.., high, low] = std::process::id().to_be_bytes();
    format!("239.{high}.{low}.{test}")
}

fn properties() -> ProtocolProperties {
    let mut properties = ProtocolProperties::default();
    properties.set("multicast_interface", "lo").unwrap();
    properties
}

fn bind(endpoint: &str) -> Box<dyn Datagrams> {
    let endpoint = endpoint.parse().unwrap();
    let receiver = Multicast.bind(&endpoint, &properties()).unwrap();
    receiver.set_timeout(Some(LONG)).unwrap();
    receiver
}

fn open(address: &str) -> Box<dyn Datagrams> {
    Multicast
        .open(address, &properties(), Deadline::NEVER)
        .unwrap()
}

fn receive(from: &dyn Datagrams) -> Vec<u8> {
    let mut room = vec![0; 1 << 16];
    let (length, peer) = from.receive(&mut room).unwrap();
    assert!(matches!(peer, Peer::Internet(_)), "{peer}");
    room.truncate(length);
    room
}

fn nothing_comes(to: &dyn Datagrams) {
    to.set_timeout(Some(Duration::from_millis(10))).unwrap();
    let error = to.receive(&mut [0; 64]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    to.set_timeout(Some(LONG)).unwrap();
}

/// Conformance: protocols - multicast groups
#[test]
fn each_of_several_receivers_has_everything() {
    let group = group(1);
    let first = bind(&format!("miop://{group}:0"));
    assert!(first.address().starts_with(&group));
    let endpoint = format!("miop://{}", first.address());
    // However the interface is named.
    let second = bind(&format!("{endpoint}?interface=lo"));
    let third = bind(&format!("{endpoint}?interface=127.0.0.1&ttl=2&loop=on"));
    let sender = open(first.address());
    for round in 0..10 {
        let largest = vec![round; sender.largest()];
        sender.send(&[IoSlice::new(&largest)]).unwrap();
        for receiver in [&first, &second, &third] {
            assert_eq!(receive(&**receiver), largest);
        }
    }
    drop(second);
    sender.send(&[IoSlice::new(b"less")]).unwrap();
    assert_eq!(receive(&*first), b"less");
    assert_eq!(receive(&*third), b"less");
}

#[test]
fn others_groups_and_plain_datagrams_are_not_received() {
    let (one, other) = (group(2), group(3));
    let receiver = bind(&format!("miop://{one}:0"));
    let port = receiver.address().rsplit_once(':').unwrap().1.to_owned();
    let neighbour = bind(&format!("miop://{other}:{port}"));
    open(neighbour.address())
        .send(&[IoSlice::new(b"other")])
        .unwrap();
    assert_eq!(receive(&*neighbour), b"other");
    let plain = UdpSocket::bind("127.0.0.1:0").unwrap();
    plain
        .send_to(b"plain", format!("127.0.0.1:{port}"))
        .unwrap();
    nothing_comes(&*receiver);
    open(receiver.address())
        .send(&[IoSlice::new(b"mine")])
        .unwrap();
    assert_eq!(receive(&*receiver), b"mine");
}

#[test]
fn memberships_end_with_the_socket() {
    let group = group(4);
    let joined = || {
        let octets: std::net::Ipv4Addr = group.parse().unwrap();
        let shown = format!("{:08X}", u32::from_ne_bytes(octets.octets()));
        let groups = std::fs::read_to_string("/proc/self/net/igmp").unwrap();
        groups.contains(&shown)
    };
    assert!(!joined());
    let receiver = bind(&format!("miop://{group}:0"));
    assert!(joined());
    drop(receiver);
    assert!(!joined());
}

#[test]
fn datagrams_fit_a_frame() {
    // The loopback interface would carry far more.
    let receiver = bind(&format!("miop://{}:0", group(5)));
    assert_eq!(receiver.largest(), 1472);
    // Less where the kernel remembers a narrower way to that group.
    let sent = open(receiver.address()).largest();
    assert!((1200..=1472).contains(&sent), "{sent}");
}

#[test]
fn shutdown_wakes_the_receiver() {
    let receiver = bind(&format!("miop://{}:0", group(6)));
    receiver.set_timeout(None).unwrap();
    std::thread::scope(|scope| {
        let waiting = spawn_blocked_in(scope, || receiver.receive(&mut [0; 4]));
        receiver.shutdown();
        assert_eq!(waiting.join().unwrap().unwrap(), (0, Peer::Unknown));
    });
}

#[test]
fn malformed_endpoints_are_refused() {
    let bind = |endpoint: &str| {
        let endpoint = endpoint.parse().unwrap();
        Multicast.bind(&endpoint, &ProtocolProperties::default())
    };
    for (endpoint, what) in [
        ("miop://127.0.0.1:1", "127.0.0.1"),
        ("miop://localhost:1", "localhost"),
        ("miop://[::1]:1", "::1"),
        ("miop://239.1.1.1:x", "x"),
        ("miop://239.1.1.1:1?ttl=256", "ttl=256"),
        ("miop://239.1.1.1:1?interface=no-such", "interface"),
        ("miop://239.1.1.1:1?multicast_ttl=1", "multicast_ttl"),
        ("miop://239.1.1.1:1?publish=x", "publish"),
    ] {
        match bind(endpoint) {
            Err(ListenError::Endpoint(error)) => {
                assert!(error.to_string().contains(what), "{endpoint}: {error}");
            }
            other => panic!("{endpoint}: {other:?}"),
        }
    }
    // A group of each link: which one is not said.
    match bind("miop://[ff02::1:2345]:0") {
        Err(ListenError::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::InvalidInput),
        other => panic!("{other:?}"),
    }
    for bad in ["", "127.0.0.1:1", "239.1.1.1:0", "name:1"] {
        let error = Multicast.open(bad, &properties(), Deadline::NEVER);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{bad}");
    }
    let endpoint = "miop://239.1.1.1:0".parse().unwrap();
    let mut nowhere = ProtocolProperties::default();
    nowhere.set("multicast_interface", "999999").unwrap();
    assert!(Multicast.bind(&endpoint, &nowhere).is_err());
}
