// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of the processor time of a process, taken by `perf`: of its threads, and of the kernel
//! for them.

use std::path::Path;
use std::process::Command;

use orbium_cli::Failure;

use crate::stage::clock::Span;

/// Samples per second of each busy processor.
pub(crate) const RATE: u32 = 1999;

/// The command of `perf` that runs a program and writes samples to a file. They have times of the
/// monotonic clock.
pub(crate) fn command(file: &Path) -> Command {
    let mut perf = Command::new("perf");
    perf.args(["record", "--quiet", "--event", "cpu-clock"]);
    perf.args(["--freq", &RATE.to_string(), "--call-graph", "fp"]);
    perf.args(["--clockid", "mono", "--output"]);
    perf.arg(file).arg("--");
    perf
}

/// Whether `perf` is installed and may sample.
///
/// # Errors
/// The message of `perf`.
pub(crate) fn try_out(folder: &Path) -> Result<(), Failure> {
    let mut perf = command(&folder.join("trial"));
    let ran = perf.arg("true").output().map_err(|error| {
        Failure::because(format!("perf (Debian: linux-perf) cannot be run: {error}"))
    })?;
    if ran.status.success() {
        Ok(())
    } else {
        Err(refused(&ran.stderr))
    }
}

/// The samples of a time, as lines of text.
///
/// # Errors
/// The file cannot be read, or has no samples of that time.
pub(crate) fn text(file: &Path, time: Span) -> Result<String, Failure> {
    let [begin, end] = [time.begin, time.end].map(|point| format!("{:.6}", point.as_secs_f64()));
    let ran = Command::new("perf")
        .args(["script", "--no-inline", "--fields", "ip,sym,dso"])
        .args(["--time", &format!("{begin},{end}"), "--input"])
        .arg(file)
        .output()
        .map_err(|error| Failure::because(format!("perf cannot be run: {error}")))?;
    if ran.status.success() {
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    } else {
        Err(refused(&ran.stderr))
    }
}

fn refused(stderr: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(stderr);
    let first = text.lines().find(|line| !line.trim().is_empty());
    Failure::because(format!("perf refuses: {}", first.unwrap_or("no reason")))
}
