// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules as Rust source, as text and as a drawing of their graph.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::error::SchedError;
use crate::info::{DependencyKind, RtInfo};
use crate::options::Strategy;
use crate::repository::Repository;
use crate::schedule::{Dispatching, Level, Schedule, Verdict};
use crate::table::fingerprint::hash_of;
use crate::time::Time;

/// The schedule as Rust source: a constant index for each operation and `static SCHEDULE`, a
/// [`Table`](crate::Table). Equal repositories give equal bytes. Disabled operations are in the
/// table without a queue, so that each has its index.
///
/// # Errors
/// `NotScheduled` for an enabled operation that no thread runs.
pub fn source(repository: &Repository, schedule: &Schedule) -> Result<String, SchedError> {
    let mut text = String::from(
        "// Written from RT_Infos by orbium-sched. Change those, then write it again.\n//\n",
    );
    let mut about = summary(repository, schedule);
    dependencies(&mut about, repository);
    for line in about.lines() {
        put(
            &mut text,
            format_args!("{}", format!("// {line}").trim_end()),
        );
    }
    text.push('\n');
    let names = constants(repository.infos());
    for (index, (info, constant)) in repository.infos().iter().zip(names).enumerate() {
        let name = without_control(&info.entry_point);
        put(&mut text, format_args!("/// `{name}`"));
        put(
            &mut text,
            format_args!("pub const {constant}: usize = {index};"),
        );
    }
    let count = repository.infos().len();
    text.push_str("\n/// The operations.\n#[rustfmt::skip]\n");
    put(
        &mut text,
        format_args!("pub const ENTRIES: [orbium_sched::Entry; {count}] = ["),
    );
    let runs = schedule.runs(repository.infos());
    for (info, run) in repository.infos().iter().zip(runs) {
        let entry = entry(info, run, schedule)?;
        put(&mut text, format_args!("    {entry},"));
    }
    text.push_str("];\n\n/// The schedule.\n#[rustfmt::skip]\n");
    text.push_str("pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {\n");
    put(
        &mut text,
        format_args!(
            "    strategy: orbium_sched::Strategy::{},",
            variant(schedule.strategy)
        ),
    );
    put(
        &mut text,
        format_args!("    hash: {:#018x},", hash_of(repository)),
    );
    text.push_str("    entries: &ENTRIES,\n    queues: &[\n");
    for level in &schedule.levels {
        let (priority, kind) = (level.priority, level.dispatching);
        put(
            &mut text,
            format_args!(
                "        orbium_sched::Queue {{ priority: {priority}, dispatching: orbium_sched::Dispatching::{kind:?} }},"
            ),
        );
    }
    text.push_str("    ],\n};\n");
    Ok(text)
}

/// A name without control characters, for comments.
pub(crate) fn without_control(name: &str) -> String {
    name.chars().filter(|it| !it.is_control()).collect()
}

pub(crate) fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = writeln!(text, "{line}");
}

fn entry(
    info: &RtInfo,
    (period, longest): (Time, Time),
    schedule: &Schedule,
) -> Result<String, SchedError> {
    if info.state.is_disabled() {
        return Ok(format!(
            "orbium_sched::Entry::disabled({:?}, {}, {})",
            info.entry_point,
            info.timing.period.ticks(),
            info.timing.worst_case_execution_time.ticks()
        ));
    }
    let not_scheduled = || SchedError::NotScheduled(info.entry_point.clone());
    let it = schedule.assignment(info.handle).ok_or_else(not_scheduled)?;
    let worst_case = info.timing.worst_case_execution_time;
    let mut entry = format!(
        "orbium_sched::Entry::new({:?}, ({}, {}, {}), {}, {})",
        info.entry_point,
        it.preemption_priority,
        it.subpriority,
        it.priority,
        period.ticks(),
        worst_case.ticks()
    );
    if longest != worst_case {
        entry.push_str(&format!(".with_calls({})", longest.ticks()));
    }
    Ok(entry)
}

fn variant(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Rms => "Rms",
        Strategy::Edf => "Edf",
        Strategy::Mlf => "Mlf",
        Strategy::Muf => "Muf",
        Strategy::RmsMlf => "RmsMlf",
    }
}

/// `Nav::GPS::position` is `NAV_GPS_POSITION`; if two names collide, the second ends in `_2`.
pub(crate) fn constants(infos: &[RtInfo]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut constant = |info: &RtInfo| {
        let words = info
            .entry_point
            .split(|it: char| !it.is_ascii_alphanumeric());
        let words: Vec<_> = words
            .filter(|it| !it.is_empty())
            .map(str::to_ascii_uppercase)
            .collect();
        let mut base = words.join("_");
        if base.is_empty()
            || base.starts_with(|it: char| it.is_ascii_digit())
            || ["SCHEDULE", "ENTRIES", "OPERATIONS"].contains(&&*base)
        {
            base = format!("OPERATION_{base}");
        }
        let mut name = base.clone();
        let mut number = 2_u64;
        while !taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    };
    infos.iter().map(&mut constant).collect()
}

