// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of the graph, with the time of all their callees.

use crate::anomaly::{Anomaly, AnomalyKind, Severity};
use crate::error::SchedError;
use crate::graph::Graph;
use crate::info::{Criticality, Handle, Importance, InfoKind, RtInfo};
use crate::options::Overhead;
use crate::rates::{self, Rate, Rates};
use crate::repository::Repository;
use crate::time::Time;

/// Maximum number of operations of all threads together, each counted in every thread that runs it,
/// to bound memory and time: a chain of operations with an entry point at each has the square of
/// their number.
const MAX_OPERATIONS: usize = 10_000_000;

/// A directed acyclic graph of operations with one entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Its entry point.
    pub entry: Handle,
    /// The operations that it runs, the entry point first, callers before callees.
    pub operations: Vec<Handle>,
    /// The longest run, with all calls and the overhead of each.
    pub worst_case: Time,
    /// The usual execution time of a run.
    pub typical: Time,
    /// The worst case of its entry point alone: the estimate of a run for queues by laxity.
    pub estimate: Time,
    /// The least period; zero in the background.
    pub period: Time,
    /// Its rates: one, or several if suppliers have several periods.
    pub rates: Vec<Rate>,
    /// Whether its suppliers imply its rates; otherwise it has its own period.
    pub implied: bool,
    /// The operations that supply its data.
    pub suppliers: Vec<Handle>,
    /// The criticality of its entry point.
    pub criticality: Criticality,
    /// The importance of its entry point.
    pub importance: Importance,
    /// Whether it belongs to the time-sliced background level.
    pub background: bool,
}

impl Thread {
    /// The utilization: the sum of the longest runs over the periods.
    #[must_use]
    pub fn utilization(&self) -> f64 {
        let share = |rate: &Rate| {
            rate.runs as f64 * self.worst_case.ticks() as f64 / rate.period.ticks() as f64
        };
        self.rates.iter().map(share).sum()
    }
}

/// The threads of a repository, in the order of their entry points, and their anomalies.
///
/// # Errors
/// `TooManyOperations`.
pub(crate) fn find(
    repository: &Repository,
    graph: &Graph,
    overhead: &Overhead,
) -> Result<(Vec<Thread>, Vec<Anomaly>), SchedError> {
    let rates = rates::of_all(repository, graph);
    let mut walk = Walk::new(repository, graph, *overhead);
    let (mut threads, mut anomalies) = (Vec::new(), Vec::new());
    let mut remaining = MAX_OPERATIONS;
    let infos = repository.infos().iter().enumerate();
    for (index, info) in infos.filter(|(_, it)| !it.state.is_disabled()) {
        check_times(info, &mut anomalies);
        check_remote(index, info, graph, repository, &mut anomalies);
        check_conjunction(index, info, graph, &rates, &mut anomalies);
        if !graph.is_entry(index, info) {
            continue;
        }
        if let Some((caller, _)) = graph.callers[index].first() {
            anomalies.push(two_entry_points(repository, info, *caller));
        }
        let background = !info.timing.quantum.is_zero();
        if rates[index].all.is_empty() && !background {
            anomalies.push(without_rate(info, graph.suppliers[index].is_empty()));
            continue;
        }
        let thread = walk.thread(index, rates[index].clone(), background);
        let rest = remaining.checked_sub(thread.operations.len());
        remaining = rest.ok_or(SchedError::TooManyOperations)?;
        if thread.worst_case.is_zero() {
            let text = format!("`{}` has no execution time", info.entry_point);
            anomalies.push(about(
                info,
                Severity::Warning,
                AnomalyKind::NoExecutionTime,
                text,
            ));
        }
        threads.push(thread);
    }
    Ok((threads, anomalies))
}

/// Traverses the calls of one thread after the other.
struct Walk<'a> {
    infos: &'a [RtInfo],
    graph: &'a Graph,
    overhead: Overhead,
    /// For each operation, the last traversal that visited it.
    met: Vec<usize>,
    /// For each operation, the number of its calls in this traversal.
    calls: Vec<u64>,
    number: usize,
}

impl<'a> Walk<'a> {
    fn new(repository: &'a Repository, graph: &'a Graph, overhead: Overhead) -> Self {
        let infos = repository.infos();
        Walk {
            infos,
            graph,
            overhead,
            met: vec![0; infos.len()],
            calls: vec![0; infos.len()],
            number: 0,
        }
    }

    /// The operations of the thread, callers before callees.
    fn reach(&mut self, entry: usize) -> Vec<usize> {
        self.number += 1;
        self.met[entry] = self.number;
        let mut reached = vec![entry];
        let mut next = 0;
        while let Some(index) = reached.get(next) {
            for (on, _) in &self.graph.callees[*index] {
                if self.met[*on] != self.number {
                    self.met[*on] = self.number;
                    reached.push(*on);
                }
            }
            next += 1;
        }
        reached.sort_unstable_by_key(|index| std::cmp::Reverse(self.graph.position[*index]));
        reached
    }

