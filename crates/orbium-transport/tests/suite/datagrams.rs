// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams to one receiver.

use std::io::{self, IoSlice};
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_testkit::spawn_blocked_in;
use orbium_transport::{
    DatagramTransport, Datagrams, Deadline, Endpoint, EndpointError, ListenError, Peer,
    ProtocolProperties, Udp,
};

const LONG: Duration = Duration::from_secs(60);

fn bind(endpoint: &str) -> Box<dyn Datagrams> {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let receiver = Udp.bind(&endpoint, &ProtocolProperties::default()).unwrap();
    receiver.set_timeout(Some(LONG)).unwrap();
    receiver
}

fn open(address: &str) -> io::Result<Box<dyn Datagrams>> {
    let deadline = Deadline::after(Some(LONG));
    Udp.open(address, &ProtocolProperties::default(), deadline)
}

fn receive(from: &dyn Datagrams) -> Vec<u8> {
    let mut room = vec![0; 1 << 16];
    let (length, peer) = from.receive(&mut room).unwrap();
    assert!(matches!(peer, Peer::Internet(_)), "{peer}");
    room.truncate(length);
    room
}

#[test]
fn datagrams_arrive_whole() {
    for endpoint in ["diop://127.0.0.1:0", "diop://[::1]:0", "diop://localhost"] {
        let receiver = bind(endpoint);
        let sender = open(receiver.address()).unwrap();
        assert_eq!(sender.address(), receiver.address());
        sender
            .send(&[IoSlice::new(b"in "), IoSlice::new(b"pieces")])
            .unwrap();
        assert_eq!(receive(&*receiver), b"in pieces");
        let largest = vec![7; sender.largest()];
        sender.send(&[IoSlice::new(&largest)]).unwrap();
        assert_eq!(receive(&*receiver), largest);
        sender.send(&[]).unwrap();
        assert_eq!(receive(&*receiver), b"");
        // What does not fit is lost.
        sender.send(&[IoSlice::new(b"abcdef")]).unwrap();
        sender.send(&[IoSlice::new(b"next")]).unwrap();
        let mut room = [0; 4];
        assert_eq!(receiver.receive(&mut room).unwrap().0, 4);
        assert_eq!(&room, b"abcd");
        assert_eq!(receive(&*receiver), b"next");
        let error = sender.send(&[IoSlice::new(&[0; 70_000])]).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::WouldBlock);
    }
}

/// Conformance: complaint 21 - corners of IPv6
#[test]
fn wildcard_receives_over_both_families() {
    let receiver = bind("diop://:0?publish=orb.example");
    let (host, port) = receiver.address().rsplit_once(':').unwrap();
    assert_eq!(host, "orb.example");
    for host in ["127.0.0.1", "[::1]"] {
        let sender = open(&format!("{host}:{port}")).unwrap();
        sender.send(&[IoSlice::new(host.as_bytes())]).unwrap();
        assert_eq!(receive(&*receiver), host.as_bytes());
    }
}

#[test]
fn sender_is_named() {
    let receiver = bind("diop://127.0.0.1:0");
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.send_to(b"x", receiver.address()).unwrap();
    let (_, peer) = receiver.receive(&mut [0; 4]).unwrap();
    assert_eq!(peer, Peer::Internet(sender.local_addr().unwrap()));
}

#[test]
fn waiting_is_bounded() {
    let receiver = bind("diop://127.0.0.1:0");
    let short = Some(Duration::from_millis(5));
    receiver.set_timeout(short).unwrap();
    let error = receiver.receive(&mut [0; 4]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    receiver.set_timeout(None).unwrap();
    receiver.set_nonblocking(true).unwrap();
    let error = receiver.receive(&mut [0; 4]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    let sender = open(receiver.address()).unwrap();
    sender.send(&[IoSlice::new(b"x")]).unwrap();
    let source = receiver.source();
    wait_for([(&source, Interest::Read)], Some(LONG)).unwrap();
    assert_eq!(receive(&*receiver), b"x");
}

#[test]
#[cfg(target_os = "linux")]
fn shutdown_wakes_the_receiver() {
    for nonblocking in [false, true] {
        let receiver = bind("diop://127.0.0.1:0");
        receiver.set_timeout(None).unwrap();
        receiver.set_nonblocking(nonblocking).unwrap();
        thread::scope(|scope| {
            let waiting = spawn_blocked_in(scope, || {
                if nonblocking {
                    let source = receiver.source();
                    wait_for([(&source, Interest::Read)], Some(LONG)).unwrap();
                }
                receiver.receive(&mut [0; 4])
            });
            receiver.shutdown();
            let (length, peer) = waiting.join().unwrap().unwrap();
            assert_eq!((length, peer), (0, Peer::Unknown));
        });
        // For good.
        let again = receiver.receive(&mut [0; 4]).unwrap();
        assert_eq!(again, (0, Peer::Unknown));
    }
}

#[test]
fn sending_without_a_receiver_is_no_error_and_a_later_one_receives() {
    let receiver = bind("diop://127.0.0.1:0");
    let address = receiver.address().to_owned();
    let sender = open(&address).unwrap();
    drop(receiver);
    for _ in 0..5 {
        sender.send(&[IoSlice::new(b"lost")]).unwrap();
    }
    let receiver = bind(&format!("diop://{address}"));
    sender.send(&[IoSlice::new(b"found")]).unwrap();
    assert_eq!(receive(&*receiver), b"found");
}

#[test]
#[cfg(target_os = "linux")]
fn full_socket_loses_and_goes_on() {
    let receiver = bind("diop://127.0.0.1:0?receive_buffer=5000");
    let sender = open(receiver.address()).unwrap();
    sender.set_nonblocking(true).unwrap();
    for _ in 0..1000 {
        match sender.send(&[IoSlice::new(&[1; 1000])]) {
            Ok(()) => {}
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    receiver.set_nonblocking(true).unwrap();
    let mut received = 0;
    while receiver.receive(&mut [0; 1000]).is_ok() {
        received += 1;
    }
    assert!((1..1000).contains(&received));
    sender.send(&[IoSlice::new(b"on")]).unwrap();
    receiver.set_nonblocking(false).unwrap();
    assert_eq!(receive(&*receiver), b"on");
}

/// Conformance: protocols - endpoints that make no sense
#[test]
fn malformed_endpoints_are_refused() {
    let properties = ProtocolProperties::default();
    let bind = |endpoint: &str| match Udp.bind(&endpoint.parse().unwrap(), &properties) {
        Err(ListenError::Endpoint(error)) => error,
        other => panic!("{endpoint}: {other:?}"),
    };
    assert!(matches!(bind("diop://h:x"), EndpointError::BadPort(_)));
    assert!(matches!(
        bind("diop://:0?no_delay=1"),
        EndpointError::UnknownParameter(_)
    ));
    assert!(matches!(
        bind("diop://:0?dscp=99"),
        EndpointError::BadParameter(_)
    ));
    for bad in ["", ":1", "127.0.0.1", "127.0.0.1:0", "a b:1", "h:99999"] {
        let error = open(bad).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{bad}");
    }
    let bound = self::bind("diop://127.0.0.1:0");
    bound.send(&[IoSlice::new(b"where to?")]).unwrap_err();
}
