// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every fault again and again: the exception that the specification names, no
//! harm to other callers, and nothing left of it.
//!
//! Alone in this file, for it counts what the whole process has. An ordinary run
//! makes a hundred cycles of each; `cargo xtask soak` makes 100,000.

#[path = "../suite/common/mod.rs"]
#[expect(dead_code, reason = "the suite uses the rest")]
mod common;
mod deadlines;
mod deaths;
mod exhaustion;
mod measure;
mod parties;
mod refusals;

use std::env;

use measure::{Line, soak};
use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;

/// Runs the faults with the text asked for in their names, and prints a line for
/// each.
fn run(cycles: usize, only: Option<&str>) {
    let faults = [
        refusals::FAULTS,
        deadlines::FAULTS,
        deaths::FAULTS,
        exhaustion::FAULTS,
    ];
    println!("{}", Line::HEADING);
    let mut broken = Vec::new();
    for fault in faults.into_iter().flatten() {
        if only.is_some_and(|only| !fault.name.contains(only)) {
            continue;
        }
        let Some(line) = soak(fault, cycles) else {
            orbium_testkit::skipped(&format!("{}: not permitted here", fault.name));
            continue;
        };
        println!("{line}");
        if !line.is_clean() {
            broken.push(fault.name);
        }
    }
    assert!(broken.is_empty(), "something is left of: {broken:?}");
}

/// Conformance: faults - a hundred cycles of each fault
#[test]
fn every_fault_a_hundred_times() {
    run(100, None);
}

/// What `cargo xtask soak` runs.
#[test]
#[ignore = "takes minutes; cargo xtask soak"]
fn every_fault_as_often_as_asked() {
    let cycles = env::var("ORBIUM_SOAK_CYCLES").map(|it| it.parse().expect("a number"));
    let only = env::var("ORBIUM_SOAK_FAULT").ok();
    run(cycles.unwrap_or(100_000), only.as_deref());
}
