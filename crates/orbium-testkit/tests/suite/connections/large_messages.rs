// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several ORBs that send large messages to each other at once: more than the
//! sockets between them hold, so that each must read while it sends.

use std::sync::Barrier;
use std::thread;

use orbium::config::ServerStrategy;
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, within};

const ORBS: usize = 4;
const SIZE: usize = 8 << 20;

/// ORBs, and of each how it sees the objects of the others.
fn orbs(strategy: ServerStrategy) -> (Vec<Served>, Vec<Vec<Target>>) {
    let orbs: Vec<Served> = (0..ORBS).map(|_| Served::new(strategy)).collect();
    let others = |one: &Served| -> Vec<Target> {
        let others = orbs.iter().filter(|other| other.orb != one.orb);
        others.map(|other| other.seen_by(&one.orb)).collect()
    };
    let seen = orbs.iter().map(others).collect();
    (orbs, seen)
}

fn echo(target: &Target, mark: u8) {
    let sent = vec![mark; SIZE];
    let back = target.echo_octets(&sent).unwrap();
    assert!(back == sent, "other octets came back");
}

/// Conformance: TAO 12 - peers that send large messages to each other at once
#[test]
fn every_orb_sends_to_every_other_at_once() {
    each_strategy(|strategy| {
        let (orbs, seen) = orbs(strategy);
        within("twelve large calls", move || {
            let together = Barrier::new(ORBS * (ORBS - 1));
            thread::scope(|scope| {
                for (mark, target) in (0..).zip(seen.iter().flatten()) {
                    let together = &together;
                    scope.spawn(move || {
                        together.wait();
                        echo(target, mark);
                    });
                }
            });
        });
        orbs.into_iter().for_each(Served::end);
    });
}

/// Each servant sends to the next ORB, in a ring, while it is called itself.
///
/// Conformance: TAO 12 - peers that send large messages to each other at once
#[test]
fn servants_send_to_each_other_at_once() {
    each_strategy(|strategy| {
        let (orbs, seen) = orbs(strategy);
        for (served, others) in orbs.iter().zip(&seen) {
            let others = others.clone();
            served.state.on_act(move |_, v| {
                let next = &others[v as usize % others.len()];
                echo(next, v as u8);
                Ok(v)
            });
        }
        let client = orbium_testkit::client();
        let targets: Vec<Target> = orbs.iter().map(|served| served.seen_by(&client)).collect();
        within("nested large calls", move || {
            let together = Barrier::new(2 * ORBS);
            thread::scope(|scope| {
                for (target, v) in targets.iter().cycle().zip(0..2 * ORBS as i32) {
                    let together = &together;
                    scope.spawn(move || {
                        together.wait();
                        assert_eq!(target.act(v), Ok(v));
                    });
                }
            });
        });
        orbs.into_iter().for_each(Served::end);
    });
}
