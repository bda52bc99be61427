// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on priority inversion, threads and locks, each with a minimum of
//! work. No durations are asserted.

use std::path::Path;

use crate::program::experiment::experiment;
use crate::program::{Folder, is_drawing, run};
use serde_json::Value;

fn names(of: &Value) -> Vec<&str> {
    let all = of.as_array().unwrap().iter();
    let names = all.map(|one| one.get("architecture").or(one.get("name")).unwrap());
    names.map(|name| name.as_str().unwrap()).collect()
}

/// A peer's program where `cargo xtask test` has built it.
fn has_peer(program: &str) -> bool {
    let folder = std::env::var_os("ORBIUM_INTEROP_DIR");
    folder.is_some_and(|folder| Path::new(&folder).join(program).is_file())
}

#[test]
fn inversion_has_both_classes_in_every_architecture() {
    let (ran, found, drawing) = experiment(&[
        "inversion",
        "--no-peers",
        "--clients",
        "0,3",
        "--seconds",
        "0.11",
    ]);
    assert_eq!(ran.stderr, "");
    let all = found["architectures"].as_array().unwrap();
    let names = names(&found["architectures"]);
    for name in [
        "orbium: lanes, reactive",
        "orbium: lanes, thread-per-connection",
        "orbium: reactive",
        "orbium: thread-per-connection",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    for one in all {
        let points = one["points"].as_array().unwrap();
        assert_eq!(points.len(), 4, "{one}");
        for point in points {
            assert!(point["high"]["calls"].as_u64().unwrap() >= 1, "{point}");
            assert!(point["high"]["mean_ns"].as_f64().unwrap() > 0.0, "{point}");
            let low = point["low"]["calls"].as_u64().unwrap();
            assert_eq!(low > 0, point["low_clients"] == 3, "{point}");
            if point["scenario"] == "saturated" {
                // The servant alone takes so long.
                assert!(
                    point["high"]["median_ns"].as_f64().unwrap() >= 1e6,
                    "{point}"
                );
            }
            assert_eq!(point["failed"], 0, "{point}");
        }
    }
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), all.len());
    assert!(rows.iter().all(|row| row["value"].as_f64().unwrap() > 0.0));
    let is_held = rows.iter().any(|row| row["bound"]["at_most"] == 1.5);
    assert_eq!(is_held, found["real_time"] == true, "{rows:?}");
    assert!(is_drawing(&drawing));
    assert!(drawing.contains("orbium: lanes, reactive"), "{drawing}");
    assert!(
        ran.stdout
            .contains("omniORB is left out, as --no-peers says.")
    );
}

