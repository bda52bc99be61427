// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second of many client threads to one server, as a fraction of what
//! raw sockets reach, processes and threads being where the system puts them.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use crate::bench::experiment::{Architecture, How, Kind, Peers, Stand, architectures};
use crate::bench::row::{Bound, Row};
use crate::bench::statistics::ratio;
use crate::demo::progress::Progress;
use crate::demo::timing::{median, thousands};
use crate::failure::Failure;

/// Rounds, and the time that each is measured in one.
const QUICK: (usize, Duration) = (3, Duration::from_millis(150));
const WHOLE: (usize, Duration) = (9, Duration::from_millis(500));

/// The number of threads that is held to the bound, and the bound.
const HELD: usize = 8;
const LEAST: f64 = 0.75;

/// Calls per second of each round with so many threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    pub(super) threads: usize,
    of_rounds: Vec<f64>,
}

impl Rates {
    /// The median over the rounds.
    pub(super) fn rate(&self) -> f64 {
        median(&self.of_rounds)
    }
}

/// What was found of somebody.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) rates: Vec<Rates>,
}

/// What was found, the raw sockets first.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaling(pub(super) Vec<Found>);

impl Scaling {
    /// The median over the rounds of the fraction of raw sockets within one.
    pub(super) fn fraction(&self, of: &Found, threads: usize) -> Option<f64> {
        let raw = self.0.iter().find(|found| found.kind == Kind::Raw)?;
        let of_rounds = |found: &Found| {
            let rates = found.rates.iter().find(|rates| rates.threads == threads);
            rates.map(|rates| rates.of_rounds.clone())
        };
        let (own, raw) = (of_rounds(of)?, of_rounds(raw)?);
        let fractions: Vec<f64> = own
            .iter()
            .zip(&raw)
            .filter_map(|(own, raw)| ratio(*own, *raw))
            .collect();
        (!fractions.is_empty()).then(|| median(&fractions))
    }
}

fn raw() -> Architecture {
    Architecture {
        kind: Kind::Raw,
        name: "raw sockets".to_owned(),
        lanes: false,
        server: Vec::new(),
        client: Vec::new(),
    }
}

/// Measures raw sockets and everybody who serves all in one lane.
pub(super) fn measure(counts: &[usize], quick: bool, peers: &Peers) -> Result<Scaling, Failure> {
    let (rounds, time) = if quick { QUICK } else { WHOLE };
    let all = architectures(peers);
    let plain = all.into_iter().filter(|one| !one.lanes);
    let mut stands = Vec::new();
    for architecture in std::iter::once(raw()).chain(plain) {
        let stand = Stand::start(&architecture, peers, How::default())?;
        let found = Found {
            name: architecture.name,
            kind: architecture.kind,
            rates: Vec::new(),
        };
        stands.push((found, stand));
    }
    let mut progress = Progress::new(counts.len() * rounds);
    for threads in counts {
        for (found, _) in &mut stands {
            found.rates.push(Rates {
                threads: *threads,
                of_rounds: Vec::new(),
            });
        }
        for round in 0..rounds {
            progress.step(&format!("{threads} client threads"));
            let count = stands.len();
            // Whoever comes next finds the machine as the one before left it.
            for turn in 0..count {
                let (found, stand) = &mut stands[(turn + round) % count];
                let answer = stand.ask(&format!("load {threads} {}", time.as_millis()), time)?;
                let calls = answer["calls"].as_f64().unwrap_or(0.0);
                let seconds = answer["nanoseconds"].as_f64().unwrap_or(0.0) / 1e9;
                if let Some(rates) = found.rates.last_mut() {
                    rates.of_rounds.push(ratio(calls, seconds).unwrap_or(0.0));
                }
            }
        }
    }
    progress.clear();
    let mut all = Vec::new();
    for (found, stand) in stands {
        stand.end()?;
        all.push(found);
    }
    Ok(Scaling(all))
}

/// The table, the figures that are held to a bound, and everything as JSON.
pub(super) fn outcome(found: &Scaling) -> Outcome {
    Outcome {
        text: to_text(found),
        json: found.0.iter().map(|one| to_json(found, one)).collect(),
        rows: rows(found),
        notes: Vec::new(),
    }
}

fn to_json(all: &Scaling, found: &Found) -> Value {
    let rates = found.rates.iter().map(|rates| {
        json!({
            "threads": rates.threads,
            "calls_per_second": rates.rate(),
            "fraction_of_raw": all.fraction(found, rates.threads),
        })
    });
    json!({ "name": found.name, "rates": rates.collect::<Value>() })
}

/// The best of orbium's strategies is held to the bound: which one serves many
/// threads is a choice.
fn rows(all: &Scaling) -> Vec<Row> {
    let figure = format!("{HELD} client threads, fraction of raw sockets");
    let of_kind = |kind| all.0.iter().filter(move |found| found.kind == kind);
    let mut rows = Vec::new();
    let own = of_kind(Kind::Orbium).map(|found| (found, all.fraction(found, HELD)));
    let mut own: Vec<_> = own.collect();
    own.sort_by(|one, other| other.1.unwrap_or(0.0).total_cmp(&one.1.unwrap_or(0.0)));
    for (place, (found, fraction)) in own.into_iter().enumerate() {
        let row = Row::new(&figure, &found.name, fraction);
        rows.push(if place == 0 {
            row.bounded(Bound::AtLeast(LEAST))
        } else {
            row
        });
    }
    for kind in [Kind::Omni, Kind::Jacorb] {
        rows.extend(
            of_kind(kind).map(|found| Row::new(&figure, &found.name, all.fraction(found, HELD))),
        );
    }
    rows
}

fn to_text(all: &Scaling) -> String {
    let mut text = String::from(
        "\nEmpty calls per second, and the fraction of raw sockets, by client threads\n",
    );
    let _ = write!(text, "{:44}", "");
    for rates in all.0.first().map_or(&[][..], |found| &found.rates) {
        let _ = write!(text, "{:>18}", rates.threads);
    }
    text.push('\n');
    for found in &all.0 {
        let _ = write!(text, "{:44}", found.name);
        for rates in &found.rates {
            let fraction = all.fraction(found, rates.threads).unwrap_or(0.0);
            let cell = format!("{} {fraction:.2}", thousands(rates.rate()));
            let _ = write!(text, "{cell:>18}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, name: &str, of_rounds: &[f64]) -> Found {
        Found {
            name: name.to_owned(),
            kind,
            rates: vec![Rates {
                threads: HELD,
                of_rounds: of_rounds.to_vec(),
            }],
        }
    }

    #[test]
    fn fractions_are_taken_within_rounds_and_the_best_is_held() {
        let all = Scaling(vec![
            found(Kind::Raw, "raw", &[100.0, 10.0, 100.0]),
            found(Kind::Orbium, "slow", &[50.0, 5.0, 50.0]),
            found(Kind::Orbium, "fast", &[80.0, 8.0, 20.0]),
            found(Kind::Omni, "omniORB", &[60.0, 6.0, 60.0]),
        ]);
        let rows = rows(&all);
        assert_eq!(rows[0].whose, "fast");
        assert_eq!(rows[0].value, Some(0.8));
        assert_eq!(rows[0].bound, Some(Bound::AtLeast(LEAST)));
        assert_eq!((rows[1].value, rows[1].bound), (Some(0.5), None));
        assert_eq!(rows[2].value, Some(0.6));
        assert!(to_text(&all).contains("20 0.80"), "{}", to_text(&all));
    }
}
