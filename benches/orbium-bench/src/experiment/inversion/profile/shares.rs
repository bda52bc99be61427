// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shares of processor time by category, of an architecture and a side.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, Kind};
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::statistics::category::Category;
use crate::statistics::recorder::RATE;
use crate::statistics::samples::samples;

/// Maximum share of synchronisation, in percent.
const MAX_SYNCHRONISATION: f64 = 5.0;
/// Number of functions that are named in the JSON.
const NAMED: usize = 12;

/// Processor time of a client or a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    samples: usize,
    calls: u64,
    /// Samples of each category, in the order of [`Category::ALL`].
    by_category: [usize; 6],
    /// The functions with the most samples.
    largest: Vec<(String, Category, usize)>,
}

impl Side {
    /// From the output of `perf script`.
    pub(super) fn of(text: &str, calls: u64) -> Self {
        let mut side = Self {
            calls,
            ..Self::default()
        };
        let mut functions: BTreeMap<&str, (Option<Category>, usize)> = BTreeMap::new();
        for sample in samples(text) {
            let category = Category::of(&sample);
            side.samples += 1;
            side.by_category[category as usize] += 1;
            if let Some(leaf) = sample.first() {
                let function = functions.entry(leaf.symbol).or_default();
                *function = (Some(category), function.1 + 1);
            }
        }
        let mut largest: Vec<_> = functions
            .into_iter()
            .filter_map(|(name, (category, count))| Some((name.to_owned(), category?, count)))
            .collect();
        largest.sort_by_key(|function| std::cmp::Reverse(function.2));
        largest.truncate(NAMED);
        side.largest = largest;
        side
    }

    /// The share of a category in the time of this side, in percent.
    pub(super) fn share(&self, category: Category) -> f64 {
        100.0 * self.by_category[category as usize] as f64 / self.samples.max(1) as f64
    }

    /// Processor time per call; `None` without calls.
    pub(super) fn microseconds(&self) -> Option<f64> {
        let seconds = self.samples as f64 / f64::from(RATE);
        (self.calls > 0).then(|| 1e6 * seconds / self.calls as f64)
    }

    fn to_json(&self) -> Value {
        let shares = Category::ALL.map(|own| (own.name().to_owned(), json!(self.share(own))));
        let largest = self.largest.iter().map(|(function, category, count)| {
            json!({"function": function, "category": category.name(), "samples": count})
        });
        json!({
            "samples": self.samples,
            "microseconds_per_call": self.microseconds(),
            "percent": shares.into_iter().collect::<serde_json::Map<_, _>>(),
            "largest": largest.collect::<Value>(),
        })
    }
}

/// The findings for an architecture.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) architecture: Architecture,
    pub(super) calls: u64,
    pub(super) client: Side,
    pub(super) server: Side,
}

impl Profile {
    pub(super) fn sides(&self) -> [(&'static str, &Side); 2] {
        [("client", &self.client), ("server", &self.server)]
    }

    /// The share of synchronisation. The bound applies to TAO's architecture: a lane for each
    /// priority, with no hand-over between threads on either side.
    pub(super) fn rows(&self) -> [Row; 2] {
        let name = &self.architecture.name;
        let hands_over = ["worker-pool", "leader-followers", "io-thread"]
            .iter()
            .any(|strategy| name.contains(strategy));
        let is_bounded =
            self.architecture.kind == Kind::Orbium && self.architecture.lanes && !hands_over;
        self.sides().map(|(side, of)| {
            let figure = format!("synchronisation of ten clients, {side}, % of processor time");
            let share = (of.samples > 0).then(|| of.share(Category::Synchronisation));
            let row = Row::new(&figure, name, share);
            if is_bounded {
                row.bounded(Bound::AtMost(MAX_SYNCHRONISATION))
            } else {
                row
            }
        })
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "architecture": self.architecture.name,
            "lanes": self.architecture.lanes,
            "calls": self.calls,
            "client": self.client.to_json(),
            "server": self.server.to_json(),
        })
    }
}

/// A line for each side.
pub(super) fn to_text(found: &[Profile]) -> String {
    let mut text = format!("\n{:54}{:8}{:>9}{:>10}", "", "", "samples", "µs a call");
    for category in Category::ALL {
        let _ = write!(text, "{:>17}", category.name());
    }
    text.push('\n');
    for one in found {
        for (side, of) in one.sides() {
            let time = of.microseconds();
            let time = time.map_or("–".to_owned(), |time| format!("{time:.1}"));
            let name = &one.architecture.name;
            let _ = write!(text, "{name:54}{side:8}{:>9}{time:>10}", of.samples);
            for category in Category::ALL {
                let _ = write!(text, "{:>15.1} %", of.share(category));
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\t1 pthread_mutex_lock (/lib/libc.so.6)\n\n\
        \t2 finish_task_switch ([kernel.kallsyms])\n\t3 tcp_recvmsg ([kernel.kallsyms])\n\n\
        \t2 finish_task_switch ([kernel.kallsyms])\n\t3 tcp_recvmsg ([kernel.kallsyms])\n\n\
        \t4 orbium_giop::read (/target/orbium-bench)\n\n";

    fn profile(name: &str, lanes: bool) -> Profile {
        let architecture = Architecture {
            kind: Kind::Orbium,
            name: name.to_owned(),
            lanes,
            server: Vec::new(),
            client: Vec::new(),
        };
        Profile {
            architecture,
            calls: 1000,
            client: Side::of(TEXT, 1000),
            server: Side::of("", 1000),
        }
    }

    #[test]
    fn shares_of_a_side_are_of_all_its_samples() {
        let side = Side::of(TEXT, 1000);
        assert_eq!(side.samples, 4);
        assert!((side.share(Category::Synchronisation) - 25.0).abs() < 1e-9);
        assert!((side.share(Category::System) - 50.0).abs() < 1e-9);
        assert!((side.share(Category::Protocol) - 25.0).abs() < 1e-9);
        assert_eq!(side.largest[0].0, "finish_task_switch");
        let time = side.microseconds().unwrap();
        assert!((time - 4.0 / 1.999).abs() < 1e-6, "{time}");
        assert_eq!(Side::of(TEXT, 0).microseconds(), None);
    }

    #[test]
    fn lanes_without_hand_over_are_held_to_the_bound() {
        let bounded = |name: &str, lanes| profile(name, lanes).rows()[0].bound.is_some();
        assert!(bounded("orbium: lanes, reactive", true));
        assert!(!bounded("orbium: lanes, worker-pool", true));
        assert!(!bounded("orbium: lanes, reactive; io-thread", true));
        assert!(!bounded("orbium: reactive", false));
        let rows = profile("orbium: lanes, reactive", true).rows();
        assert_eq!(rows[0].to_json()["met"], false);
        // A side without samples was not measured.
        assert_eq!(rows[1].value, None);
    }

    #[test]
    fn both_sides_are_shown() {
        let all = [profile("orbium: lanes, reactive", true)];
        assert_eq!(to_text(&all).lines().count(), 4);
    }
}
