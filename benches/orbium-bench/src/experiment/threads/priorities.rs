// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sixteen priorities at once. Under overload, requests are completed in the order of their
//! priorities; and each is served at its own priority.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::peer::architecture::{Architecture, Kind, Lanes, ways_to_serve};
use crate::peer::programs::Peers;
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::test_bed::{How, TestBed};
use crate::statistics::summary::out_of_order;
use orbium_cli::Failure;
use orbium_cli::stage::pin;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::timing::thousands;

/// Number of lanes with separate priorities, in addition to the most urgent one.
pub(super) const LANES: i32 = 16;
/// Number of requests that wait in each.
const EACH: usize = 4;
/// Longer than any of these takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Servers with sixteen lanes and one above, for each strategy.
pub(super) fn servers() -> Vec<Architecture> {
    let lanes = (1..=LANES).map(|priority| format!("lane-{priority:02}={priority}"));
    let lanes: Vec<_> = lanes.chain([format!("top={HIGH}")]).collect();
    let lanes = lanes.join(",");
    let with_lanes = |one: Architecture| {
        let strategy = one.server.into_iter().take(2);
        Architecture {
            kind: Kind::Orbium,
            lanes: true,
            server: strategy
                .chain(["--lanes".to_owned(), lanes.clone()])
                .collect(),
            ..one
        }
    };
    ways_to_serve(Lanes::Each).map(with_lanes).collect()
}

/// The findings for one strategy.
struct Found {
    name: String,
    /// The priorities of the requests in the order of their completion; `None` if it could not be
    /// determined.
    order: Option<Vec<i64>>,
    served: u64,
    wrong: u64,
}

/// Measures so many calls of mixed priorities in total.
pub(super) fn measure(calls: u64) -> Result<Outcome, Failure> {
    can_be_real_time(HIGH).map_err(Failure::because)?;
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let servers = servers();
    // Rounded up, so that the total is not less than requested.
    let of_each = calls.div_ceil(servers.len().max(1) as u64 * u64::from(LANES.unsigned_abs()));
    let mut progress = Progress::new(servers.len());
    for server in &servers {
        progress.step(&format!("sixteen priorities: {}", server.name));
        match one(server, of_each.max(1)) {
            Ok(one) => found.push(one),
            Err(failure) => notes.push(format!(
                "priorities: {} is left out: {}",
                server.name,
                failure.sentence()
            )),
        }
    }
    Ok(outcome(&found, notes))
}

fn one(server: &Architecture, of_each: u64) -> Result<Found, Failure> {
    Ok(Found {
        name: server.name.clone(),
        order: order(server)?,
        ..served(server, of_each)?
    })
}

/// The server has one CPU and the clients the others: while the long call occupies that CPU all
/// requests arrive, and none is served.
fn order(server: &Architecture) -> Result<Option<Vec<i64>>, Failure> {
    let Some((cpu, others)) = pin::split() else {
        return Ok(None);
    };
    let mut pinned = server.clone();
    pinned.server.extend(["--pin".to_owned(), cpu.to_string()]);
    pinned.client.extend(["--pin".to_owned(), others]);
    let mut test_bed = TestBed::start(&pinned, &Peers::none(), How::default())?;
    test_bed.ask("burst 1", PATIENCE)?;
    test_bed.ask_server("order")?;
    test_bed.ask(&format!("burst {EACH}"), PATIENCE)?;
    let answer = test_bed.ask_server("order")?;
    test_bed.end()?;
    let order = answer["completed"].as_array().into_iter().flatten();
    let order: Vec<i64> = order.filter_map(Value::as_i64).collect();
    // Before the burst each caller calls twice, to open a connection.
    let burst = LANES.unsigned_abs() as usize * EACH;
    let last = order.len().saturating_sub(burst);
    Ok(Some(order[last..].to_vec()))
}

fn served(server: &Architecture, of_each: u64) -> Result<Found, Failure> {
    let mut test_bed = TestBed::start(server, &Peers::none(), How::default())?;
    test_bed.ask(&format!("mixed {of_each}"), PATIENCE)?;
    let answer = test_bed.ask_server("served")?;
    test_bed.end()?;
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    Ok(Found {
        name: String::new(),
        order: None,
        served: number("served"),
        wrong: number("wrong"),
    })
}

fn outcome(found: &[Found], notes: Vec<String>) -> Outcome {
    let mut outcome = Outcome {
        text: "\nSixteen priorities at once\n".to_owned(),
        notes,
        ..Outcome::default()
    };
    let mut all = Vec::new();
    for one in found {
        let late = one.order.as_deref().map(out_of_order);
        let completed = one.order.as_ref().map_or(0, Vec::len);
        let shown = late.map_or("not found out".to_owned(), |late| {
            format!("{completed} completed under overload, {late} out of order")
        });
        let _ = writeln!(
            outcome.text,
            "{:54}{shown}; {} served, {} at a wrong priority",
            one.name, one.served, one.wrong
        );
        let late = late.map(|late| late as f64);
        let figure = "completed out of the order of priorities, under overload";
        let row = Row::new(figure, &one.name, late);
        outcome.rows.push(row.bounded(Bound::AtMost(0.0)));
        let figure = "requests served at a wrong priority";
        let row = Row::new(figure, &one.name, Some(one.wrong as f64));
        outcome.rows.push(row.bounded(Bound::AtMost(0.0)));
        all.push(json!({
            "architecture": one.name,
            "completed": one.order,
            "served": one.served,
            "wrong": one.wrong,
        }));
    }
    let sum = |of: fn(&Found) -> u64| found.iter().map(of).sum::<u64>();
    let _ = writeln!(
        outcome.text,
        "{:54}{} served, {} at a wrong priority",
        "all of them",
        thousands(sum(|one| one.served) as f64),
        sum(|one| one.wrong)
    );
    if found.iter().any(|one| one.order.is_none()) {
        outcome.notes.push(
            "The order of completion needs two CPUs: one for the server, one for the clients."
                .to_owned(),
        );
    }
    outcome.json = Value::Array(all);
    outcome
        .rows
        .sort_by(|one, other| one.figure.cmp(&other.figure));
    outcome
}
