// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that cannot run on this machine.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Reports that a test was skipped, with the reason, for `cargo xtask test`.
pub fn skipped(what: &str) {
    let line = format!("SKIPPED: {what}\n");
    eprint!("{line}");
    if let Some(log) = env::var_os("ORBIUM_SKIPPED_LOG") {
        let log = OpenOptions::new().append(true).create(true).open(log);
        // Only the summary would lack the line.
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }
}

/// As [`skipped`], for a test that needs a program of another project.
///
/// # Panics
/// `ORBIUM_REQUIRE_PEERS=1`: the test is required.
#[track_caller]
pub fn skipped_peer(what: &str) {
    let is_required = env::var_os("ORBIUM_REQUIRE_PEERS").is_some_and(|it| it == "1");
    assert!(!is_required, "{what}");
    skipped(what);
}
