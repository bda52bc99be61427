// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates of operations: their own period (rule 1 of the paper), or the rates that dependencies
//! imply (rule 2).

use std::collections::BTreeMap;
use std::mem;

use crate::graph::Graph;
use crate::info::{InfoKind, RtInfo};
use crate::repository::Repository;
use crate::time::Time;

/// Runs per period. With suppliers of several periods an operation has several rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    /// The period.
    pub period: Time,
    /// The number of runs per period.
    pub runs: u64,
}

/// Rates beyond this number are merged into the shortest of their periods, which is conservative:
/// it overestimates the charged time.
pub(crate) const MAX_RATES: usize = 64;

/// The rates of an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    /// Empty if neither a period nor a dependency implies one.
    pub(crate) all: Vec<Rate>,
    /// Whether its suppliers imply the rates.
    pub(crate) implied: bool,
}

/// The rates of every operation.
pub(crate) fn of_all(repository: &Repository, graph: &Graph) -> Vec<Rates> {
    let infos = repository.infos();
    let least = least_periods(infos, graph);
    let mut rates: Vec<Rates> = vec![Rates::default(); infos.len()];
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
    let (mut next, mut done) = (0, vec![false; infos.len()]);
    loop {
        while let Some(index) = ready.pop() {
            if mem::replace(&mut done[index], true) {
                continue;
            }
            rates[index] = inputs[index].rates(index, graph, &rates, infos[index].timing.kind);
            for user in &users[index] {
                waiting[*user] = waiting[*user].saturating_sub(1);
                if waiting[*user] == 0 {
                    ready.push(*user);
                }
            }
        }
        // An operation that calls its own supplier never becomes ready: it has the period of its
        // callees, if there is one.
        let mut rest = inputs.iter().enumerate().skip(next);
        let own = |(index, source): (usize, &Source)| match source {
            Source::SuppliersOr(period) if !done[index] => Some((index, *period)),
            _ => None,
        };
        let Some((index, period)) = rest.find_map(own) else {
            return rates;
        };
        next = index + 1;
        inputs[index] = Source::Period(period);
        ready.push(index);
    }
}

/// The least non-zero period of each operation and of all its callees; zero if there is none.
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

/// The source of an operation's rate.
enum Source {
    /// Its own period, or the least one of its callees.
    Period(Time),
    /// The operations that supply it.
    Suppliers,
    /// The suppliers, if they cause more than one run in that period, which is the least one of its
    /// callees.
    SuppliersOr(Time),
    /// The operations that call it.
    Callers,
}

impl Source {
    fn of(index: usize, info: &RtInfo, graph: &Graph, least: Time) -> Self {
        let is_supplied = info.timing.period.is_zero() && !graph.suppliers[index].is_empty();
        match (graph.is_entry(index, info), least.is_zero()) {
            (true, false) if is_supplied => Source::SuppliersOr(least),
            (true, false) => Source::Period(least),
            (true, true) => Source::Suppliers,
            (false, _) => Source::Callers,
        }
    }

    fn operations<'a>(&self, index: usize, graph: &'a Graph) -> &'a [(usize, u64)] {
        match self {
            Source::Period(_) => &[],
            Source::Suppliers | Source::SuppliersOr(_) => &graph.suppliers[index],
            Source::Callers => &graph.callers[index],
        }
    }

    fn rates(&self, index: usize, graph: &Graph, rates: &[Rates], kind: InfoKind) -> Rates {
        let edges = self.operations(index, graph);
        let period = match self {
            Source::Period(period) | Source::SuppliersOr(period) => Some(*period),
            Source::Suppliers | Source::Callers => None,
        };
        let all = match (self, kind) {
            (Source::Suppliers | Source::SuppliersOr(_), InfoKind::Conjunction) => {
                slowest(edges, rates).into_iter().collect()
            }
            _ => merged(edges.iter().flat_map(|(on, calls)| {
                let scaled = rates[*on].all.iter();
                scaled.map(|it| (it.period, it.runs.saturating_mul(*calls)))
            })),
        };
        match period.map(|period| Rate { period, runs: 1 }) {
            Some(own) if !is_more_often(&all, own) => Rates {
                all: vec![own],
                implied: false,
            },
            _ => Rates {
                all,
                implied: !matches!(self, Source::Callers),
            },
        }
    }
}

/// Whether the rates add up to more runs than one rate.
fn is_more_often(all: &[Rate], rate: Rate) -> bool {
    let share = |it: &Rate| it.runs as f64 * rate.period.ticks() as f64 / it.period.ticks() as f64;
    all.iter().map(share).sum::<f64>() > rate.runs as f64 + 1e-9
}

/// The events of the supplier with the fewest, as one rate in its least period: each run of a
/// conjunction consumes one of each.
fn slowest(edges: &[(usize, u64)], rates: &[Rates]) -> Option<Rate> {
    let one = |(on, calls): &(usize, u64)| {
        let all = &rates[*on].all;
        let runs = all.iter().map(|it| it.runs.saturating_mul(*calls));
        Some(Rate {
            period: all.first()?.period,
            runs: runs.fold(0, u64::saturating_add),
        })
    };
    let frequency =
        |it: &Rate, other: &Rate| u128::from(it.runs) * u128::from(other.period.ticks());
    let all = edges.iter().filter_map(one);
    all.min_by(|one, other| {
        let order = frequency(one, other).cmp(&frequency(other, one));
        order.then(other.period.cmp(&one.period))
    })
}

/// Merges the rates of each period into one.
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
