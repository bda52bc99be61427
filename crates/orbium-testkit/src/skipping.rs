// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that cannot run on this machine.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that something could not be tested, and why, where `cargo xtask test`
/// finds it.
pub fn skipped(what: &str) {
    let line = format!("SKIPPED: {what}\n");
    eprint!("{line}");
    if let Some(log) = std::env::var_os("ORBIUM_SKIPPED_LOG") {
        let log = OpenOptions::new().append(true).create(true).open(log);
        // Only the summary would lack the line.
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }
}
