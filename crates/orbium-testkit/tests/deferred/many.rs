// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many open requests.

use std::thread;

use orbium::config::ServerStrategy;
use orbium_testkit::{
    Peer, RequestLine, eventually, held_octets, in_own_process, request, threads,
};

use crate::fixture::{Served, Token};

const CONNECTIONS: usize = 8;
const EACH: usize = 12_500;
/// Bytes that an open request may hold on the server, its token included.
const MAX_BYTES_PER_REQUEST: usize = 1024;

fn open(peer: &mut Peer) {
    let mut batch = Vec::new();
    for number in 0..EACH {
        let id = u32::try_from(number).unwrap();
        batch.extend(request(RequestLine::new(id, "take"), |w| w.write_u32(id)));
        if batch.len() > 1 << 14 {
            peer.send(&batch);
            batch.clear();
        }
    }
    peer.send(&batch);
}

fn hold(strategy: ServerStrategy, most_threads: usize) {
    let served = Served::new(strategy);
    let mut peers: Vec<_> = (0..CONNECTIONS)
        .map(|_| Peer::connect(served.port()))
        .collect();
    assert_eq!(served.desk.now(1), Ok(1));
    let mut tokens: Vec<Token> = Vec::with_capacity(CONNECTIONS * EACH);
    let before = (held_octets(), threads());
    for peer in &mut peers {
        open(peer);
        for _ in 0..EACH {
            tokens.push(served.token().1);
        }
    }
    let count = served.orb.open_requests().count();
    assert_eq!(count, tokens.len());
    let held = held_octets().saturating_sub(before.0) / count + size_of::<Token>();
    println!(
        "{count} open requests, {held} bytes each, {} threads more",
        threads().saturating_sub(before.1)
    );
    assert!(
        held <= MAX_BYTES_PER_REQUEST,
        "{held} bytes for each open request"
    );
    assert!(threads().saturating_sub(before.1) <= most_threads);
    thread::scope(|scope| {
        // Four threads answer, while the clients read.
        let share = count.div_ceil(4);
        while !tokens.is_empty() {
            let some = tokens.split_off(tokens.len().saturating_sub(share));
            scope.spawn(move || {
                for token in some {
                    token.ok(1).unwrap();
                }
            });
        }
        for peer in &mut peers {
            scope.spawn(move || {
                let mut seen = vec![false; EACH];
                for _ in 0..EACH {
                    let (id, ..) = peer.receive().reply();
                    assert!(!std::mem::replace(&mut seen[id as usize], true));
                }
            });
        }
    });
    eventually("none is open", || served.orb.open_requests().count() == 0);
    drop(peers);
    served.end();
}

/// Conformance: Messaging - asynchronous method handling: 100,000 open requests on four threads, at most 1 KiB each
#[test]
fn a_hundred_thousand_requests_are_open_on_four_threads() {
    in_own_process!(|| {
        hold(ServerStrategy::LeaderFollowers { threads: 4 }, 4);
        hold(ServerStrategy::Reactive, 4);
    });
}
