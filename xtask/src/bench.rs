// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: runs the harness of the benches.

use xtask::outcome::Outcome;
use xtask::shell;

/// Builds the harness and runs its command `figures` with these arguments.
///
/// # Errors
/// The harness could not be built, or it failed.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let mut harness = shell::cargo();
    harness.args(["run", "--release", "-p", "orbium-bench", "--", "figures"]);
    shell::must(harness.args(arguments))
}
