// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second of many client threads to one server, as a fraction of those of raw sockets,
//! with processes and threads placed by the system.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::peer::architecture::{Architecture, Kind, architectures};
use crate::peer::programs::Peers;
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::test_bed::{How, TestBed};
use crate::statistics::summary::ratio;
use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::timing::{median, thousands};

/// Rounds, and the time for which each is measured per round.
const QUICK: (usize, Duration) = (3, Duration::from_millis(80));
const WHOLE: (usize, Duration) = (9, Duration::from_millis(150));

/// The number of threads to which the bound applies, and the bound.
const BOUNDED_THREADS: usize = 8;
const MIN_SCALING: f64 = 0.75;

/// Calls per second of each turn with so many threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    pub(super) threads: usize,
    of_turns: Vec<f64>,
    /// The fractions of the rates of raw sockets just before and after it.
    fractions: Vec<f64>,
}

impl Rates {
    /// The median over the turns.
    pub(super) fn rate(&self) -> f64 {
        median(&self.of_turns)
    }

    /// The median of the fractions of raw sockets.
    pub(super) fn fraction(&self) -> Option<f64> {
        (!self.fractions.is_empty()).then(|| median(&self.fractions))
    }
}

/// The findings for one peer.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) rates: Vec<Rates>,
}

impl Found {
    /// Records the rate of a turn, and that of raw sockets around it.
    fn note(&mut self, rate: f64, raw: f64) {
        if let Some(rates) = self.rates.last_mut() {
            rates.of_turns.push(rate);
            rates.fractions.extend(ratio(rate, raw));
        }
    }

    /// The fraction of raw sockets with so many threads.
    fn fraction(&self, threads: usize) -> Option<f64> {
        let rates = self.rates.iter().find(|rates| rates.threads == threads)?;
        rates.fraction()
    }
}

/// The findings, those of the raw sockets first, and the lost peers.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaling {
    pub(super) found: Vec<Found>,
    lost: Vec<String>,
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

/// A measured architecture or raw peer.
struct Contender {
    found: Found,
    test_bed: TestBed,
    /// The reason why it does not take part any more.
    lost: Option<String>,
}

impl Contender {
    fn start(architecture: &Architecture, peers: &Peers) -> Result<Self, Failure> {
        Ok(Self {
            test_bed: TestBed::start(architecture, peers, How::default())?,
            found: Found {
                name: architecture.name.clone(),
                kind: architecture.kind,
                rates: Vec::new(),
            },
            lost: None,
        })
    }

    fn begin(&mut self, threads: usize) {
        self.found.rates.push(Rates {
            threads,
            ..Rates::default()
        });
    }

    /// Calls per second of so many threads.
    fn turn(&mut self, threads: usize, time: Duration) -> Result<f64, Failure> {
        let question = format!("load {threads} {}", time.as_millis());
        let answer = self.test_bed.ask(&question, time)?;
        let calls = answer["calls"].as_f64().unwrap_or(0.0);
        let seconds = answer["nanoseconds"].as_f64().unwrap_or(0.0) / 1e9;
        Ok(ratio(calls, seconds).unwrap_or(0.0))
    }

    /// The same, unless it has failed; a failure is its last turn.
    fn turn_if_there(&mut self, threads: usize, time: Duration) -> Option<f64> {
        if self.lost.is_some() {
            return None;
        }
        let rate = self.turn(threads, time);
        let failed = |failure: &Failure| self.lost = Some(failure.sentence().to_owned());
        rate.inspect_err(failed).ok()
    }
}

/// Measures raw sockets and all architectures with one lane.
pub(super) fn measure(counts: &[usize], quick: bool, peers: &Peers) -> Result<Scaling, Failure> {
    let (rounds, time) = if quick { QUICK } else { WHOLE };
    let all = architectures(peers);
    let mut scaling = Scaling::default();
    let mut raw = Contender::start(&raw(), peers)?;
    let mut others = Vec::new();
    for architecture in all.iter().filter(|one| !one.lanes) {
        match Contender::start(architecture, peers) {
            Ok(contender) => others.push(contender),
            Err(failure) => scaling.leave_out(&architecture.name, failure.sentence()),
        }
    }
    let count = others.len().max(1);
    let mut progress = Progress::new(counts.len() * rounds);
    for threads in counts {
        raw.begin(*threads);
        others.iter_mut().for_each(|other| other.begin(*threads));
        for _ in 0..rounds {
            progress.step(&format!("{threads} client threads"));
            round(&mut raw, &mut others, *threads, time)?;
            // Each one inherits the caches of its predecessor, so the order rotates.
            others.rotate_left(1 % count);
        }
        others.rotate_right(rounds % count);
    }
    progress.clear();
    scaling.found.push(raw.found);
    for other in others {
        match other.lost {
            Some(reason) => scaling.leave_out(&other.found.name, &reason),
            None => scaling.found.push(other.found),
        }
    }
    Ok(scaling)
}