/// The schedule as a table of text: queues, then threads.
#[must_use]
pub fn summary(repository: &Repository, schedule: &Schedule) -> String {
    let mut text = String::new();
    let lowest = schedule.lowest_level_met().map(|it| it.queue.to_string());
    put(
        &mut text,
        format_args!(
            "strategy {}{}, utilization {:.3}, lowest queue that meets its deadlines: {}",
            schedule.strategy,
            preemption(schedule),
            schedule.utilization,
            lowest.as_deref().unwrap_or("none")
        ),
    );
    text.push('\n');
    let mut rows = vec![
        [
            "queue", "priority", "order", "period", "share", "response", "holds",
        ]
        .map(str::to_owned),
    ];
    rows.extend(schedule.levels.iter().map(of_level));
    columns(&mut text, &rows);
    text.push('\n');
    let mut rows = vec![
        [
            "thread",
            "queue",
            "period",
            "worst case",
            "typical",
            "share",
            "operations",
        ]
        .map(str::to_owned),
    ];
    for level in &schedule.levels {
        for index in &level.threads {
            let it = &schedule.threads[*index];
            rows.push([
                repository.name(it.entry).to_owned(),
                level.queue.to_string(),
                it.period.to_string(),
                it.worst_case.to_string(),
                it.typical.to_string(),
                format!("{:.3}", it.utilization()),
                it.operations.len().to_string(),
            ]);
        }
    }
    columns(&mut text, &rows);
    text
}

/// The preemption assumed for queues by deadline and laxity, if there are any.
fn preemption(schedule: &Schedule) -> String {
    if schedule.is_dynamic() {
        format!(", {} within a queue", schedule.preemption)
    } else {
        String::new()
    }
}

/// The dependencies of operations, if there are any; disabled ones are omitted.
fn dependencies(text: &mut String, repository: &Repository) {
    let mut rows = Vec::new();
    for info in repository.infos() {
        for it in repository.followed(info) {
            let kind = match it.kind {
                DependencyKind::TwoWayCall => "calls",
                DependencyKind::OneWayCall => "is supplied by",
            };
            rows.push([
                info.entry_point.clone(),
                kind.to_owned(),
                repository.name(it.on).to_owned(),
                it.calls.to_string(),
            ]);
        }
    }
    if !rows.is_empty() {
        text.push('\n');
        rows.insert(
            0,
            ["operation", "dependency", "on", "times"].map(str::to_owned),
        );
        columns(text, &rows);
    }
}

fn of_level(level: &Level) -> [String; 7] {
    let holds = match level.verdict {
        Verdict::Guaranteed(test) => format!("guaranteed by {}", test.name()),
        Verdict::Statistical => "with typical times".to_owned(),
        Verdict::NotGuaranteed => "no".to_owned(),
        Verdict::Background => "background".to_owned(),
    };
    let order = match level.dispatching {
        Dispatching::Static => "static",
        Dispatching::Deadline => "deadline",
        Dispatching::Laxity => "laxity",
        Dispatching::TimeSliced => "slices",
    };
    [
        level.queue.to_string(),
        level.priority.to_string(),
        order.to_owned(),
        level.period.to_string(),
        format!("{:.3}", level.utilization),
        level
            .response
            .map_or_else(|| "-".to_owned(), |it| it.to_string()),
        holds,
    ]
}

/// Rows with columns of equal width.
fn columns<const N: usize>(text: &mut String, rows: &[[String; N]]) {
    let width = |column: usize| rows.iter().map(|it| it[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    for row in rows {
        let cells: Vec<_> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        put(text, format_args!("{}", cells.join("  ").trim_end()));
    }
}

/// The graph of dependencies in the language of Graphviz: calls are solid arrows to the callee,
/// data dashed ones from the supplier to its consumer. Disabled operations are omitted.
#[must_use]
pub fn dot(repository: &Repository, schedule: &Schedule) -> String {
    let mut text = String::from("digraph schedule {\n    rankdir = LR;\n    node [shape = box];\n");
    let infos = repository.infos().iter();
    for info in infos.clone().filter(|it| !it.state.is_disabled()) {
        let queue = schedule
            .assignment(info.handle)
            .map(|it| it.preemption_priority);
        let queue = queue.map_or_else(|| "not scheduled".to_owned(), |it| format!("queue {it}"));
        let is_root = schedule.threads.iter().any(|it| it.entry == info.handle);
        let style = if is_root { ", style = bold" } else { "" };
        let label = format!("{}\n{queue}", info.entry_point);
        put(
            &mut text,
            format_args!("    n{} [label = {label:?}{style}];", info.handle.number()),
        );
    }
    for info in infos {
        for it in repository.followed(info) {
            let (own, on, calls) = (info.handle.number(), it.on.number(), it.calls);
            match it.kind {
                DependencyKind::TwoWayCall => {
                    put(
                        &mut text,
                        format_args!("    n{own} -> n{on} [label = \"{calls}\"];"),
                    );
                }
                DependencyKind::OneWayCall => {
                    put(
                        &mut text,
                        format_args!("    n{on} -> n{own} [label = \"{calls}\", style = dashed];"),
                    );
                }
            }
        }
    }
    text.push_str("}\n");
    text
}
