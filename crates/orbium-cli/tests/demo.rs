// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo` as its users meet it.

mod program;

use std::process::Stdio;

use program::{Folder, orbium, run};

const CALLS: [&str; 6] = [
    "noop",
    "cube_long",
    "echo of 1 KiB octets",
    "echo of 64 KiB octets",
    "echo of 256 BinStruct",
    "echo of 256 Many",
];

#[test]
fn everything_is_checked_measured_printed_and_drawn() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("plot.svg"), folder.path("all.json"));
    let ran = run(["demo", "--quick", "--svg", &svg, "--json", &json]);
    ran.assert_done();
    assert!(ran.stdout.starts_with("IIOP: "), "{ran:?}");
    assert!(
        ran.stdout.contains(" checks passed") && !ran.stdout.contains("FAILED"),
        "{ran:?}"
    );
    // No bar outside of a terminal.
    assert_eq!(ran.stderr, "");

    let places: &[&str] = if cfg!(target_os = "linux") {
        &[
            "IIOP, both processes pinned to CPU ",
            "IIOP, both processes free",
        ]
    } else {
        &["IIOP, both processes free"]
    };
    let lines: Vec<&str> = ran.stdout.lines().collect();
    for place in places {
        let title = lines.iter().position(|line| line.starts_with(place));
        let table = &lines[title.unwrap_or_else(|| panic!("no `{place}` in {ran:?}"))..];
        for (row, call) in table[3..].iter().zip(CALLS) {
            assert!(row.starts_with(call), "`{call}` expected in {row}");
            let words: Vec<&str> = row.split_whitespace().rev().collect();
            let [greatest, "to", least, ratio, ..] = words[..] else {
                panic!("no ratios in {row}");
            };
            let [least, ratio, greatest] =
                [least, ratio, greatest].map(|number| number.parse::<f64>().unwrap());
            assert!(0.0 < least && least <= ratio && ratio <= greatest, "{row}");
        }
    }

    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
    for call in CALLS {
        assert_eq!(
            drawing.matches(&format!(">{call}</text>")).count(),
            places.len()
        );
    }

    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let checks = found["checks"][0]["checks"].as_array().unwrap();
    let passed = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name);
        check.is_some_and(|check| check["outcome"] == "passed")
    };
    for name in [
        "cubit.noop",
        "cubit.shutdown",
        "the server ends after shutdown()",
    ] {
        assert!(passed(name), "{name} in {checks:?}");
    }
    let measurements = found["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), places.len());
    for measurement in measurements {
        let calls: Vec<_> = measurement["rows"].as_array().unwrap().iter().collect();
        assert!(
            calls
                .iter()
                .map(|row| row["call"].as_str().unwrap())
                .eq(CALLS)
        );
    }
}

/// Whoever runs the demonstration may end at any time.
#[test]
fn the_server_ends_with_whoever_holds_its_input() {
    let mut server = orbium(["demo", "serve", "--endpoint", "iiop://127.0.0.1:0"])
        .arg("--until-input-ends")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    drop(server.stdin.take());
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_plot_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let svg = folder.path("no/such/folder/plot.svg");
    let ran = run(["demo", "--quick", "--svg", &svg]);
    ran.assert_failed_saying("cannot write");
    // It is known before anything is measured.
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_demo_has_no_options_of_its_parts() {
    assert_eq!(run(["demo", "--calls", "3"]).status, Some(2));
    assert_eq!(run(["demo", "--quick", "serve"]).status, Some(2));
}
