// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that cannot run on this machine.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Says that something could not be tested, and why, where `cargo xtask test`
/// finds it.
pub fn skipped(what: &str) {
    let line = format!("SKIPPED: {what}\n");
    eprint!("{line}");
    if let Some(log) = env::var_os("ORBIUM_SKIPPED_LOG") {
        let log = OpenOptions::new().append(true).create(true).open(log);
        // Only the summary would lack the line.
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }
}

/// As [`skipped`], of what needs a program of another project.
///
/// # Panics
/// `ORBIUM_REQUIRE_PEERS=1`: it has to be tested.
#[track_caller]
pub fn skipped_peer(what: &str) {
    let is_required = env::var_os("ORBIUM_REQUIRE_PEERS").is_some_and(|it| it == "1");
    assert!(!is_required, "{what}");
    skipped(what);
}
