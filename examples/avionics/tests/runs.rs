// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example is configured and runs, on hosts that permit nothing too. How late anything is, is
//! the host's affair.

use std::path::Path;
use std::process::Command;

fn avionics(arguments: &[&str], configure: Option<&Path>) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_avionics"));
    program.args(arguments).env_remove("ORBIUM_SCHED");
    if let Some(path) = configure {
        program.env("ORBIUM_SCHED", format!("configure={}", path.display()));
    }
    let output = program.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// With `ORBIUM_BLESS` set, the table is written instead.
///
/// Conformance: RT 6 - configuration run and run time: the same program, the table byte for byte
#[test]
fn the_program_writes_the_table_that_it_is_built_with() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schedule.rs");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("avionics-schedule.rs");
    for _ in 0..2 {
        avionics(&[], Some(&path));
        let written = std::fs::read_to_string(&path).unwrap();
        if std::env::var_os("ORBIUM_BLESS").is_some() {
            std::fs::write(&own, &written).unwrap();
        }
        assert_eq!(written, std::fs::read_to_string(&own).unwrap());
    }
}

/// Free ports and little work: other tests run beside.
const QUIET: [&str; 4] = ["--ports", "0", "--utilization", "0.1"];

#[test]
fn all_processes_run_and_measure() {
    let files = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [picture, gantt] = ["avionics.svg", "avionics-gantt.svg"].map(|it| files.join(it));
    let mut arguments = QUIET.to_vec();
    let (picture_name, gantt_name) = (picture.to_string_lossy(), gantt.to_string_lossy());
    arguments.extend(["--seconds", "2", "--load=ordinary"]);
    arguments.extend(["--svg", &picture_name, "--gantt", &gantt_name]);
    let text = avionics(&arguments, None);
    for name in [
        "steer", "airspeed", "navigate", "INS", "ADC", "GPS", "HUD", "BIT",
    ] {
        let mut rows = text.lines().filter(|it| it.starts_with(name));
        let runs = rows.next().and_then(|it| it.split_whitespace().nth(1));
        let runs: u64 = runs.unwrap_or_default().parse().unwrap();
        assert!(runs > 0, "{text}");
    }
    assert!(text.contains(" frames of "), "{text}");
    for file in [picture, gantt] {
        let drawing = std::fs::read_to_string(file).unwrap();
        assert!(drawing.starts_with("<svg"));
    }
    let bare = avionics(&["bare", "--seconds", "1", "--utilization", "0.1"], None);
    assert_eq!(bare.lines().count(), 5, "{bare}");
}

/// Without GPS there is no conjunction; the deadline timeout of the channel changes the mode, and the
/// HUD shows it. The run is long enough that it does on a busy host too: 600 ms after the GPS ended.
#[test]
fn a_sensor_that_ends_changes_the_mode() {
    let mut arguments = QUIET.to_vec();
    arguments.extend(["--seconds", "8", "--fault"]);
    let text = avionics(&arguments, None);
    let last = text.lines().rfind(|it| it.starts_with("mode: "));
    assert!(
        last.is_some_and(|it| it.starts_with("mode: Degraded after ")),
        "{text}"
    );
    assert!(text.contains("GPS: signal: 9"), "{text}");
}

/// The port of a rate group is not silently another one.
#[test]
fn a_port_in_use_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = listener.local_addr().unwrap().port() - 20;
    let errors = refused(&["--seconds", "1", "--ports", &base.to_string()]);
    assert!(errors.contains("avionics: "), "{errors}");
}

#[test]
fn wrong_arguments_are_refused() {
    for (arguments, expected) in [
        (&["--seconds", "0"][..], "invalid value '0' for '--seconds"),
        (&["--seconds"], "a value is required for '--seconds"),
        (&["--utilization", "NaN"], "not a number from 0 to 2"),
        (&["--ports", "65530"], "invalid value '65530' for '--ports"),
        (&["push", "tcas", "x"], "invalid value 'tcas'"),
        (&["--fast"], "unexpected argument '--fast'"),
        (&["--processor", "4000"], "4000"),
    ] {
        let errors = refused(arguments);
        assert!(errors.contains(expected), "{errors}");
    }
}

fn refused(arguments: &[&str]) -> String {
    let program = Command::new(env!("CARGO_BIN_EXE_avionics"))
        .args(arguments)
        .env_remove("ORBIUM_SCHED")
        .output();
    let output = program.unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}
