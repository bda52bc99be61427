// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example runs on hosts that permit nothing.

use std::process::Command;

#[test]
fn a_soft_run_moves_the_valve() {
    let program = Command::new(env!("CARGO_BIN_EXE_real-time"))
        .args(["--soft", "1"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&program.stdout);
    let errors = String::from_utf8_lossy(&program.stderr);
    assert!(program.status.success(), "{text}{errors}");
    assert!(text.contains("moves 50,"), "{text}");
}
