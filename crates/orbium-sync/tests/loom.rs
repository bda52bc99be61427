// SPDX-License-Identifier: MIT OR Apache-2.0
//! Turns under a model checker: whatever the order of events, somebody reads
//! while somebody waits, and nobody sleeps for ever.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-sync --test loom --release`
//!
//! The module is compiled here over the checker's locks. A lost wake-up shows as
//! a deadlock.
#![cfg(loom)]

#[path = "../src/turns.rs"]
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod turns;

mod lock {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

use loom::sync::{Arc, Mutex};
use loom::thread;
use turns::{Turn, Turns};

/// A source that brings one thing for each seat, in an order of its own.
struct Source {
    turns: Turns,
    coming: Mutex<Vec<usize>>,
}

impl Source {
    /// Waits for what comes to a seat, and reads for the others meanwhile.
    fn await_own(&self, seat: usize) {
        loop {
            match self.turns.wait(seat, None) {
                Turn::Ready => return,
                Turn::Read => {
                    let came = self.coming.lock().unwrap().pop();
                    if let Some(place) = came {
                        self.turns.ready(place);
                    }
                    self.turns.pass();
                    if came.is_none() {
                        // Its own came with what somebody else read.
                        thread::yield_now();
                    }
                }
                Turn::Ended | Turn::TimedOut => panic!("neither can be"),
            }
        }
    }
}

fn check(order: &'static [usize]) {
    loom::model(move || {
        let source = Arc::new(Source {
            turns: Turns::new(2, false),
            coming: Mutex::new(order.to_vec()),
        });
        let seats = [source.turns.join().unwrap(), source.turns.join().unwrap()];
        let other = {
            let source = Arc::clone(&source);
            thread::spawn(move || source.await_own(seats[1]))
        };
        source.await_own(seats[0]);
        other.join().unwrap();
    });
}

#[test]
fn everybody_gets_what_came_in_either_order() {
    check(&[0, 1]);
    check(&[1, 0]);
}

#[test]
fn one_who_gives_up_leaves_the_reading_to_another() {
    loom::model(|| {
        let turns = Arc::new(Turns::new(2, false));
        let seats = [turns.join().unwrap(), turns.join().unwrap()];
        assert!(turns.try_read());
        let waits = {
            let turns = Arc::clone(&turns);
            thread::spawn(move || {
                // Comes to read, whoever was woken to do so.
                assert_eq!(turns.wait(seats[0], None), Turn::Read);
                turns.pass();
            })
        };
        let gives_up = {
            let turns = Arc::clone(&turns);
            thread::spawn(move || {
                let past = std::time::Instant::now();
                assert_eq!(turns.wait(seats[1], Some(past)), Turn::TimedOut);
                turns.leave(seats[1]);
            })
        };
        turns.pass();
        waits.join().unwrap();
        gives_up.join().unwrap();
    });
}

#[test]
fn everybody_hears_of_the_end() {
    loom::model(|| {
        let turns = Arc::new(Turns::new(2, true));
        let seat = turns.join().unwrap();
        let waits = {
            let turns = Arc::clone(&turns);
            thread::spawn(move || turns.wait(seat, None))
        };
        turns.end();
        assert_eq!(waits.join().unwrap(), Turn::Ended);
    });
}
