// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo` as its users meet it.

use std::process::Stdio;

use orbium_testkit::eventually;

use crate::program::{Folder, orbium, run, signal};

const CALLS: [&str; 6] = [
    "noop",
    "cube_long",
    "echo of 1 KiB octets",
    "echo of 64 KiB octets",
    "echo of 256 BinStruct",
    "echo of 256 Many",
];

/// Every protocol for twoway calls there is on this system.
const PROTOCOLS: &[&str] = if cfg!(target_os = "linux") {
    &["IIOP", "UIOP", "SHMIOP", "TLS", "in process"]
} else if cfg!(unix) {
    &["IIOP", "UIOP", "TLS", "in process"]
} else {
    &["IIOP", "TLS", "in process"]
};

/// Those for oneways, and how many receive them.
const DATAGRAMS: &[(&str, usize)] = if cfg!(target_os = "linux") {
    &[("UDP", 1), ("multicast", 2)]
} else {
    &[("UDP", 1)]
};

const ONEWAYS: [&str; 3] = [
    "send_octets of 64",
    "send_octets of 1,024",
    "send_octets of 8,192",
];

/// Names of all protocols, in the order in which they are printed.
fn protocols() -> impl Iterator<Item = &'static str> {
    let datagrams = DATAGRAMS.iter().map(|(protocol, _)| *protocol);
    PROTOCOLS.iter().copied().chain(datagrams)
}

#[test]
fn everything_is_checked_measured_printed_and_drawn() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("plot.svg"), folder.path("all.json"));
    let ran = run(["demo", "--quick", "--svg", &svg, "--json", &json]);
    ran.assert_done();
    let checked = ran.stdout.lines().filter_map(|line| {
        let (protocol, passed) = line.split_once(": ")?;
        passed.contains(" checks passed").then_some(protocol)
    });
    assert!(checked.eq(protocols()), "{ran:?}");
    assert!(!ran.stdout.contains("FAILED"), "{ran:?}");
    // No bar outside of a terminal.
    assert_eq!(ran.stderr, "");

    // Where the system puts two processes decides a latency more than anything they do: the rows
    // "free" had ratios from 0.17 to 5.5 on a machine of two processors.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let places: &[&str] = match (cfg!(target_os = "linux"), processors) {
        (false, _) => &["free"],
        (_, 1) => &["one processor: both on CPU "],
        _ => &[
            "one processor: both on CPU ",
            "one processor each: client on CPU ",
        ],
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
            drawing.matches(&format!(">\n{call}\n</text>")).count(),
            sections.len()
        );
    }

    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let checked = found["checks"].as_array().unwrap();
    let names = checked.iter().map(|of| of["protocol"].as_str().unwrap());
    assert!(names.eq(protocols()));
    for protocol in &checked[..PROTOCOLS.len()] {
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
    let distant = measurements.iter().filter(|of| of["place"] == "apart");
    for measurement in distant {
        assert_ne!(measurement["client_cpu"], measurement["server_cpu"]);
        assert!(found["wake_up"]["across_ns"].as_u64().unwrap() > 0);
        let wake_ups = ran.stdout.matches("(a wake-up across: ").count();
        assert_eq!(wake_ups, PROTOCOLS.len(), "{ran:?}");
    }
    for measurement in measurements {
        let calls: Vec<_> = measurement["rows"].as_array().unwrap().iter().collect();
        assert!(
            calls
                .iter()
                .map(|row| row["call"].as_str().unwrap())
                .eq(CALLS)
        );
    }

    oneways_are_counted(&found, &ran.stdout);
}

/// Datagrams may get lost, but none is counted that was not sent, and none is
/// changed.
fn oneways_are_counted(found: &serde_json::Value, printed: &str) {
    let floods = found["oneways"].as_array().unwrap();
    assert_eq!(floods.len(), DATAGRAMS.len());
    for (flood, (protocol, receivers)) in floods.iter().zip(DATAGRAMS) {
        assert_eq!(flood["protocol"], *protocol);
        assert!(printed.contains(&format!("\n{protocol}, oneways to ")));
        // Where the system put sender and receivers made floods differ by factors.
        if cfg!(target_os = "linux") {
            assert_ne!(flood["place"], "free");
            assert!(flood["client_cpu"].is_u64() && flood["server_cpu"].is_u64());
        }
        let rows = flood["rows"].as_array().unwrap();
        assert!(rows.iter().map(|row| &row["call"]).eq(ONEWAYS));
        for row in rows {
            let sent = row["sent"].as_u64().unwrap();
            let received = row["received"].as_array().unwrap();
            assert_eq!(received.len(), *receivers);
            for count in received {
                assert!((1..=sent).contains(&count.as_u64().unwrap()), "{row}");
            }
            let call = row["call"].as_str().unwrap();
            assert_eq!(
                printed.matches(&format!("\n{call} ")).count(),
                DATAGRAMS.len()
            );
        }
    }
    let checks = found["checks"].as_array().unwrap();
    for protocol in &checks[PROTOCOLS.len()..] {
        let checks = protocol["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 1 + ONEWAYS.len());
        assert!(checks.iter().all(|check| check["outcome"] == "passed"));
    }
}

#[test]
fn a_group_is_joined_at_an_address_of_groups() {
    let endpoint = "iiop://127.0.0.1:0";
    let ran = run(["demo", "serve", "--join", "lab-7", "--endpoint", endpoint]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("no miop:// endpoint"), "{ran:?}");
}

/// The process that runs the demonstration may end at any time.
#[test]
fn the_server_ends_with_the_process_that_holds_its_input() {
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

/// The folder of the run, with a key in it, stayed in the temporary directory.
#[test]
fn an_interrupted_demo_leaves_nothing() {
    let folder = Folder::new();
    let temporary = folder.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let svg = folder.path("plot.svg");
    let mut demo = orbium(["demo", "--quick", "--svg", &svg])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let entries = || std::fs::read_dir(&temporary).unwrap().count();
    eventually("it has begun", || entries() > 0);
    signal(&demo, "INT");
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    assert_eq!(entries(), 0);
}