/// A turn of each peer; raw sockets have one before and after every two others, so that
/// fluctuations of the machine affect both.
fn round(
    raw: &mut Contender,
    others: &mut [Contender],
    threads: usize,
    time: Duration,
) -> Result<(), Failure> {
    let mut before = raw.turn(threads, time)?;
    for pair in others.chunks_mut(2) {
        let rates: Vec<_> = pair
            .iter_mut()
            .map(|other| other.turn_if_there(threads, time))
            .collect();
        let after = raw.turn(threads, time)?;
        let of_raw = f64::midpoint(before, after);
        raw.found.note(of_raw, of_raw);
        for (other, rate) in pair.iter_mut().zip(rates) {
            if let Some(rate) = rate {
                other.found.note(rate, of_raw);
            }
        }
        before = after;
    }
    Ok(())
}

impl Scaling {
    fn leave_out(&mut self, name: &str, reason: &str) {
        self.lost
            .push(format!("scaling: {name} is left out: {reason}"));
    }
}

/// The table, the bounded figures, and all results as JSON.
pub(super) fn outcome(scaling: &Scaling) -> Outcome {
    Outcome {
        text: to_text(&scaling.found),
        json: scaling.found.iter().map(to_json).collect(),
        rows: rows(&scaling.found),
        notes: scaling.lost.clone(),
    }
}

fn to_json(found: &Found) -> Value {
    let rates = found.rates.iter().map(|rates| {
        json!({
            "threads": rates.threads,
            "calls_per_second": rates.rate(),
            "fraction_of_raw": rates.fraction(),
        })
    });
    json!({ "name": found.name, "rates": rates.collect::<Value>() })
}

/// The bound applies to the best of orbium's strategies, which can be chosen for many threads.
fn rows(all: &[Found]) -> Vec<Row> {
    let figure = format!("{BOUNDED_THREADS} client threads, fraction of raw sockets");
    let of_kind = |kind| all.iter().filter(move |found| found.kind == kind);
    let mut rows = Vec::new();
    let own = of_kind(Kind::Orbium).map(|found| (found, found.fraction(BOUNDED_THREADS)));
    let mut own: Vec<_> = own.collect();
    own.sort_by(|one, other| other.1.unwrap_or(0.0).total_cmp(&one.1.unwrap_or(0.0)));
    for (place, (found, fraction)) in own.into_iter().enumerate() {
        let row = Row::new(&figure, &found.name, fraction);
        rows.push(if place == 0 {
            row.bounded(Bound::AtLeast(MIN_SCALING))
        } else {
            row
        });
    }
    for kind in [Kind::Omni, Kind::Jacorb] {
        rows.extend(
            of_kind(kind)
                .map(|found| Row::new(&figure, &found.name, found.fraction(BOUNDED_THREADS))),
        );
    }
    rows
}

fn to_text(all: &[Found]) -> String {
    let mut text = String::from(
        "\nEmpty calls per second, and the fraction of raw sockets, by client threads\n",
    );
    let _ = write!(text, "{:54}", "");
    for rates in all.first().map_or(&[][..], |found| &found.rates) {
        let _ = write!(text, "{:>18}", rates.threads);
    }
    text.push('\n');
    for found in all {
        let _ = write!(text, "{:54}", found.name);
        for rates in &found.rates {
            let fraction = rates.fraction().unwrap_or(0.0);
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

    /// The rates of each turn, with those of raw sockets around it.
    fn found(kind: Kind, name: &str, of_turns: &[(f64, f64)]) -> Found {
        let mut found = Found {
            name: name.to_owned(),
            kind,
            rates: vec![Rates {
                threads: BOUNDED_THREADS,
                ..Rates::default()
            }],
        };
        for (rate, raw) in of_turns {
            found.note(*rate, *raw);
        }
        found
    }

    #[test]
    fn fractions_are_taken_side_by_side_and_the_best_is_held() {
        let raw = [100.0, 10.0, 100.0];
        let of = |rates: [f64; 3]| [0, 1, 2].map(|turn| (rates[turn], raw[turn]));
        let all = [
            found(Kind::Raw, "raw", &of(raw)),
            found(Kind::Orbium, "slow", &of([50.0, 5.0, 50.0])),
            found(Kind::Orbium, "fast", &of([80.0, 8.0, 20.0])),
            found(Kind::Omni, "omniORB", &of([60.0, 6.0, 60.0])),
        ];
        let rows = rows(&all);
        assert_eq!(rows[0].peer, "fast");
        assert_eq!(rows[0].value, Some(0.8));
        assert_eq!(rows[0].bound, Some(Bound::AtLeast(MIN_SCALING)));
        assert_eq!((rows[1].value, rows[1].bound), (Some(0.5), None));
        assert_eq!(rows[2].value, Some(0.6));
        assert!(to_text(&all).contains("20 0.80"), "{}", to_text(&all));
    }
}
