// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptors: none is left behind, and running out of them is an error that
//! passes. What is counted and limited is the process's.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{self, IoSlice};
use std::time::Duration;

use orbium_sys::{Interest, Poller};
use orbium_testkit::in_own_process;
use orbium_transport::{
    DatagramTransport, Deadline, InProcess, Multicast, ProtocolProperties, StreamTransport, Tcp,
    Udp, Unix,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::conformance::pair::{
    accept, connect, is_ready, listen, receive_up_to, send_all, try_listen,
};

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn nothing_is_left(transport: &dyn StreamTransport, endpoint: &str) {
    let before = open_descriptors();
    let acceptor = listen(transport, endpoint);
    for round in 0..3000 {
        let client = connect(transport, acceptor.address()).unwrap();
        let server = accept(&*acceptor);
        if round % 100 == 0 {
            // Also with what readiness may need.
            let _ = (client.source(), server.source());
            send_all(&*client, b"x").unwrap();
            assert_eq!(receive_up_to(&*server, 1).unwrap(), b"x");
        }
    }
    for _ in 0..100 {
        drop(listen(transport, endpoint));
    }
    drop(acceptor);
    assert_eq!(open_descriptors(), before);
}

fn no_socket_for_datagrams_is_left(transport: &dyn DatagramTransport, endpoint: &str) {
    let mut properties = ProtocolProperties::default();
    properties.set("multicast_interface", "lo").unwrap();
    let endpoint = endpoint.parse().unwrap();
    let before = open_descriptors();
    for _ in 0..1000 {
        let receiver = transport.bind(&endpoint, &properties).unwrap();
        let open = || transport.open(receiver.address(), &properties, Deadline::NEVER);
        open().unwrap().send(&[IoSlice::new(b"x")]).unwrap();
        assert_eq!(receiver.receive(&mut [0; 8]).unwrap().0, 1);
    }
    let receiver = transport.bind(&endpoint, &properties).unwrap();
    let exhausted = Exhausted::new();
    let error = transport.open(receiver.address(), &properties, Deadline::NEVER);
    assert!(is_exhaustion(&error.unwrap_err()));
    assert!(transport.bind(&endpoint, &properties).is_err());
    drop(exhausted);
    drop(receiver);
    assert_eq!(open_descriptors(), before);
}

/// Has every descriptor taken while it lives.
struct Exhausted {
    limit: Rlimit,
    _taken: Vec<File>,
}

impl Exhausted {
    fn new() -> Self {
        let limit = getrlimit(Resource::Nofile);
        let few = Rlimit {
            current: Some(open_descriptors() as u64 + 16),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, few).unwrap();
        let taken = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        Self {
            limit,
            _taken: taken,
        }
    }
}

impl Drop for Exhausted {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.limit).unwrap();
    }
}

/// EMFILE has no kind of its own.
fn is_exhaustion(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
        || error.to_string().contains("open files")
}

fn exhaustion_passes(transport: &dyn StreamTransport, endpoint: &str) {
    let acceptor = listen(transport, endpoint);
    let waiting = connect(transport, acceptor.address()).unwrap();
    let exhausted = Exhausted::new();
    for _ in 0..3 {
        let error = connect(transport, acceptor.address()).unwrap_err();
        assert!(is_exhaustion(&error), "{error}");
        let error = acceptor.accept().unwrap_err();
        assert!(is_exhaustion(&error), "{error}");
    }
    drop(exhausted);
    send_all(&*waiting, b"x").unwrap();
    assert_eq!(receive_up_to(&*accept(&*acceptor), 1).unwrap(), b"x");
    let client = connect(transport, acceptor.address()).unwrap();
    send_all(&*client, b"y").unwrap();
    assert_eq!(receive_up_to(&*accept(&*acceptor), 1).unwrap(), b"y");
}

fn streams_within_the_process_need_none() {
    let acceptor = listen(&InProcess, "inproc://");
    let exhausted = Exhausted::new();
    let client = connect(&InProcess, acceptor.address()).unwrap();
    let server = accept(&*acceptor);
    // There is nothing to wait on: a wait ends at once, an event loop is refused.
    assert!(is_ready(&*server, Interest::Read, Duration::ZERO));
    client.send(b"x").unwrap();
    assert_eq!(receive_up_to(&*server, 1).unwrap(), b"x");
    assert!(try_listen(&InProcess, "inproc://").is_err());
    drop(exhausted);
    assert!(!is_ready(&*server, Interest::Read, Duration::ZERO));
    let poller = Poller::new().unwrap();
    poller.add(&server.source(), 1, Interest::Read).unwrap();
}

#[test]
fn none_is_left_behind_and_running_out_passes() {
    in_own_process!(|| {
        let sockets: [(&dyn StreamTransport, &str); 2] =
            [(&Tcp, "iiop://127.0.0.1:0"), (&Unix, "uiop://")];
        for (transport, endpoint) in sockets {
            nothing_is_left(transport, endpoint);
            exhaustion_passes(transport, endpoint);
        }
        // The first stream of a process leaves one behind, for all.
        let acceptor = listen(&InProcess, "inproc://");
        connect(&InProcess, acceptor.address()).unwrap();
        drop(acceptor);
        nothing_is_left(&InProcess, "inproc://");
        streams_within_the_process_need_none();
        no_socket_for_datagrams_is_left(&Udp, "diop://127.0.0.1:0");
        no_socket_for_datagrams_is_left(&Multicast, "miop://239.255.7.7:0");
    });
}
