// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leader/followers under a model checker: in every schedule a leader reads while a
//! follower waits, and no follower sleeps for ever.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-sync --test loom --release`
//!
//! The module is compiled here over the checker's locks. A lost wake-up shows as
//! a deadlock.
#![cfg(loom)]

#[path = "../src/leader_follower.rs"]
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod leader_follower;

mod lock;

use leader_follower::{LeaderFollower, Wake};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A source with one item for each follower, in a given order.
struct Source {
    group: LeaderFollower,
    coming: Mutex<Vec<usize>>,
}

impl Source {
    /// Waits for a follower's item, and reads for the others while it leads.
    fn await_item(&self, follower: usize) {
        loop {
            match self.group.wait(follower, None) {
                Wake::Ready => return,
                Wake::Lead => {
                    let came = self.coming.lock().unwrap().pop();
                    if let Some(index) = came {
                        self.group.ready(index);
                    }
                    self.group.promote();
                    if came.is_none() {
                        // Another leader has read this follower's item.
                        thread::yield_now();
                    }
                }
                Wake::Closed | Wake::TimedOut => panic!("neither can be"),
            }
        }
    }
}

fn check(order: &'static [usize]) {
    loom::model(move || {
        let source = Arc::new(Source {
            group: LeaderFollower::new(2, false),
            coming: Mutex::new(order.to_vec()),
        });
        let followers = [source.group.join().unwrap(), source.group.join().unwrap()];
        let other = {
            let source = Arc::clone(&source);
            thread::spawn(move || source.await_item(followers[1]))
        };
        source.await_item(followers[0]);
        other.join().unwrap();
    });
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2 - leader/followers
#[test]
fn every_follower_gets_its_item_in_either_order() {
    check(&[0, 1]);
    check(&[1, 0]);
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2 - leader/followers
#[test]
fn a_follower_that_times_out_passes_its_promotion_on() {
    loom::model(|| {
        let group = Arc::new(LeaderFollower::new(2, false));
        let followers = [group.join().unwrap(), group.join().unwrap()];
        assert!(group.try_lead());
        let waits = {
            let group = Arc::clone(&group);
            thread::spawn(move || {
                // Leads, whichever follower was woken.
                assert_eq!(group.wait(followers[0], None), Wake::Lead);
                group.promote();
            })
        };
        let gives_up = {
            let group = Arc::clone(&group);
            thread::spawn(move || {
                let past = std::time::Instant::now();
                assert_eq!(group.wait(followers[1], Some(past)), Wake::TimedOut);
                group.leave(followers[1]);
            })
        };
        group.promote();
        waits.join().unwrap();
        gives_up.join().unwrap();
    });
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2 - leader/followers
#[test]
fn closing_wakes_every_follower() {
    loom::model(|| {
        let group = Arc::new(LeaderFollower::new(2, true));
        let follower = group.join().unwrap();
        let waits = {
            let group = Arc::clone(&group);
            thread::spawn(move || group.wait(follower, None))
        };
        group.close();
        assert_eq!(waits.join().unwrap(), Wake::Closed);
    });
}
