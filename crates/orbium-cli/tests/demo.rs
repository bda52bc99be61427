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

/// Every protocol there is on this system.
const PROTOCOLS: &[&str] = if cfg!(target_os = "linux") {
    &["IIOP", "UIOP", "SHMIOP", "TLS"]
} else if cfg!(unix) {
    &["IIOP", "UIOP", "TLS"]
} else {
    &["IIOP", "TLS"]
};

#[test]
fn everything_is_checked_measured_printed_and_drawn() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("plot.svg"), folder.path("all.json"));
    let ran = run(["demo", "--quick", "--svg", &svg, "--json", &json]);
    ran.assert_done();
    for (line, protocol) in ran
        .stdout
        .lines()
        .filter(|line| line.contains(" checks passed"))
        .zip(PROTOCOLS)
    {
        assert!(line.starts_with(&format!("{protocol}: ")), "{ran:?}");
    }
    assert!(!ran.stdout.contains("FAILED"), "{ran:?}");
    // No bar outside of a terminal.
    assert_eq!(ran.stderr, "");

    let places: &[&str] = if cfg!(target_os = "linux") {
        &["both processes pinned to CPU ", "both processes free"]
    } else {
        &["both processes free"]
    };
    let sections: Vec<String> = PROTOCOLS
        .iter()
        .flat_map(|protocol| {
            places
                .iter()
                .map(move |place| format!("{protocol}, {place}"))
        })
        .collect();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    for section in &sections {
        let title = lines.iter().position(|line| line.starts_with(section));
        let table = &lines[title.unwrap_or_else(|| panic!("no `{section}` in {ran:?}"))..];
        for (row, call) in table[3..].iter().zip(CALLS) {
            assert!(row.starts_with(call), "`{call}` expected in {row}");
            let words: Vec<&str> = row.split_whitespace().rev().collect();
            let [greatest, "to", least, ratio, ..] = words[..] else {
                panic!("no ratios in {row}");
            };
            let [least, ratio, greatest] =
                [least, ratio, greatest].map(|number| number.parse::<f64>().unwrap());
            // Rounded, the least may be nothing where the machine was busy.
            assert!(0.0 <= least && least <= ratio && ratio <= greatest, "{row}");
        }
    }

    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
    for call in CALLS {
        assert_eq!(
            drawing.matches(&format!(">{call}</text>")).count(),
            sections.len()
        );
    }

    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let protocols = found["checks"].as_array().unwrap();
    assert!(
        protocols
            .iter()
            .map(|of| of["protocol"].as_str().unwrap())
            .eq(PROTOCOLS.iter().copied())
    );
    for protocol in protocols {
        let checks = protocol["checks"].as_array().unwrap();
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
    }
    let measurements = found["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), sections.len());
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
