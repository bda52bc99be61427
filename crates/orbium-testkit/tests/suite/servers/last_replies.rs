// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of servers with clients that do not read their replies, or read them slowly.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use orbium::config::ServerStrategy;
use orbium_testkit::{
    Peer, RequestLine, Served, eventually, request, spawn, with_patience, within,
};

/// Less than a second for each stalled client, and much more than the second that there is for
/// all.
const FOR_ALL: Duration = Duration::from_secs(15);

/// Each strategy that keeps replies for a client that does not read them.
fn each_keeping_strategy(test: impl Fn(&Served)) {
    let (workers, queue) = (2, 64);
    for strategy in [
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
        ServerStrategy::WorkerPool { workers, queue },
    ] {
        eprintln!("{strategy}");
        test(&Served::new(strategy));
    }
}

/// A client that has asked for a reply of so many octets, which is with it in part.
fn asking(served: &Served, octets: u32) -> Peer {
    let mut peer = Peer::connect(served.port());
    let make = RequestLine::new(2, "make");
    peer.send(&request(make, |writer| writer.write_u32(octets)));
    peer.receive_octets(&mut [0; 16]);
    let connections = || served.orb.connections().entries;
    eventually("no thread sends the reply", || {
        connections().iter().all(|it| it.in_flight == 0)
    });
    peer
}

fn shut_down(served: &Served) {
    let orb = served.orb.clone();
    with_patience(FOR_ALL, || within("the end", move || orb.shutdown(true))).unwrap();
}

/// Each was waited for alone, one after the other.
///
/// Conformance: connections - orderly end of a server: clients that do not read have one second
/// together
#[test]
fn the_end_waits_for_all_stalled_clients_at_once() {
    each_keeping_strategy(|served| {
        let _stalled: Vec<Peer> = (0..20).map(|_| asking(served, 8 << 20)).collect();
        shut_down(served);
    });
}

/// Each part that the client took gave it another second.
///
/// Conformance: connections - orderly end of a server: a client that reads slowly
#[test]
fn the_end_does_not_wait_for_a_slow_client_until_it_has_all() {
    each_keeping_strategy(|served| {
        let peer = asking(served, 64 << 20);
        let (end, ended) = channel::<()>();
        let reading = spawn(move || {
            let mut room = vec![0; 256 << 10];
            let pace = Duration::from_millis(100);
            while ended.recv_timeout(pace) == Err(RecvTimeoutError::Timeout)
                && peer.stream().receive(&mut room).is_ok()
            {}
        });
        shut_down(served);
        drop(end);
        reading.join().unwrap();
    });
}
