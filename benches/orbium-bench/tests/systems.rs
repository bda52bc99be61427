// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on the operating system, each with a minimum of work. No durations are asserted.

#[path = "program/experiment.rs"]
mod experiment;
mod program;

use experiment::experiment;
use program::is_drawing;
use serde_json::Value;

#[test]
fn each_of_fifty_clients_calls_under_each_scheduling_class() {
    let (ran, found, drawing) = experiment(&[
        "threads",
        "--only",
        "fifty",
        "--clients",
        "1,3,50",
        "--urgent-calls",
        "3",
    ]);
    assert!(is_drawing(&drawing), "{drawing}");
    let classes = found["fifty"].as_array().unwrap();
    let names: Vec<_> = classes.iter().map(|one| &one["class"]).collect();
    // The others take privileges.
    assert!(names.contains(&&Value::from("SCHED_OTHER")), "{found}");
    let notes = found["notes"].to_string();
    for class in ["SCHED_FIFO", "SCHED_DEADLINE"] {
        let is_left_out = notes.contains(&format!("{class} is left out"));
        assert_eq!(
            is_left_out,
            !names.contains(&&Value::from(class)),
            "{found}"
        );
        assert!(is_left_out || ran.stdout.contains(class), "{ran:?}");
    }
    for class in classes {
        let points = class["points"].as_array().unwrap();
        assert_eq!(points.len(), 3, "{class}");
        for (point, clients) in points.iter().zip([1, 3, 50]) {
            assert_eq!(point["clients"], clients, "{point}");
            assert_eq!(point["highest"]["calls"], 3, "{point}");
            let others = point["others"]["calls"].as_u64().unwrap();
            assert!(others + 1 >= clients, "{point}");
            let medians = point["median_since_due_ns_by_priority"].as_array().unwrap();
            assert_eq!(medians.len() as u64, clients, "{point}");
            assert_eq!(point["failed"], 0, "{point}");
        }
    }
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * classes.len(), "{rows:?}");
    let is_held = rows.iter().any(|row| row["bound"]["at_most"] == 1.2);
    assert_eq!(is_held, classes.len() > 1, "{rows:?}");
}

#[test]
fn both_clients_are_measured_in_each_place_under_each_class() {
    let (ran, found, drawing) = experiment(&["os", "--clients", "0,2", "--calls", "3"]);
    assert!(is_drawing(&drawing), "{drawing}");
    let all = found["systems"].as_array().unwrap();
    for place in ["local, TCP", "local, Unix socket", "local, shared memory"] {
        let is_there = |one: &&Value| one["place"] == place && one["class"] == "SCHED_OTHER";
        assert!(all.iter().any(|one| is_there(&one)), "{ran:?}");
    }
    for one in all {
        let points = one["points"].as_array().unwrap();
        assert_eq!(points.len(), 2, "{one}");
        for point in points {
            assert_eq!(point["high"]["calls"], 3, "{point}");
            assert_eq!(point["failed"], 0, "{point}");
            let low = point["low"]["calls"].as_u64().unwrap();
            assert_eq!(low > 0, point["low_clients"] == 2, "{point}");
        }
    }
    let remote = all.iter().any(|one| one["place"] == "remote, TCP");
    let notes = found["notes"].to_string();
    assert_ne!(
        remote,
        notes.contains("a link between two hosts"),
        "{notes}"
    );
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * all.len(), "{rows:?}");
}
