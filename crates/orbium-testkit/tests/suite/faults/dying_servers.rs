// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server that dies in each phase of a call, thousands of times: nothing is
//! left of it, whatever the strategy of the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium::giop::ReplyStatus;
use orbium::{ExceptionKind, Interface, Orb};
use orbium_cdr::ByteOrder;
use orbium_testkit::{
    FakeServer, Peer, calling_by, descriptors, each_client_strategy, eventually, in_own_process,
    reach, reference, reply, threads, within,
};

/// Connections that end within each run.
const DEATHS: usize = 3000;

/// Takes part in a call as far as `phase` says, and is gone.
fn die(mut peer: Peer, phase: usize) {
    if phase == 0 {
        return;
    }
    let Some(message) = peer.try_receive() else {
        return;
    };
    let whole = reply(
        2,
        ByteOrder::NATIVE,
        message.request().id,
        ReplyStatus::NoException,
        |w| w.write_u32(1),
    );
    let _ = match phase {
        1 => true,
        2 => peer.try_send(&whole[..7]),
        3 => peer.try_send(&whole[..whole.len() - 1]),
        _ => peer.try_send(&whole),
    };
}

/// Conformance: connections - shared: its end reaches every caller
/// Conformance: faults - no server; one that dies before it reads, with the request, within the
/// header of its reply, within its reply, after it: TRANSIENT, COMM_FAILURE
/// Conformance: complaint 28 - threads, connections and TLS buffers leak while a peer is out of
/// reach
#[test]
fn servers_that_die_in_every_phase_leave_nothing() {
    in_own_process!(|| {
        each_client_strategy(|strategy| {
            // What is opened once is open after the first round.
            let mut before = (0, 0);
            for round in 0..3 {
                if round == 1 {
                    before = (descriptors(), threads());
                }
                let server = FakeServer::listen();
                let port = server.port();
                let over = Arc::new(AtomicBool::new(false));
                let ended = Arc::clone(&over);
                let dying = orbium_testkit::spawn(move || {
                    let mut deaths = 0;
                    while !ended.load(Ordering::SeqCst) {
                        match server.accept_at_once() {
                            Some(peer) => {
                                die(peer, deaths % 5);
                                deaths += 1;
                            }
                            None => thread::yield_now(),
                        }
                    }
                    deaths
                });
                let client = Orb::new(calling_by(strategy)).unwrap();
                let text = reference(2, &[port], b"x", &[]).to_string();
                let target = reach(&client, &text).with_timeout(Duration::from_secs(10));
                thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            for _ in 0..DEATHS / 3 {
                                if let Err(exception) = target.echo_long(1) {
                                    let kind = exception.kind;
                                    let lost =
                                        [ExceptionKind::CommFailure, ExceptionKind::Transient];
                                    assert!(lost.contains(&kind), "{exception}");
                                }
                            }
                        });
                    }
                });
                over.store(true, Ordering::SeqCst);
                let deaths = within("the server", move || dying.join().unwrap());
                assert!(deaths > 5, "{deaths} deaths");
                within("the client's end", move || client.shutdown(true)).unwrap();
            }
            eventually("descriptors and threads are given back", || {
                descriptors() <= before.0 && threads() <= before.1
            });
        });
    });
}
