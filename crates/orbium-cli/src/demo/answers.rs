// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answers of client and sender processes, and the time that they wait.

use std::time::Duration;

use super::event::Event;
use crate::failure::Failure;
use crate::output;

/// Time for the answers that are checked, so that a fault ends the
/// demonstration instead of stopping it.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Writes an event to standard output, where the parent process reads it.
pub(super) fn print(event: &Event) -> Result<(), Failure> {
    output::print(&event.to_line())
}
