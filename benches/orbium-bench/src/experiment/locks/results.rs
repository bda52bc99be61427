// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on locks per request.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, Kind};
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::lock_counts::LockCounts;

/// A side of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Side {
    /// Operations at user level, as in the paper: acquiring a lock is one, releasing it another.
    /// `None` without counters.
    pub(super) user: Option<f64>,
    /// Contended locks.
    pub(super) contended: Option<f64>,
    /// Operations at kernel level.
    pub(super) kernel: Option<f64>,
}

/// The counts of one process before or after some calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub(super) calls: u64,
    pub(super) locks: Option<LockCounts>,
    pub(super) futexes: Option<u64>,
}

impl Side {
    /// The difference of two runs of different length, without their common part.
    pub(super) fn between(less: Reading, more: Reading) -> Self {
        let calls = more.calls.saturating_sub(less.calls).max(1) as f64;
        let locks = more.locks.zip(less.locks);
        let locks = locks.map(|(more, less)| more.since(less));
        let futexes = more.futexes.zip(less.futexes);
        Self {
            user: locks.map(|locks| locks.operations as f64 / calls),
            contended: locks.map(|locks| locks.contended as f64 / calls),
            kernel: futexes.map(|(more, less)| more.saturating_sub(less) as f64 / calls),
        }
    }

    fn to_json(self) -> Value {
        json!({ "user": self.user, "contended": self.contended, "kernel": self.kernel })
    }
}

/// The findings for an architecture with so many client threads.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) architecture: Architecture,
    pub(super) threads: usize,
    pub(super) client: Side,
    pub(super) server: Side,
}

impl Findings {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "architecture": self.architecture.name,
            "lanes": self.architecture.lanes,
            "threads": self.threads,
            "client": self.client.to_json(),
            "server": self.server.to_json(),
        })
    }
}

/// Operations per request in the paper: client and server, at user level.
pub(super) const PAPER: [(&str, f64, f64); 4] = [
    ("CORBAplus (1998)", 199.0, 216.0),
    ("miniCOOL (1998)", 94.0, 231.0),
    ("MT-Orbix (1998)", 175.0, 599.0),
    ("TAO (1998)", 40.0, 32.0),
];

/// The operations of one client thread. The bounds apply to the best of the architectures with
/// lanes, which can be chosen.
pub(super) fn rows(found: &[Findings]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, side) in SIDES {
        for (level, value, most) in LEVELS {
            let figure = format!("operations on locks per request, {name}, {level} level");
            let of = |one: &Findings| value(side(one)).map(|value| (value * 100.0).round() / 100.0);
            let alone: Vec<_> = found.iter().filter(|one| one.threads == 1).collect();
            let lanes = alone
                .iter()
                .enumerate()
                .filter(|(_, one)| one.architecture.kind == Kind::Orbium && one.architecture.lanes);
            let best = lanes.min_by(|(_, one), (_, other)| {
                let order = |one: &Findings| of(one).unwrap_or(f64::INFINITY);
                order(one).total_cmp(&order(other))
            });
            let best = best.map(|(index, _)| index);
            rows.extend(alone.iter().enumerate().map(|(index, one)| {
                let row = Row::new(&figure, &one.architecture.name, of(one));
                if best == Some(index) {
                    row.bounded(Bound::AtMost(most))
                } else {
                    row
                }
            }));
        }
    }
    rows
}

type OfSide = fn(&Findings) -> Side;
type OfLevel = fn(Side) -> Option<f64>;

const SIDES: [(&str, OfSide); 2] = [("client", |one| one.client), ("server", |one| one.server)];
const LEVELS: [(&str, OfLevel, f64); 2] = [
    ("user", |side| side.user, 2.0),
    ("kernel", |side| side.kernel, 0.0),
];

/// A table for each number of threads.
pub(super) fn to_text(found: &[Findings], threads: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\nOperations on locks per request, {threads} client threads\n{:54}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n\
         {:54}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "",
        "client",
        "",
        "",
        "server",
        "",
        "",
        "",
        "user",
        "contended",
        "kernel",
        "user",
        "contended",
        "kernel"
    );
    for one in found.iter().filter(|one| one.threads == threads) {
        let _ = write!(text, "{:54}", one.architecture.name);
        for side in [one.client, one.server] {
            for value in [side.user, side.contended, side.kernel] {
                let cell = value.map_or("–".to_owned(), |value| format!("{value:.2}"));
                let _ = write!(text, "{cell:>10}");
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(calls: u64, operations: u64, futexes: u64) -> Reading {
        Reading {
            calls,
            locks: Some(LockCounts {
                operations,
                contended: operations / 10,
                conditions: 0,
            }),
            futexes: Some(futexes),
        }
    }

    #[test]
    fn work_of_both_runs_does_not_count() {
        let side = Side::between(reading(100, 1_000, 7), reading(300, 1_800, 7));
        assert_eq!(side.user, Some(4.0));
        assert_eq!(side.contended, Some(0.4));
        assert_eq!(side.kernel, Some(0.0));
    }

    #[test]
    fn the_best_of_the_lanes_is_held_to_the_bounds() {
        let found = |lanes, user| Findings {
            architecture: Architecture {
                kind: Kind::Orbium,
                name: format!("lanes: {lanes}, {user}"),
                lanes,
                server: Vec::new(),
                client: Vec::new(),
            },
            threads: 1,
            client: Side {
                user: Some(user),
                ..Side::default()
            },
            server: Side::default(),
        };
        let rows = rows(&[found(false, 0.0), found(true, 4.0), found(true, 1.0)]);
        let held: Vec<_> = rows.iter().filter(|row| row.bound.is_some()).collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(held.len(), 4);
        assert_eq!(held[0].value, Some(1.0));
        assert_eq!(held[0].bound, Some(Bound::AtMost(2.0)));
    }

    #[test]
    fn without_counts_there_is_no_figure() {
        let nothing = Reading {
            calls: 1,
            ..Reading::default()
        };
        let side = Side::between(nothing, reading(9, 9, 9));
        assert_eq!(side, Side::default());
    }
}
