// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worst latency of a lane while every other lane is saturated, and that of `cyclictest` and a
//! thread without an ORB on this host at the same time.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::priorities::{LANES, servers};
use super::wakeups::{Lateness, Wakeups};
use crate::peer::architecture::Architecture;
use crate::peer::programs::Peers;
use crate::report::row::Row;
use crate::stage::burst::LONG_CALL;
use crate::stage::clock::Span;
use crate::stage::real_time::{HIGH, can_be_real_time, throttling};
use crate::stage::test_bed::{How, TestBed};
use crate::statistics::summary::{Summary, numbers, ratio};
use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::timing::latency;

/// Number of threads that saturate each of the other lanes.
const BESIEGERS: usize = 2;
/// Interval between calls, and between wake-ups.
const CALL_INTERVAL: Duration = Duration::from_millis(1);

const QUICK: Duration = Duration::from_millis(800);
const WHOLE: Duration = Duration::from_secs(12);

/// The findings for one strategy.
struct Found {
    name: String,
    calm: Summary,
    siege: Summary,
    /// The number of late calls, and of those during which a processor did not run a due thread.
    late: (usize, usize),
    /// Worst wake-up latency of cyclictest at the same time, in nanoseconds.
    cyclictest: Option<f64>,
    /// The same of threads of this program.
    wakeups: Option<Lateness>,
}

pub(super) fn measure(quick: bool) -> Result<Outcome, Failure> {
    can_be_real_time(HIGH).map_err(Failure::because)?;
    let time = if quick { QUICK } else { WHOLE };
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let servers = servers();
    let mut progress = Progress::new(servers.len());
    for server in servers {
        progress.step(&format!("besieging {}", server.name));
        match besiege(&server, time) {
            Ok(one) => found.push(one),
            Err(failure) => notes.push(format!(
                "punctuality: {} is left out: {}",
                server.name,
                failure.sentence()
            )),
        }
    }
    Ok(outcome(&found, notes))
}

fn besiege(server: &Architecture, time: Duration) -> Result<Found, Failure> {
    let mut test_bed = TestBed::start(server, &Peers::none(), How::default())?;
    let mut ask = |besiegers: usize, time: Duration| {
        let question = format!(
            "siege {besiegers} {} {}",
            time.as_millis(),
            CALL_INTERVAL.as_micros()
        );
        test_bed.ask(&question, time)
    };
    let calm = ask(0, time / 4)?;
    let wakeups = Wakeups::start(HIGH, CALL_INTERVAL);
    let cyclictest = Cyclictest::start(time);
    let siege = ask(BESIEGERS, time);
    let cyclictest = cyclictest.and_then(Cyclictest::worst);
    let wakeups = wakeups.end();
    let siege = siege?;
    test_bed.end()?;
    let late = siege["late"].as_array().into_iter().flatten();
    let late: Vec<Span> = late.filter_map(Span::from_json).collect();
    let is_explained = |span: &&Span| wakeups.as_ref().is_some_and(|all| all.explains(**span));
    Ok(Found {
        name: server.name.clone(),
        calm: Summary::of(&numbers(&calm["high"])),
        siege: Summary::of(&numbers(&siege["high"])),
        late: (late.len(), late.iter().filter(is_explained).count()),
        cyclictest,
        wakeups,
    })
}

