// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls within calls, in every combination of server and client strategy.

use std::sync::Arc;
use std::thread;

use orbium::{Config, SystemException};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_pair, eventually, in_own_process, threads, within};

/// Two ORBs of the same strategies that serve each other.
struct Two {
    a: Served,
    b: Served,
    a_in_b: Target,
    b_in_a: Target,
}

impl Two {
    fn new(config: &Config) -> Self {
        let (a, b) = (Served::with(config.clone()), Served::with(config.clone()));
        Self {
            a_in_b: a.seen_by(&b.orb),
            b_in_a: b.seen_by(&a.orb),
            a,
            b,
        }
    }

    fn end(self) {
        let Self { a, b, .. } = self;
        a.end();
        b.end();
    }
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete - in every pair of
/// strategies
/// Conformance: complaint 2 - a pool starves: no thread can be had, or all wait in nested calls
#[test]
fn a_chain_of_forty_completes() {
    each_pair(|config| {
        let two = Two::new(&config);
        let (b, from_a) = (two.b_in_a.clone(), two.a.target.clone());
        let depth = within("a chain", move || b.nest(Some(&from_a), 40));
        assert_eq!(depth, Ok(40));
        two.end();
    });
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete - in every pair of
/// strategies
#[test]
fn chains_both_ways_from_many_threads_complete() {
    each_pair(|config| {
        let two = Two::new(&config);
        let ways = [
            (two.b_in_a.clone(), two.a.target.clone()),
            (two.a_in_b.clone(), two.b.target.clone()),
        ];
        within("many chains", move || {
            thread::scope(|scope| {
                for (target, own) in ways.iter().cycle().take(16) {
                    scope.spawn(move || {
                        for depth in [1, 3, 7] {
                            assert_eq!(target.nest(Some(own), depth), Ok(depth));
                        }
                    });
                }
            });
        });
        two.end();
    });
}

/// Conformance: TAO 14 - mixed SyncScopes over one muxed connection - oneways and twoways of many
/// threads
#[test]
fn oneways_that_call_back_all_do_and_do_not_pile_up_threads() {
    in_own_process!(|| {
        const COUNT: u64 = 500;
        each_pair(|config| {
            let two = Two::new(&config);
            for _ in 0..COUNT {
                two.b_in_a.post_nest(Some(&two.a.target)).unwrap();
            }
            let state = Arc::clone(&two.a.state);
            eventually("every oneway called back", || state.calls() == COUNT);
            // Other tests of the process have threads, too.
            let bound = 500 + usize::try_from(COUNT).unwrap();
            assert!(threads() < bound, "{} threads", threads());
            two.end();
        });
    });
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete - in every pair of
/// strategies
#[test]
fn callbacks_to_the_caller_complete_while_it_waits_under_load() {
    each_pair(|config| {
        let two = Two::new(&config);
        let back = two.a_in_b.clone();
        two.b.state.on_act(move |_, v| back.echo_long(v));
        let target = two.b_in_a.clone();
        within("callbacks", move || {
            thread::scope(|scope| {
                for number in 0..12 {
                    let target = &target;
                    scope.spawn(move || {
                        for v in 0..50 {
                            let v = number * 1000 + v;
                            assert_eq!(target.act(v), Ok(v));
                        }
                    });
                }
            });
        });
        two.end();
    });
}

/// More chains at once than a server may have connections: those that are busy
/// wait for calls that need one.
///
/// Conformance: TAO 2 - chains of nested calls from many threads complete - in every pair of
/// strategies
#[test]
fn more_chains_than_connections_complete() {
    each_pair(|mut config| {
        config.limits.connections_per_server = 4;
        config.limits.calls_per_connection = 4;
        let two = Two::new(&config);
        let (target, own) = (two.b_in_a.clone(), two.a.target.clone());
        within("more chains than connections", move || {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| assert_eq!(target.nest(Some(&own), 5), Ok(5)));
                }
            });
        });
        two.end();
    });
}

/// A server that ended read no more, and kept shared connections open for the
/// replies to come. Those could wait for calls back, which came over just such a
/// connection and were never answered: nobody returned.
#[test]
fn a_peer_that_ends_under_load_is_an_exception_to_its_callers() {
    each_pair(|config| {
        let (a, b) = (Served::with(config.clone()), Served::with(config));
        let b_in_a = b.seen_by(&a.orb);
        let own = a.target.clone();
        let callers: Vec<_> = (0..6)
            .map(|_| {
                let (target, own) = (b_in_a.clone(), own.clone());
                orbium_testkit::spawn(move || {
                    loop {
                        if let Err(exception) = target.nest(Some(&own), 3) {
                            return exception;
                        }
                    }
                })
            })
            .collect();
        let state = Arc::clone(&b.state);
        eventually("calls go on", || state.calls() > 50);
        b.end();
        for caller in callers {
            let exception: SystemException = within("a caller", move || caller.join().unwrap());
            assert!(exception.kind.name().len() > 1);
        }
        a.end();
    });
}

#[test]
fn at_least_the_strategies_there_are_go_together() {
    let pairs = std::cell::Cell::new(0);
    each_pair(|_| pairs.set(pairs.get() + 1));
    assert!(pairs.get() >= 17, "{}", pairs.get());
}