    fn thread(&mut self, entry: usize, rates: Rates, background: bool) -> Thread {
        let Rates {
            all: rates,
            implied,
        } = rates;
        let reached = self.reach(entry);
        for index in &reached {
            self.calls[*index] = 0;
        }
        self.calls[entry] = 1;
        let per_run = self.overhead.context_switch.saturating_mul(2);
        let (mut worst, mut typical) = (per_run, per_run);
        for index in &reached {
            let calls = self.calls[*index];
            let charge = Charge::of(&self.infos[*index], calls);
            let sent = if *index == entry {
                Time::ZERO
            } else {
                self.overhead.call.saturating_mul(calls)
            };
            worst = worst.saturating_add(charge.worst_case).saturating_add(sent);
            typical = typical.saturating_add(charge.typical).saturating_add(sent);
            for (on, per_run) in &self.graph.callees[*index] {
                let further = charge.full_runs.saturating_mul(*per_run);
                self.calls[*on] = self.calls[*on].saturating_add(further);
            }
        }
        let timing = &self.infos[entry].timing;
        let suppliers = self.graph.suppliers[entry].iter();
        Thread {
            entry: Handle::at(entry),
            operations: reached.iter().map(|index| Handle::at(*index)).collect(),
            worst_case: worst,
            typical,
            estimate: timing.worst_case_execution_time,
            period: rates.first().map_or(Time::ZERO, |rate| rate.period),
            rates: if background { Vec::new() } else { rates },
            implied,
            suppliers: suppliers.map(|(on, _)| Handle::at(*on)).collect(),
            criticality: timing.criticality,
            importance: timing.importance,
            background,
        }
    }
}

/// The cost of an operation's calls within a run of the thread.
struct Charge {
    worst_case: Time,
    typical: Time,
    /// Runs that execute the calls of the operation: a cached result makes no calls.
    full_runs: u64,
}

impl Charge {
    /// With a cached result `k` calls cost `C + (k - 1) * cached`, else `k * C`.
    fn of(info: &RtInfo, calls: u64) -> Self {
        let timing = &info.timing;
        let cached = timing.cached_execution_time;
        let full_runs = if cached.is_zero() {
            calls
        } else {
            calls.min(1)
        };
        let further = cached.saturating_mul(calls - full_runs);
        let cost = |one: Time| match timing.kind {
            InfoKind::RemoteDependant => Time::ZERO,
            _ => one.saturating_mul(full_runs).saturating_add(further),
        };
        Charge {
            worst_case: cost(info.worst_case()),
            typical: cost(info.typical()),
            full_runs,
        }
    }
}

fn about(info: &RtInfo, severity: Severity, kind: AnomalyKind, description: String) -> Anomaly {
    Anomaly {
        severity,
        kind,
        handle: Some(info.handle),
        description,
    }
}

fn two_entry_points(repository: &Repository, info: &RtInfo, caller: usize) -> Anomaly {
    let caller = Handle::at(caller);
    let own = match info.timing.threads {
        0 => "runs for the data of its suppliers",
        _ => "has threads of its own",
    };
    let text = format!(
        "`{}` {own} and is called by `{}`: a thread has one entry point",
        info.entry_point,
        repository.name(caller)
    );
    about(
        info,
        Severity::Error,
        AnomalyKind::TwoEntryPoints { caller },
        text,
    )
}

fn without_rate(info: &RtInfo, is_alone: bool) -> Anomaly {
    let name = &info.entry_point;
    if info.timing.threads == 0 && is_alone {
        let text = format!("nothing calls `{name}`, and it has neither a period nor a thread");
        about(info, Severity::Error, AnomalyKind::PassiveRoot, text)
    } else {
        let text = format!("`{name}` has no rate: no period, and none that its suppliers imply");
        about(info, Severity::Error, AnomalyKind::NoRate, text)
    }
}

fn check_times(info: &RtInfo, anomalies: &mut Vec<Anomaly>) {
    let timing = &info.timing;
    let worst = timing.worst_case_execution_time;
    let checks = [
        (
            "typical",
            timing.typical_execution_time,
            AnomalyKind::TypicalExceedsWorstCase,
        ),
        (
            "cached",
            timing.cached_execution_time,
            AnomalyKind::CachedExceedsWorstCase,
        ),
    ];
    for (which, time, kind) in checks {
        if time > worst {
            let name = &info.entry_point;
            let text = format!(
                "the {which} execution time of `{name}`, {time}, is longer than its worst case, {worst}"
            );
            anomalies.push(about(info, Severity::Warning, kind, text));
        }
    }
    if !timing.quantum.is_zero() && !timing.period.is_zero() {
        let text = format!(
            "`{}` runs in the background: its period is not analysed",
            info.entry_point
        );
        anomalies.push(about(
            info,
            Severity::Warning,
            AnomalyKind::PeriodInBackground,
            text,
        ));
    }
}

fn check_remote(
    index: usize,
    info: &RtInfo,
    graph: &Graph,
    repository: &Repository,
    anomalies: &mut Vec<Anomaly>,
) {
    for (on, _) in &graph.callees[index] {
        let called = &repository.infos()[*on];
        if called.timing.kind != InfoKind::RemoteDependant {
            continue;
        }
        let text = format!(
            "`{}` waits for `{}` of another host: the wait is not part of its response time",
            info.entry_point, called.entry_point
        );
        let operation = called.handle;
        anomalies.push(about(
            info,
            Severity::Warning,
            AnomalyKind::WaitsForRemote { operation },
            text,
        ));
    }
}

fn check_conjunction(
    index: usize,
    info: &RtInfo,
    graph: &Graph,
    rates: &[Rates],
    anomalies: &mut Vec<Anomaly>,
) {
    if info.timing.kind != InfoKind::Conjunction {
        return;
    }
    let suppliers = graph.suppliers[index].iter();
    let mut periods: Vec<_> = suppliers
        .flat_map(|(on, _)| rates[*on].all.iter().map(|it| it.period))
        .collect();
    periods.sort_unstable();
    let is_harmonic = periods
        .windows(2)
        .all(|it| it[1].ticks() % it[0].ticks() == 0);
    if !is_harmonic {
        let text = format!(
            "the suppliers of the conjunction `{}` have periods that are no multiples of each other: \
             it may run later than the analysis has it",
            info.entry_point
        );
        anomalies.push(about(
            info,
            Severity::Warning,
            AnomalyKind::NotHarmonic,
            text,
        ));
    }
}