fn outcome(found: &[Found], notes: Vec<String>) -> Outcome {
    let mut outcome = Outcome {
        text: format!(
            "\nA lane at SCHED_FIFO {HIGH} while {LANES} others are saturated by servants busy for 1 ms; \
             worst wake-ups without an ORB beside it\n\
             {:54}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}{:>12}\n",
            "",
            "alone",
            "worst",
            "saturated",
            "p99",
            "worst",
            "cyclictest",
            "own thread",
            format!("> {} ms", LONG_CALL.as_millis()),
            "host's",
        ),
        notes,
        ..Outcome::default()
    };
    for one in found {
        let cell = |nanoseconds: f64| latency(nanoseconds as u64);
        let _ = writeln!(
            outcome.text,
            "{:54}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}{:>12}",
            one.name,
            cell(one.calm.median),
            cell(one.calm.greatest),
            cell(one.siege.median),
            cell(one.siege.p99),
            cell(one.siege.greatest),
            one.cyclictest.map_or("–".to_owned(), cell),
            one.worst_wakeup().map_or("–".to_owned(), cell),
            one.late.0,
            one.late.1,
        );
        for (peer, worst) in [
            ("cyclictest's", one.cyclictest),
            ("that of a thread without an ORB", one.worst_wakeup()),
        ] {
            let over = worst.and_then(|worst| ratio(one.siege.greatest, worst));
            let figure = format!("worst latency of a besieged lane, over {peer}");
            outcome.rows.push(Row::new(&figure, &one.name, over));
        }
    }
    outcome
        .rows
        .sort_by(|one, other| one.figure.cmp(&other.figure));
    outcome.notes.push(format!(
        "The last two columns: calls of a besieged lane that took more than {} ms, and those of them \
         in which some processor ran no thread that was due for half of the time, with or without an \
         ORB.",
        LONG_CALL.as_millis()
    ));
    if found.iter().any(|one| one.cyclictest.is_none()) {
        outcome.notes.push(
            "cyclictest is left out: it is not installed (Debian: rt-tests) or may not run here."
                .to_owned(),
        );
    }
    outcome.notes.extend(throttling().map(|rule| {
        format!(
            "{rule} The saturated lanes do; the lane that is looked at, and threads without an \
             ORB, stand still with them."
        )
    }));
    outcome.json = found.iter().map(Found::to_json).collect();
    outcome
}

impl Found {
    /// The worst wake-up latency of threads without an ORB, in nanoseconds.
    fn worst_wakeup(&self) -> Option<f64> {
        let worst = self.wakeups.as_ref()?.worst;
        Some(worst.as_secs_f64() * 1e9)
    }

    fn to_json(&self) -> Value {
        json!({
            "architecture": self.name,
            "alone": self.calm.to_json(),
            "besieged": self.siege.to_json(),
            "late": self.late.0,
            "late_by_the_host": self.late.1,
            "cyclictest_worst_ns": self.cyclictest,
            "wakeups": self.wakeups.as_ref().map(|all| all.wakeups),
            "wakeups_worst_ns": self.worst_wakeup(),
        })
    }
}

/// A running cyclictest.
struct Cyclictest(std::process::Child);

impl Cyclictest {
    /// Starts it at the priority of the lane; `None` if it is not installed.
    fn start(time: Duration) -> Option<Self> {
        let loops = time.as_micros() / CALL_INTERVAL.as_micros().max(1);
        let child = Command::new("cyclictest")
            .args(["--quiet", "--mlockall", "--smp"])
            .arg(format!("--priority={HIGH}"))
            .arg(format!("--interval={}", CALL_INTERVAL.as_micros()))
            .arg(format!("--loops={loops}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }

    /// Waits for its end; returns its worst latency in nanoseconds.
    fn worst(self) -> Option<f64> {
        let output = self.0.wait_with_output().ok()?;
        worst(&String::from_utf8_lossy(&output.stdout))
    }
}

/// The worst latency of its threads, which it prints in microseconds.
fn worst(text: &str) -> Option<f64> {
    let of_line = |line: &str| -> Option<f64> {
        let (_, rest) = line.split_once("Max:")?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let all = text.lines().filter_map(of_line);
    all.max_by(f64::total_cmp)
        .map(|microseconds| microseconds * 1e3)
}

#[cfg(test)]
mod tests {
    use super::worst;

    #[test]
    fn the_worst_of_cyclictest_is_read() {
        let text = "# /dev/cpu_dma_latency set to 0us\n\
                    T: 0 ( 4242) P:50 I:1000 C:    800 Min:      3 Act:    5 Avg:    6 Max:      71\n\
                    T: 1 ( 4243) P:50 I:1500 C:    500 Min:      3 Act:    5 Avg:    6 Max:      92\n";
        assert_eq!(worst(text), Some(92_000.0));
        assert_eq!(worst("unable to"), None);
    }
}
