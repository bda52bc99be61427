// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched calibrate`, and `orbium sched check` by the file that it writes. Times are positive
//! and ordered; their size depends on the host.

use crate::program::{Folder, Ran, run};

/// Few runs, which are stable on any host.
const SHORT_RUN: [&str; 8] = [
    "sched",
    "calibrate",
    "--runs",
    "20",
    "--rounds",
    "2",
    "--tolerance",
    "1e300",
];

const STEER_TABLE: &str = "operation steer period=\"5000 ms\" wcet=\"10 ms\"\noperation read wcet=\"2 ms\"\n\
                     calls steer operation=read times=2\noperation log period=\"10 s\" wcet=\"1 ms\"\n";

fn calibrate(more: &[&str]) -> Ran {
    let ran = run(SHORT_RUN.into_iter().chain(more.iter().copied()));
    ran.assert_done();
    ran
}

fn check(table: &str, more: &[&str]) -> Ran {
    let check = ["sched", "check", table];
    run(check.into_iter().chain(more.iter().copied()))
}

/// Conformance: RT 6 - `orbium sched calibrate`: the overheads of ORB and host, measured until they are stable
#[test]
fn the_costs_of_calls_and_switches_are_positive_and_ordered() {
    let ran = calibrate(&["--json"]);
    let json = ran.json();
    let costs = json["costs"].as_array().unwrap();
    let names = ["call over TCP", "collocated call", "context switch"];
    assert_eq!(costs.len(), names.len(), "{ran:?}");
    for (cost, name) in costs.iter().zip(names) {
        assert_eq!(cost["cost"], name);
        assert_eq!(cost["runs"], 40, "{cost}");
        let fields = ["minimum_ns", "median_ns", "p99_ns", "worst_ns", "use_ns"];
        let times = fields.map(|field| cost[field].as_u64().unwrap());
        assert!(times[0] > 0 && times.is_sorted(), "{cost}");
    }
    let options: Vec<_> = costs.iter().map(|it| &it["option"]).collect();
    assert_eq!(options, ["--call", "--call", "--context-switch"]);

    let text = calibrate(&["--margin", "2.5"]).stdout;
    assert!(text.starts_with("processor "), "{text}");
    assert!(text.contains(", margin 2.5\n"), "{text}");
    for name in names {
        assert_eq!(text.lines().filter(|it| it.starts_with(name)).count(), 1);
    }
    assert!(text.contains("--blocking is not measured"), "{text}");
}

/// The times of `call` and `context-switch` in a file.
fn times(file: &str) -> [String; 2] {
    let text = std::fs::read_to_string(file).unwrap();
    let last = text.lines().last().unwrap();
    let parts: Vec<_> = last.split('"').map(str::to_owned).collect();
    let [call, call_time, switch, switch_time, end] = parts.try_into().unwrap();
    assert_eq!([&*call, &*switch, &*end], ["call=", " context-switch=", ""]);
    [call_time, switch_time]
}

/// Conformance: RT 6 - `orbium sched check`: the overhead of a file is that of the options
#[test]
fn an_overhead_file_changes_response_times_as_the_options_do() {
    let folder = Folder::new();
    let (table, file) = (
        folder.file("table.txt", STEER_TABLE),
        folder.path("overhead"),
    );
    let ran = calibrate(&["--output", &file, "--json"]);
    let [call, switch] = times(&file);
    let json = ran.json();
    let used = |index: usize| json["costs"][index]["use"].as_str().unwrap().to_owned();
    assert_eq!([&call, &switch], [&used(0), &used(2)]);

    let typed = check(&table, &["--call", &call, "--context-switch", &switch]);
    typed.assert_done();
    let of_file = check(&table, &["--overhead", &file]);
    of_file.assert_done();
    assert_eq!(of_file.stdout, typed.stdout);
    assert_ne!(of_file.stdout, check(&table, &[]).stdout);
    // Two calls of 1 s: 2014 ms and two context switches.
    let one_second = ["--call", "1 s", "--context-switch", &switch];
    let replaced = check(&table, &["--overhead", &file, "--call", "1 s"]);
    assert_eq!(replaced.stdout, check(&table, &one_second).stdout);
    assert_ne!(replaced.stdout, of_file.stdout);

    let ran = calibrate(&["--output", &file, "--json", "--collocated"]);
    let json = ran.json();
    assert_eq!(times(&file)[0], json["costs"][1]["use"].as_str().unwrap());
}

/// Conformance: RT 6 - `orbium sched calibrate`: the overhead of a host as a file, hostile ones - `orbium sched check`
#[test]
fn a_file_that_is_no_overhead_is_refused_with_its_line() {
    let folder = Folder::new();
    let table = folder.file("table.txt", STEER_TABLE);
    for (text, sentence) in [
        ("", "line 1, column 1: `call` is missing"),
        (
            "# measured\ncall=\"1 us\"\n",
            "line 2, column 1: `context-switch` is missing",
        ),
        (
            "call=\"1 us\"\ncontext-switch=soon",
            "line 2, column 1: context-switch: `soon` is no length of time",
        ),
        ("call=\"1 us\" call=\"1 us\"", "`call` is set twice"),
        ("wcet=\"1 us\"", "line 1, column 1: `wcet` is none of call"),
        ("{\"call\": 1}", "line 1"),
        ("call=\"9999999999999999999999 s\"", "too large"),
        (&"#".repeat(70_000), "more than 65536 bytes"),
    ] {
        let file = folder.file("overhead", text);
        let refused = check(&table, &["--overhead", &file]);
        refused.assert_failed_saying(sentence);
        assert_eq!(refused.stdout, "");
    }
    let binary = folder.path("binary");
    std::fs::write(&binary, [0xff; 16]).unwrap();
    for path in [&*binary, &folder.path("absent"), &folder.path(".")] {
        check(&table, &["--overhead", path]).assert_failed_saying("cannot read");
    }
    // It has no end.
    check(&table, &["--overhead", "/dev/zero"]).assert_failed_saying("more than 65536 bytes");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for wrong in [
        ["--runs", "0"],
        ["--rounds", "1"],
        ["--margin", "0.9"],
        ["--margin", "NaN"],
        ["--tolerance", "-0.1"],
        ["--tolerance", "inf"],
        ["--json", "--collocated"],
    ] {
        let ran = run(["sched", "calibrate"].into_iter().chain(wrong));
        assert_eq!(ran.status, Some(2), "{wrong:?}: {ran:?}");
    }
    let folder = Folder::new();
    let nowhere = folder.path("absent/overhead");
    let ran = run(SHORT_RUN.into_iter().chain(["--output", &nowhere]));
    ran.assert_failed_saying("cannot write");
    let ran = run(["sched", "calibrate", "--processor", "9999999"]);
    ran.assert_failed_saying("there is no CPU 9999999");
}