#[test]
fn zero_threads_calls_or_seconds_cannot_be_measured() {
    for arguments in [
        ["threads", "--threads", "1,0"],
        ["threads", "--calls", "0"],
        ["threads", "--connections", "0"],
        ["threads", "--clients", "51"],
        ["threads", "--urgent-calls", "0"],
        ["inversion", "--seconds", "0"],
        ["inversion", "--seconds", "inf"],
    ] {
        let ran = run(arguments);
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
}

#[test]
fn peers_that_are_not_there_are_named_with_what_builds_them() {
    let folder = Folder::new();
    let (ran, found, _) = experiment(&[
        "inversion",
        "--clients",
        "1",
        "--seconds",
        "0.05",
        "--peers",
        &folder.path("nowhere"),
    ]);
    for note in [
        "omniORB is left out: there is no omni-experiment here.",
        "`sh interop/build.sh jacorb`",
    ] {
        assert!(ran.stdout.contains(note), "{ran:?}");
    }
    assert!(found["notes"].as_array().unwrap().len() >= 3, "{found}");
    // One number of clients cannot be compared with none.
    assert!(found["rows"][0]["value"].is_null(), "{found}");
}

#[test]
fn other_orbs_take_part() {
    for (program, name) in [
        ("omni-experiment", "omniORB: thread pool"),
        ("jacorb-experiment", "JacORB: thread pool, one connection"),
    ] {
        if !has_peer(program) {
            orbium_testkit::skipped(&format!("bench inversion: {program} is not built"));
            continue;
        }
        let (_, found, drawing) =
            experiment(&["inversion", "--clients", "0,2", "--seconds", "0.05"]);
        let names = names(&found["architectures"]);
        assert!(names.contains(&name), "{names:?}, {found}");
        assert!(is_drawing(&drawing));
        let (_, found, _) =
            experiment(&["threads", "--quick", "--threads", "2", "--only", "scaling"]);
        let scaling = found["scaling"].as_array().unwrap();
        let peer = scaling.iter().find(|one| one["name"] == name).unwrap();
        let rate = peer["rates"][0]["calls_per_second"].as_f64().unwrap();
        assert!(rate > 0.0, "{peer}");
    }
}

#[test]
fn many_threads_are_compared_with_raw_sockets() {
    let (ran, found, drawing) = experiment(&[
        "threads",
        "--quick",
        "--no-peers",
        "--only",
        "scaling",
        "--threads",
        "1,3",
    ]);
    let scaling = found["scaling"].as_array().unwrap();
    assert_eq!(scaling[0]["name"], "raw sockets");
    assert!(scaling.len() >= 3, "{found}");
    for one in scaling {
        for rates in one["rates"].as_array().unwrap() {
            assert!(rates["calls_per_second"].as_f64().unwrap() > 0.0, "{one}");
            assert!(rates["fraction_of_raw"].as_f64().unwrap() > 0.0, "{one}");
        }
        assert_eq!(one["rates"].as_array().unwrap().len(), 2);
    }
    assert!(is_drawing(&drawing));
    assert!(drawing.contains("raw sockets"), "{drawing}");
    assert!(ran.stdout.contains("orbium: reactive"), "{ran:?}");
}

/// The order of completion depends on the arrival of the requests on a busy machine;
/// the priority at which each is served does not.
#[test]
fn sixteen_priorities_are_all_served() {
    let (ran, found, _) = experiment(&[
        "threads",
        "--quick",
        "--only",
        "priorities,punctuality",
        "--calls",
        "640",
    ]);
    if found["priorities"].is_null() {
        assert!(ran.stdout.contains("priorities is left out: "), "{ran:?}");
        orbium_testkit::skipped("bench threads: no real-time priorities here");
        return;
    }
    for one in found["priorities"].as_array().unwrap() {
        if let Some(completed) = one["completed"].as_array() {
            let mut each = completed.clone();
            each.sort_by_key(Value::as_i64);
            let expected = (1..=16).flat_map(|priority| [priority; 4]);
            assert!(
                each.iter().map(|one| one.as_i64().unwrap()).eq(expected),
                "{one}"
            );
        }
        assert!(one["served"].as_u64().unwrap() >= 160, "{one}");
        assert_eq!(one["wrong"], 0, "{one}");
    }
    for one in found["punctuality"].as_array().unwrap() {
        for when in ["alone", "besieged"] {
            assert!(one[when]["calls"].as_u64().unwrap() > 0, "{one}");
            assert!(one[when]["greatest_ns"].as_f64().unwrap() > 0.0, "{one}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_crowd_of_connections_is_served() {
    let (ran, found, _) = experiment(&[
        "threads",
        "--quick",
        "--only",
        "crowd",
        "--connections",
        "60",
    ]);
    let crowd = found["crowd"].as_array().unwrap();
    assert!(
        names(&found["crowd"]).contains(&"orbium: reactive"),
        "{ran:?}"
    );
    for one in crowd {
        assert_eq!(one["connections"], 60, "{one}");
        // Each of them at least once.
        assert!(one["latency"]["calls"].as_u64().unwrap() >= 60, "{one}");
    }
}

/// The ordinary build does not count operations on locks.
#[cfg(not(feature = "counted"))]
#[test]
fn without_counting_the_error_names_the_feature() {
    run(["locks"]).assert_failed_saying("--features counted");
}

#[cfg(feature = "counted")]
#[test]
fn operations_on_locks_are_counted_on_both_sides() {
    assert_eq!(run(["locks", "--calls", "0"]).status, Some(2));
    let (ran, found, drawing) = experiment(&["locks", "--no-peers", "--calls", "40"]);
    let all = found["architectures"].as_array().unwrap();
    assert!(all.len() >= 8, "{found}");
    for one in all {
        for side in ["client", "server"] {
            let user = one[side]["user"].as_f64().unwrap();
            // No call gets by without any, and none needs dozens.
            assert!((0.0..40.0).contains(&user), "{one}");
        }
    }
    let rows = found["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["bound"]["at_most"] == 2.0),
        "{rows:?}"
    );
    assert!(is_drawing(&drawing));
    for text in ["TAO (1998)", "32.0"] {
        assert!(drawing.contains(text), "no {text}: {drawing}");
    }
    assert!(ran.stdout.contains("Operations on locks per request"));
}

#[test]
fn schedule_keeps_the_critical_set_in_the_simulator() {
    let (ran, found, drawing) = experiment(&[
        "schedule",
        "--only",
        "simulated,analysis",
        "--utilizations",
        "0.5,1.2",
        "--sets",
        "2",
    ]);
    assert!(is_drawing(&drawing), "{drawing}");
    assert!(ran.stdout.contains("rms+mlf"), "{}", ran.stdout);
    let strategies = found["simulated"].as_array().unwrap();
    assert_eq!(strategies.len(), 5, "{found}");
    for strategy in strategies {
        let points = strategy["points"].as_array().unwrap();
        assert_eq!(points[0]["critical"], 0.0, "{strategy}");
        assert_eq!(points[0]["other"], 0.0, "{strategy}");
        let keeps = ["rms", "muf", "rms+mlf"].contains(&strategy["strategy"].as_str().unwrap());
        assert_eq!(points[1]["critical"] == 0.0, keeps, "{strategy}");
    }
    let rows = found["rows"].as_array().unwrap();
    let analysed = rows
        .iter()
        .filter(|row| row["figure"].as_str().unwrap().contains("analysis"));
    assert_eq!(analysed.count(), 10, "{found}");
}

#[test]
fn schedule_runs_threads_of_this_host() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("figures.svg"), folder.path("all.json"));
    let ran = run([
        "schedule",
        "--only",
        "live",
        "--utilizations",
        "0.2",
        "--seconds",
        "0.05",
        "--svg",
        &svg,
        "--json",
        &json,
    ]);
    if ran.status != Some(0) {
        // Without the privilege of real-time priorities.
        return ran.assert_failed_saying("SCHED_FIFO");
    }
    let found: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let strategies = found["live"].as_array().unwrap();
    assert_eq!(strategies.len(), 5, "{found}");
    for strategy in strategies {
        let point = &strategy["points"][0];
        for class in ["critical", "other"] {
            let share = point[class].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&share), "{strategy}");
        }
    }
}

