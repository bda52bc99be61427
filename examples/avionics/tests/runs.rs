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

#[test]
fn all_processes_run_and_measure() {
    let chart = Path::new(env!("CARGO_TARGET_TMPDIR")).join("avionics.svg");
    let text = avionics(
        &[
            "--seconds",
            "1",
            "--load",
            "--svg",
            &chart.to_string_lossy(),
        ],
        None,
    );
    for name in ["INS", "ADC", "GPS", "HUD", "BIT"] {
        let rows = text.lines().filter(|it| it.starts_with(name));
        assert_eq!(rows.count(), 1, "{text}");
    }
    assert!(text.contains(" frames\n"), "{text}");
    assert!(std::fs::read_to_string(&chart).unwrap().starts_with("<svg"));
    let bare = avionics(&["--bare", "--seconds", "1"], None);
    assert_eq!(bare.lines().count(), 5, "{bare}");
}

/// The HUD of a process that lost its GPS shows another mode. The run is long enough that the mode
/// changes on a busy host too: 600 ms after the GPS ended.
#[test]
fn a_sensor_that_ends_changes_the_mode() {
    let text = avionics(&["--seconds", "8", "--fault"], None);
    let last = text.lines().rfind(|it| it.starts_with("mode: "));
    assert!(
        last.is_some_and(|it| it.starts_with("mode: Degraded after ")),
        "{text}"
    );
    assert!(text.contains("GPS    signal: 9"), "{text}");
}

#[test]
fn wrong_arguments_are_refused() {
    for (arguments, expected) in [
        (&["--seconds", "0"][..], "`0` is no time"),
        (&["--seconds"], "--seconds needs a value"),
        (&["sensor", "TCAS", "x"], "no sensor `TCAS`"),
        (&["--fast"], "unknown argument `--fast`"),
    ] {
        let program = Command::new(env!("CARGO_BIN_EXE_avionics"))
            .args(arguments)
            .output();
        let output = program.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(expected),
            "{errors}"
        );
    }
}
