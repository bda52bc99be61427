// SPDX-License-Identifier: MIT OR Apache-2.0
//! At which rates operations run: their own period (rule 1 of the paper), or the rates that
//! dependencies imply (rule 2).

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::info::{InfoKind, RtInfo};
use crate::repository::Repository;
use crate::time::Time;

/// Runs per period. With suppliers of several periods an operation has several rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    /// The period.
    pub period: Time,
    /// Runs that one period brings.
    pub runs: u64,
}

/// Rates beyond this number are merged into the shortest of their periods, which charges more
/// time than there is, never less.
pub(crate) const MAX_RATES: usize = 64;

/// The rates of every operation; none where nothing implies one.
pub(crate) fn of_all(repository: &Repository, graph: &Graph) -> Vec<Vec<Rate>> {
    let infos = repository.infos();
    let least = least_periods(infos, graph);
    let mut rates: Vec<Vec<Rate>> = vec![Vec::new(); infos.len()];
    let mut inputs = Vec::with_capacity(infos.len());
    let mut waiting = vec![0_usize; infos.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); infos.len()];
    let mut ready = Vec::new();
    for (index, info) in infos.iter().enumerate() {
        let source = Source::of(index, info, graph, least[index]);
        let from = source.operations(index, graph);
        waiting[index] = from.len();
        for (on, _) in from {
            users[*on].push(index);
        }
        if from.is_empty() {
            ready.push(index);
        }
        inputs.push(source);
    }
    // An operation that calls its own supplier never becomes ready, and has no rate.
    while let Some(index) = ready.pop() {
        rates[index] = inputs[index].rates(index, graph, &rates, infos[index].timing.kind);
        for user in &users[index] {
            waiting[*user] -= 1;
            if waiting[*user] == 0 {
                ready.push(*user);
            }
        }
    }
    rates
}

/// The least non-zero period of each operation and of all that it calls; zero if there is none.
fn least_periods(infos: &[RtInfo], graph: &Graph) -> Vec<Time> {
    let mut least = vec![Time::ZERO; infos.len()];
    for index in &graph.order {
        let called = graph.callees[*index].iter().map(|(on, _)| least[*on]);
        let periods = called.chain([infos[*index].timing.period]);
        let shortest = periods.filter(|it| !it.is_zero()).min();
        least[*index] = shortest.unwrap_or_default();
    }
    least
}

/// Where the rate of an operation comes from.
enum Source {
    /// Its own period, or the least of those it calls.
    Period(Time),
    /// The operations that supply it.
    Suppliers,
    /// The operations that call it.
    Callers,
}

impl Source {
    fn of(index: usize, info: &RtInfo, graph: &Graph, least: Time) -> Self {
        let has_thread = info.timing.threads > 0 || graph.callers[index].is_empty();
        match (has_thread, least.is_zero()) {
            (true, false) => Source::Period(least),
            (true, true) => Source::Suppliers,
            (false, _) => Source::Callers,
        }
    }

    fn operations<'a>(&self, index: usize, graph: &'a Graph) -> &'a [(usize, u64)] {
        match self {
            Source::Period(_) => &[],
            Source::Suppliers => &graph.suppliers[index],
            Source::Callers => &graph.callers[index],
        }
    }

    fn rates(&self, index: usize, graph: &Graph, rates: &[Vec<Rate>], kind: InfoKind) -> Vec<Rate> {
        if let Source::Period(period) = self {
            return vec![Rate {
                period: *period,
                runs: 1,
            }];
        }
        let edges = self.operations(index, graph).iter();
        let all = edges.flat_map(|(on, calls)| {
            let scaled = rates[*on].iter();
            scaled.map(|it| (it.period, it.runs.saturating_mul(*calls)))
        });
        match (self, kind) {
            (Source::Suppliers, InfoKind::Conjunction) => {
                let slowest = all.max_by_key(|(period, _)| *period);
                slowest
                    .map(|(period, _)| Rate { period, runs: 1 })
                    .into_iter()
                    .collect()
            }
            _ => merged(all),
        }
    }
}

/// One rate for each period.
fn merged(all: impl Iterator<Item = (Time, u64)>) -> Vec<Rate> {
    let mut by_period: BTreeMap<Time, u64> = BTreeMap::new();
    for (period, runs) in all {
        let sum = by_period.entry(period).or_default();
        *sum = sum.saturating_add(runs);
    }
    while by_period.len() > MAX_RATES
        && let Some((_, runs)) = by_period.pop_last()
        && let Some(mut first) = by_period.first_entry()
    {
        let sum = first.get_mut();
        *sum = sum.saturating_add(runs);
    }
    let rates = by_period.into_iter();
    rates.map(|(period, runs)| Rate { period, runs }).collect()
}
