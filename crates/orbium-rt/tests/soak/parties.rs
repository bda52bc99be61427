// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server of each strategy and a client of each, none of which may notice what
//! goes wrong with another's call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium_core::{ClientStrategy, Orb, ServerStrategy};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, calling_by};

use crate::measure::Run;

/// A server of each strategy, each with another caller during the cycles.
pub(crate) fn each_server(run: &mut Run) -> Vec<Served> {
    let servers = [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
        ServerStrategy::WorkerPool {
            workers: 2,
            queue: 4096,
        },
    ]
    .map(Served::new);
    for served in &servers {
        run.with_caller(served.client().1);
    }
    servers.into()
}

/// A client of each strategy, which also calls that object during the cycles.
pub(crate) fn each_client(well: &Served, run: &mut Run) -> Vec<Orb> {
    let client = |strategy: &ClientStrategy| {
        let client = Orb::new(calling_by(*strategy)).unwrap();
        run.with_caller(well.seen_by(&client));
        client
    };
    ClientStrategy::ALL.iter().map(client).collect()
}

/// The object at the only profile of a reference, seen by each client.
pub(crate) fn seen_by_each(clients: &[Orb], text: &str) -> Vec<Target> {
    let seen = clients.iter().map(|it| orbium_testkit::reach(it, text));
    seen.collect()
}

/// Counts the calls of `act`, which does nothing else.
pub(crate) fn counts_acts(state: &TargetState) -> Arc<AtomicU64> {
    let acts = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&acts);
    state.on_act(move |_, v| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(v)
    });
    acts
}
