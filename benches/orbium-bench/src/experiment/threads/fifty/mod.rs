// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fifty priorities on one processor: client C_i calls servant S_i at priority P_i, under each
//! scheduling class. Latency and jitter of the most urgent client, and of the others.

mod drawing;
mod points;

use crate::peer::architecture::{Architecture, Lanes, reactive};
use crate::peer::programs::Peers;
use crate::report::markdown::FIFTY;
use crate::stage::class::Class;
use crate::stage::pacing::HIGH_PERIOD;
use crate::stage::real_time::HIGH;
use crate::stage::test_bed::{How, TestBed};
use orbium_cli::Failure;
use orbium_cli::stage::pin;
use orbium_cli::stage::progress::Progress;

pub(super) use drawing::draw;
pub(super) use points::outcome;
use points::{Found, Point};

/// The plan of the measurement.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) classes: Vec<Class>,
    /// Numbers of clients: the most urgent ones.
    pub(super) clients: Vec<usize>,
    /// Calls of the most urgent client with each number.
    pub(super) calls: u32,
}

pub(super) fn measure(plan: &Plan) -> (Vec<Found>, Vec<String>) {
    let mut notes = Vec::new();
    let mut found = Vec::new();
    let mut progress = Progress::new(plan.classes.len());
    for class in &plan.classes {
        progress.step(&format!("fifty priorities: {}", class.name()));
        let measured = class
            .can_have(HIGH)
            .map_err(Failure::because)
            .and_then(|()| under(*class, plan, &mut notes));
        match measured {
            Ok(one) => found.push(one),
            Err(failure) => notes.push(format!(
                "{} is left out: {}",
                class.name(),
                failure.sentence()
            )),
        }
    }
    if found.iter().any(|one| one.class.reserves()) {
        notes.push(
            "under SCHED_DEADLINE on all processors, as the system keeps no thread with a reservation \
             on one; under the other classes on one."
                .to_owned(),
        );
    }
    let notes = notes.iter().map(|note| format!("{FIFTY}: {note}"));
    (found, notes.collect())
}

/// A server with a reactor for each priority, and its client, both on one processor.
fn server(class: Class) -> Architecture {
    let lanes = (1..=HIGH).map(|priority| format!("lane-{priority:02}={priority}"));
    let mut server = reactive(Lanes::One);
    server.server.push("--lanes".to_owned());
    server.server.push(lanes.collect::<Vec<_>>().join(","));
    server
        .server
        .extend(["--class".to_owned(), class.to_string()]);
    if !class.reserves()
        && let Some(processor) = pin::choose()
    {
        let pinned = ["--pin".to_owned(), processor.to_string()];
        server.server.extend(pinned.clone());
        server.client.extend(pinned);
    }
    server
}

fn under(class: Class, plan: &Plan, notes: &mut Vec<String>) -> Result<Found, Failure> {
    let mut test_bed = TestBed::start(&server(class), &Peers::none(), How::default())?;
    notes.extend(
        test_bed
            .announced("note")
            .next()
            .map(|note| format!("{}: {note}", class.name())),
    );
    let time = HIGH_PERIOD * plan.calls;
    let mut points = Vec::new();
    for clients in &plan.clients {
        let question = format!("ranks {clients} {} {class}", time.as_millis());
        points.push(Point::of(&test_bed.ask(&question, time)?));
    }
    test_bed.end()?;
    let refused = points.iter().map(|point| point.refused).max().unwrap_or(0);
    if refused > 0 {
        notes.push(format!(
            "{} was refused to {refused} clients.",
            class.name()
        ));
    }
    Ok(Found { class, points })
}