#[test]
fn schedule_refuses_a_utilization_that_is_none() {
    for utilization in ["0", "-1", "nan", "11", "x"] {
        let option = format!("--utilizations={utilization}");
        let ran = run(["schedule", &option]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
    }
}

#[test]
fn inversion_counts_calls_of_chosen_architectures_while_no_processor_rests() {
    let (ran, found, _) = experiment(&[
        "inversion",
        "--no-peers",
        "--only",
        "lanes, reactive;",
        "--clients",
        "0",
        "--calls",
        "3",
        "--awake",
    ]);
    let architectures = found["architectures"].as_array().unwrap();
    assert!(architectures.len() >= 2, "{found}");
    for one in architectures {
        let name = one["architecture"].as_str().unwrap();
        assert!(name.contains("lanes, reactive;"), "{name}");
        for point in one["points"].as_array().unwrap() {
            assert_eq!(point["high"]["calls"], 3, "{point}");
        }
    }
    assert!(ran.stdout.contains("SCHED_IDLE"), "{}", ran.stdout);
}

#[test]
fn inversion_runs_over_a_link_between_two_hosts() {
    let probe = std::process::Command::new("ip")
        .args(["netns", "add", "orbium-probe"])
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        return orbium_testkit::skipped("bench inversion --link: no privileges, or no `ip`");
    }
    let _ = std::process::Command::new("ip")
        .args(["netns", "delete", "orbium-probe"])
        .status();
    let (ran, found, _) = experiment(&[
        "inversion",
        "--no-peers",
        "--only",
        "orbium: lanes, reactive",
        "--clients",
        "1",
        "--calls",
        "2",
        "--link",
        "155mbit",
    ]);
    assert!(ran.stdout.contains("155mbit"), "{}", ran.stdout);
    let point = &found["architectures"][0]["points"][0];
    assert_eq!(point["high"]["calls"], 2, "{found}");
    assert_eq!(point["failed"], 0, "{found}");
}

#[test]
fn inversion_refuses_calls_rates_and_names_that_are_none() {
    for (option, wrong, status) in [
        ("--calls", "0", 2),
        ("--calls", "some", 2),
        ("--link", "155", 2),
        ("--only", "an architecture of another world", 1),
    ] {
        let ran = run(["inversion", "--no-peers", option, wrong]);
        assert_eq!(ran.status, Some(status), "{ran:?}");
    }
}
