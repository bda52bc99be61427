// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on the operating system, each with a minimum of work. No durations are asserted.

use crate::program::experiment::experiment;
use crate::program::{Folder, is_drawing, run};
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
    // Only orbium is measured, whichever peers are there.
    assert!(!notes.contains("ORB is left out"), "{notes}");
    for class in ["SCHED_FIFO", "SCHED_DEADLINE", "SCHED_DEADLINE, reclaiming"] {
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

#[test]
fn processor_time_of_ten_clients_has_categories_on_both_sides() {
    let ran = run([
        "inversion",
        "--profile",
        "--only",
        "another world",
        "--no-peers",
    ]);
    ran.assert_failed_saying("no architecture");
    let only = ["--only", "lanes, reactive; reactor", "--seconds", "0.2"];
    let folder = Folder::new();
    let (svg, json) = (folder.path("figures.svg"), folder.path("all.json"));
    let files = ["--svg", &svg, "--json", &json];
    let all = ["inversion", "--profile", "--no-peers"].into_iter();
    let ran = run(all.chain(only).chain(files));
    if ran.status == Some(1) && ran.stderr.contains("perf") {
        return orbium_testkit::skipped("bench inversion --profile: no perf, or no privileges");
    }
    ran.assert_done();
    assert!(is_drawing(&std::fs::read_to_string(&svg).unwrap()));
    let found: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let profiles = found["profile"].as_array().unwrap();
    assert_eq!(profiles.len(), 1, "{found}");
    for one in profiles {
        assert!(one["calls"].as_u64().unwrap() > 0, "{one}");
        for side in ["client", "server"] {
            let of = &one[side];
            assert!(of["samples"].as_u64().unwrap() > 0, "{one}");
            let shares = of["percent"].as_object().unwrap().values();
            let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
            assert!((sum - 100.0).abs() < 1e-6, "{one}");
            assert!(
                of["percent"]["I/O and system"].as_f64().unwrap() > 0.0,
                "{one}"
            );
        }
    }
    let rows = found["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["bound"]["at_most"] == 5.0),
        "{rows:?}"
    );
}
