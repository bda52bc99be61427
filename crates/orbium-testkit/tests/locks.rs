// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on locks per request, which must not rise unnoticed. Client and
//! server are in this process, so both are counted together.
//!
//! `cargo test -p orbium-testkit --features counted --test locks`
#![cfg(feature = "counted")]

use std::thread;
use std::time::Duration;

use orbium::lock::{Counts, counts};
use orbium::{
    Config, Interface, Orb,
    config::{ClientStrategy, ServerStrategy},
    lane::LaneConfig,
    poa::Policies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, each_strategy, reach};

const CALLS: u32 = 200;

/// The fewest of some rounds: who else runs here adds to single ones.
fn fewest(mut round: impl FnMut()) -> Counts {
    let rounds = (0..8).map(|_| {
        let before = counts();
        round();
        counts() - before
    });
    rounds
        .min_by_key(|counted| counted.operations())
        .unwrap_or_default()
}

/// Operations on locks per call of one thread, once everything is there.
fn per_call(target: &Target) -> f64 {
    let round = || (0..CALLS).for_each(|_| target.noop().unwrap());
    round();
    fewest(round).operations() as f64 / f64::from(CALLS)
}

/// What each way to serve may take, contention aside.
fn most(strategy: ServerStrategy) -> f64 {
    match strategy {
        // To find the connection that is ready.
        ServerStrategy::LeaderFollowers { .. } => 2.0,
        // The queue's lock by who puts, who takes, and who waits; that of the
        // connection, which more than one may answer. Twice more where another
        // than the one that was woken takes the request.
        ServerStrategy::WorkerPool { .. } => 10.0,
        _ => 0.0,
    }
}

/// One test: a second one would be counted too.
#[test]
fn requests_take_no_more_locks_than_documented() {
    // They are counted at all.
    let lock = orbium::lock::Mutex::new(());
    assert_eq!(fewest(|| drop(lock.lock())).operations(), 2);

    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let of_orb = per_call(&target);
        assert!(of_orb <= most(strategy), "{of_orb} with {strategy}");
        let of_lane = per_call(&in_a_lane(&served, strategy));
        assert!(of_lane <= most(strategy), "{of_lane} in a lane, {strategy}");
        served.end();
    });
    clients_with_connections_of_their_own_take_none();
    nor_do_several_threads_that_share_a_pool();
}

/// An object that a lane serves.
fn in_a_lane(served: &Served, strategy: ServerStrategy) -> Target {
    let orb = &served.orb;
    let config = LaneConfig {
        strategy,
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..LaneConfig::default()
    };
    let policies = Policies {
        lanes: vec![orb.add_lane(&config).unwrap()],
        ..Policies::default()
    };
    let manager = Some(orb.root_poa().manager());
    let poa = orb
        .root_poa()
        .create_poa("lane", manager, policies)
        .unwrap();
    let target: Target = poa.activate(TargetState::default()).unwrap();
    served_to_another(orb, &target, ClientStrategy::default())
}

fn served_to_another(orb: &Orb, target: &Target, client_strategy: ClientStrategy) -> Target {
    let client = Orb::new(Config {
        client_strategy,
        ..Config::default()
    });
    reach(&client.unwrap(), &orb.object_to_string(target))
}

fn clients_with_connections_of_their_own_take_none() {
    let served = Served::new(ServerStrategy::Reactive);
    for strategy in [
        ClientStrategy::ExclusivePool,
        ClientStrategy::ExclusivePerThread,
    ] {
        let target = served_to_another(&served.orb, &served.target, strategy);
        assert_eq!(per_call(&target), 0.0, "{strategy}");
        let private = target.as_object().with_private_connections();
        assert_eq!(per_call(&Target::from_object(private)), 0.0, "private");
        let hurried = target.with_timeout(Duration::from_secs(3600));
        assert_eq!(per_call(&hurried), 0.0, "with a deadline");
    }
    served.end();
}

fn nor_do_several_threads_that_share_a_pool() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (_client, target) = served.client();
    let target = &target;
    let operations: Vec<u64> = thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let round = || (0..CALLS).for_each(|_| target.noop().unwrap());
                    round();
                    fewest(round).operations()
                })
            })
            .collect();
        let counted = callers.into_iter().map(|caller| caller.join().unwrap());
        counted.collect()
    });
    assert!(operations.contains(&0), "{operations:?}");
    served.end();
}
