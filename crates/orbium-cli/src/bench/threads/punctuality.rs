// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worst latency of a lane while every other lane is saturated, beside what
//! `cyclictest` finds on this host at the same time.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::priorities::{LANES, servers};
use crate::bench::experiment::{Architecture, HIGH, How, Peers, Stand, can_be_real_time};
use crate::bench::row::Row;
use crate::bench::statistics::{Summary, ratio};
use crate::demo::timing::latency;
use crate::failure::Failure;

/// Threads that saturate each of the other lanes.
const BESIEGERS: usize = 2;
/// Between calls, and between cyclictest's wake-ups.
const PAUSE: Duration = Duration::from_millis(1);

const QUICK: Duration = Duration::from_millis(800);
const WHOLE: Duration = Duration::from_secs(30);

/// What was found of one strategy.
struct Found {
    name: String,
    calm: Summary,
    siege: Summary,
    /// Worst wake-up of cyclictest meanwhile, in nanoseconds.
    cyclictest: Option<f64>,
}

pub(super) fn measure(quick: bool) -> Result<Outcome, Failure> {
    can_be_real_time(HIGH).map_err(Failure::because)?;
    let time = if quick { QUICK } else { WHOLE };
    let mut found = Vec::new();
    for server in servers() {
        found.push(besiege(&server, time)?);
    }
    Ok(outcome(&found))
}

fn besiege(server: &Architecture, time: Duration) -> Result<Found, Failure> {
    let mut stand = Stand::start(server, &Peers::none(), How::default())?;
    let mut ask = |besiegers: usize, time: Duration| {
        let question = format!(
            "siege {besiegers} {} {}",
            time.as_millis(),
            PAUSE.as_micros()
        );
        let answer = stand.ask(&question, time)?;
        let values = answer["high"].as_array().into_iter().flatten();
        let values: Vec<f64> = values.filter_map(Value::as_f64).collect();
        Ok::<_, Failure>(Summary::of(&values))
    };
    let calm = ask(0, time / 4)?;
    let cyclictest = Cyclictest::start(time);
    let siege = ask(BESIEGERS, time)?;
    let cyclictest = cyclictest.and_then(Cyclictest::worst);
    stand.end()?;
    Ok(Found {
        name: server.name.clone(),
        calm,
        siege,
        cyclictest,
    })
}

fn outcome(found: &[Found]) -> Outcome {
    let mut outcome = Outcome {
        text: format!(
            "\nA lane at SCHED_FIFO {HIGH} while {LANES} others are saturated by servants busy for 1 ms\n\
             {:44}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}\n",
            "", "alone", "worst", "saturated", "p99", "worst", "cyclictest"
        ),
        ..Outcome::default()
    };
    let mut all = Vec::new();
    for one in found {
        let cell = |nanoseconds: f64| latency(nanoseconds as u64);
        let _ = writeln!(
            outcome.text,
            "{:44}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}",
            one.name,
            cell(one.calm.median),
            cell(one.calm.greatest),
            cell(one.siege.median),
            cell(one.siege.p99),
            cell(one.siege.greatest),
            one.cyclictest.map_or("–".to_owned(), cell),
        );
        let worst = one
            .cyclictest
            .and_then(|worst| ratio(one.siege.greatest, worst));
        let figure = "worst latency of a besieged lane, over cyclictest's worst";
        outcome.rows.push(Row::new(figure, &one.name, worst));
        all.push(json!({
            "architecture": one.name,
            "alone": one.calm.to_json(),
            "besieged": one.siege.to_json(),
            "cyclictest_worst_ns": one.cyclictest,
        }));
    }
    if found.iter().any(|one| one.cyclictest.is_none()) {
        outcome.notes.push(
            "cyclictest is left out: it is not installed (Debian: rt-tests) or may not run here."
                .to_owned(),
        );
    }
    outcome.notes.extend(throttling());
    outcome.json = Value::Array(all);
    outcome
}

/// What the kernel does to real-time threads that leave nothing to others.
fn throttling() -> Option<String> {
    let microseconds = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").ok()?;
    let microseconds = microseconds.trim();
    (microseconds != "-1").then(|| {
        format!(
            "Real-time threads may have {microseconds} µs of a period; then, or from Linux 6.12 on when \
             others starve, they stand still for a while, which the worst latencies show."
        )
    })
}

/// A cyclictest that runs.
struct Cyclictest(std::process::Child);

impl Cyclictest {
    /// Starts it at the priority of the lane; `None` if it is not there.
    fn start(time: Duration) -> Option<Self> {
        let loops = time.as_micros() / PAUSE.as_micros().max(1);
        let child = Command::new("cyclictest")
            .args(["--quiet", "--mlockall", "--threads=1"])
            .arg(format!("--priority={HIGH}"))
            .arg(format!("--interval={}", PAUSE.as_micros()))
            .arg(format!("--loops={loops}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }

    /// Waits for its end; its worst wake-up in nanoseconds.
    fn worst(self) -> Option<f64> {
        let output = self.0.wait_with_output().ok()?;
        worst(&String::from_utf8_lossy(&output.stdout))
    }
}

/// The worst of its threads, which it tells in microseconds.
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
