// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and jitter of the most urgent client and of the others, by scheduling class.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::experiment::threads::outcome::Outcome;
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::class::Class;
use crate::statistics::summary::{Summary, numbers, ratio};
use orbium_cli::stage::timing::latency;

/// Maximum ratio of the most urgent client's medians with all clients and with one.
const MAX_GROWTH: f64 = 1.2;

/// The results with so many clients.
#[derive(Clone, Debug)]
pub(in crate::experiment::threads) struct Point {
    pub(super) clients: usize,
    pub(super) highest: Summary,
    pub(super) others: Summary,
    /// The median latency of the others' calls, from when they were due.
    since_due: f64,
    /// The same of each client, the least urgent first.
    medians: Vec<f64>,
    failed: u64,
    /// Number of clients that could not be scheduled as planned.
    pub(super) refused: usize,
}

/// The findings under a scheduling class.
#[derive(Clone, Debug)]
pub(in crate::experiment::threads) struct Found {
    pub(super) class: Class,
    pub(super) points: Vec<Point>,
}

impl Point {
    /// From the reply of the client process.
    pub(super) fn of(answer: &Value) -> Self {
        let clients = answer.as_array().map_or(&[][..], Vec::as_slice);
        let mut sorted: Vec<&Value> = clients.iter().collect();
        sorted.sort_by_key(|client| client["priority"].as_u64());
        let medians = sorted
            .iter()
            .map(|client| Summary::of(&numbers(&client["since_due"])).median);
        let medians = medians.collect();
        let highest = sorted.pop().unwrap_or(&Value::Null);
        let of_others = |of: &str| -> Summary {
            let all = sorted.iter().flat_map(|client| numbers(&client[of]));
            Summary::of(&all.collect::<Vec<_>>())
        };
        Self {
            clients: clients.len(),
            highest: Summary::of(&numbers(&highest["nanoseconds"])),
            others: of_others("nanoseconds"),
            since_due: of_others("since_due").median,
            medians,
            failed: clients
                .iter()
                .filter_map(|client| client["failed"].as_u64())
                .sum(),
            refused: clients
                .iter()
                .filter(|client| client["refused"].is_string())
                .count(),
        }
    }

    /// The share of pairs of clients in which the more urgent one has its reply earlier, by the
    /// median from when calls are due.
    fn in_order(&self) -> Option<f64> {
        let pairs = self.medians.iter().enumerate().flat_map(|(index, lower)| {
            let above = self.medians[index + 1..].iter();
            above.map(move |upper| upper <= lower)
        });
        let (all, kept) = pairs.fold((0_u32, 0_u32), |(all, kept), is_kept| {
            (all + 1, kept + u32::from(is_kept))
        });
        (all > 0).then(|| f64::from(kept) / f64::from(all))
    }

    fn to_json(&self) -> Value {
        json!({
            "clients": self.clients,
            "highest": self.highest.to_json(),
            "others": self.others.to_json(),
            "others_since_due_ns": self.since_due,
            "median_since_due_ns_by_priority": self.medians,
            "failed": self.failed,
            "refused": self.refused,
        })
    }
}

impl Found {
    /// The ratio of the most urgent client's medians with the most and the fewest clients.
    fn growth(&self) -> Option<f64> {
        let least = self.points.iter().min_by_key(|point| point.clients)?;
        let most = self.points.iter().max_by_key(|point| point.clients)?;
        if least.clients == most.clients {
            return None;
        }
        ratio(most.highest.median, least.highest.median)
    }

    fn rows(&self) -> [Row; 2] {
        let name = format!("orbium: lanes, reactive, {}", self.class.name());
        let figure = "most urgent of fifty clients: median, most clients over fewest";
        let growth = Row::new(figure, &name, self.growth());
        let figure = "pairs of fifty clients in the order of their priorities";
        let most = self.points.iter().max_by_key(|point| point.clients);
        let order = Row::new(figure, &name, most.and_then(Point::in_order));
        match self.class {
            Class::Other => [growth, order],
            _ => [growth.bounded(Bound::AtMost(MAX_GROWTH)), order],
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "class": self.class.name(),
            "points": self.points.iter().map(Point::to_json).collect::<Value>(),
        })
    }
}

pub(in crate::experiment::threads) fn outcome(found: &[Found], notes: Vec<String>) -> Outcome {
    let mut outcome = Outcome {
        text: format!(
            "\nFifty priorities, a client and a lane for each\n\
             {:26}{:>8}{:>14}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}{:>12}{:>8}\n",
            "",
            "clients",
            "urgent median",
            "mean",
            "jitter",
            "worst",
            "others median",
            "mean",
            "jitter",
            "since due",
            "failed"
        ),
        notes,
        ..Outcome::default()
    };
    for one in found {
        for point in &one.points {
            line(&mut outcome.text, one.class, point);
        }
        outcome.rows.extend(one.rows());
    }
    outcome.json = found.iter().map(Found::to_json).collect();
    outcome
}

fn line(text: &mut String, class: Class, point: &Point) {
    let (highest, others) = (point.highest, point.others);
    let _ = write!(text, "{:26}{:>8}", class.name(), point.clients);
    for (nanoseconds, of, width) in [
        (highest.median, highest, 14),
        (highest.mean, highest, 12),
        (highest.deviation, highest, 12),
        (highest.greatest, highest, 12),
        (others.median, others, 14),
        (others.mean, others, 12),
        (others.deviation, others, 12),
        (point.since_due, others, 12),
    ] {
        let cell = match of.count {
            0 => "–".to_owned(),
            _ => latency(nanoseconds as u64),
        };
        let _ = write!(text, "{cell:>width$}");
    }
    let _ = writeln!(text, "{:>8}", point.failed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(latencies: &[f64]) -> Value {
        let client = |(index, nanoseconds): (usize, &f64)| {
            json!({"priority": index + 1, "nanoseconds": [nanoseconds, nanoseconds],
                   "since_due": [2.0 * nanoseconds],
                   "failed": 1, "refused": null})
        };
        latencies.iter().enumerate().map(client).collect()
    }

    #[test]
    fn the_most_urgent_client_is_compared_with_the_others() {
        let point = Point::of(&answer(&[900.0, 700.0, 100.0]));
        assert_eq!(point.clients, 3);
        assert_eq!((point.highest.median, point.highest.count), (100.0, 2));
        assert_eq!((point.others.mean, point.others.count), (800.0, 4));
        assert_eq!(point.medians, [1800.0, 1400.0, 200.0]);
        assert_eq!((point.failed, point.refused), (3, 0));
        assert_eq!(point.in_order(), Some(1.0));
        let one = Point::of(&answer(&[900.0]));
        assert_eq!((one.others.count, one.in_order()), (0, None));
    }

    #[test]
    fn pairs_out_of_order_are_counted() {
        let point = Point::of(&answer(&[300.0, 400.0, 100.0]));
        let share = point.in_order().unwrap();
        assert!((share - 2.0 / 3.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn only_classes_with_priorities_are_held_to_the_bound() {
        let found = |class| Found {
            class,
            points: vec![
                Point::of(&answer(&[100.0])),
                Point::of(&answer(&[500.0, 150.0])),
            ],
        };
        let all = [Class::Other, Class::Fifo].map(found);
        let outcome = outcome(&all, Vec::new());
        assert_eq!(outcome.rows[0].bound, None);
        assert_eq!(outcome.rows[2].to_json()["met"], false);
        assert_eq!(outcome.text.lines().count(), 7, "{}", outcome.text);
        assert_eq!(outcome.json[1]["points"][1]["clients"], 2);
    }
}
