// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that do not read what they are sent.

use std::thread;
use std::time::Duration;

use orbium::{Config, Limits, ServerStrategy};
use orbium_testkit::{Peer, RequestLine, Served, each_strategy, request};

fn impatient(strategy: ServerStrategy) -> Served {
    Served::with(Config {
        strategy,
        limits: Limits {
            send_time: Duration::from_millis(300),
            ..Limits::default()
        },
        ..Config::default()
    })
}

/// Asks for more than the kernel keeps, and reads nothing of it.
fn stopped(served: &Served) -> Peer {
    let mut peer = Peer::connect(served.port());
    for id in 0..4 {
        peer.send(&request(RequestLine::new(id, "make"), |w| {
            w.write_u32(16 << 20);
        }));
    }
    peer
}

#[test]
fn a_client_that_reads_nothing_does_not_keep_others_waiting() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let stopped: Vec<Peer> = (0..3).map(|_| stopped(&served)).collect();
        let (_client, target) = served.client();
        for v in 0..100 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        // Served all the same when it begins to read.
        let mut late = stopped.into_iter().next().unwrap();
        for id in 0..4 {
            let (answered, _, body) = late.receive().reply();
            assert_eq!((answered, body.len()), (id, (16 << 20) + 4));
        }
        drop(late);
        served.end();
    });
}

#[test]
fn a_client_that_reads_nothing_is_given_up_in_the_end() {
    each_strategy(|strategy| {
        let served = impatient(strategy);
        let mut peer = stopped(&served);
        thread::sleep(Duration::from_millis(1500));
        // Not all four are still sent, now that it reads.
        let mut whole = 0;
        while let Some(message) = peer.try_receive() {
            if message.kind() == orbium::giop::MessageKind::Reply {
                whole += 1;
            }
        }
        assert!(whole < 4, "the server never gave up");
        served.end();
    });
}

#[test]
fn a_client_that_reads_nothing_does_not_keep_the_orb_from_ending() {
    each_strategy(|strategy| {
        let served = impatient(strategy);
        let peer = stopped(&served);
        let (_client, target) = served.client();
        target.noop().unwrap();
        served.end();
        drop(peer);
    });
}
