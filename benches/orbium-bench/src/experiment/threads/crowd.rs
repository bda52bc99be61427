// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thousands of connections that each call once a second, and the memory of the server for each.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::peer::architecture::{Architecture, Lanes, ways_to_serve};
use crate::peer::programs::Peers;
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::test_bed::{How, TestBed};
use crate::statistics::summary::{Summary, numbers};
use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::timing::latency;

const QUICK: Duration = Duration::from_secs(1);
const WHOLE: Duration = Duration::from_secs(5);

/// Number of connections that have to be served.
const SERVED: f64 = 5_000.0;
/// Maximum bytes of memory per connection.
const MAX_BYTES_PER_CONNECTION: f64 = 8192.0;

/// The findings for one strategy.
struct Found {
    name: String,
    served: usize,
    latency: Summary,
    /// Bytes per connection.
    memory: f64,
}

pub(super) fn measure(connections: usize, quick: bool) -> Result<Outcome, Failure> {
    let time = if quick { QUICK } else { WHOLE };
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let servers: Vec<_> = ways_to_serve(Lanes::One).collect();
    let mut progress = Progress::new(servers.len());
    for server in servers {
        // A thread per connection is not intended for so many.
        if server.name.contains("thread-per-connection") {
            continue;
        }
        progress.step(&format!("{connections} connections: {}", server.name));
        match crowd_at(&server, connections, time) {
            Ok(one) => found.push(one),
            Err(failure) => notes.push(format!(
                "{connections} connections, {}: {}",
                server.name,
                failure.sentence()
            )),
        }
    }
    Ok(outcome(&found, notes))
}

fn crowd_at(server: &Architecture, connections: usize, time: Duration) -> Result<Found, Failure> {
    let mut test_bed = TestBed::start(server, &Peers::none(), How::default())?;
    let address = test_bed
        .announced("address")
        .next()
        .unwrap_or_default()
        .to_owned();
    // The memory of the first connections that others do not need.
    ask(&mut test_bed, 16, Duration::ZERO, &address)?;
    let before = resident(&mut test_bed)?;
    let latency = ask(&mut test_bed, connections, time, &address)?;
    let memory = (resident(&mut test_bed)? - before).max(0.0) / connections.max(1) as f64;
    test_bed.end()?;
    Ok(Found {
        name: server.name.clone(),
        served: connections,
        latency,
        memory,
    })
}

/// Opens so many connections, which stay open, and calls over each once a second for `time`.
fn ask(
    test_bed: &mut TestBed,
    connections: usize,
    time: Duration,
    address: &str,
) -> Result<Summary, Failure> {
    let question = format!("idle {connections} {} {address}", time.as_millis());
    let answer = test_bed.ask(&question, time + Duration::from_secs(60))?;
    Ok(Summary::of(&numbers(&answer["nanoseconds"])))
}

/// Bytes of resident memory of the server.
fn resident(test_bed: &mut TestBed) -> Result<f64, Failure> {
    let answer = test_bed.ask_server("memory")?;
    let unknown = || Failure::because("the server does not know how much memory it has");
    answer["resident"].as_f64().ok_or_else(unknown)
}

fn outcome(found: &[Found], notes: Vec<String>) -> Outcome {
    let mut outcome = Outcome {
        text: "\nConnections that each call once a second\n".to_owned(),
        notes,
        ..Outcome::default()
    };
    let mut all = Vec::new();
    for one in found {
        let _ = writeln!(
            outcome.text,
            "{:54}{} connections, {:.0} octets of memory each; {} calls, median {}, p99 {}, worst {}",
            one.name,
            one.served,
            one.memory,
            one.latency.count,
            latency(one.latency.median as u64),
            latency(one.latency.p99 as u64),
            latency(one.latency.greatest as u64),
        );
        let served = Row::new("connections served", &one.name, Some(one.served as f64));
        let figure = "octets of memory for each connection";
        let memory = Row::new(figure, &one.name, Some(one.memory));
        // Fewer were requested: a first look.
        if (one.served as f64) < SERVED {
            outcome.rows.extend([served, memory]);
        } else {
            outcome.rows.push(served.bounded(Bound::AtLeast(SERVED)));
            outcome
                .rows
                .push(memory.bounded(Bound::AtMost(MAX_BYTES_PER_CONNECTION)));
        }
        all.push(json!({
            "architecture": one.name,
            "connections": one.served,
            "octets_each": one.memory,
            "latency": one.latency.to_json(),
        }));
    }
    outcome.json = Value::Array(all);
    outcome
}
