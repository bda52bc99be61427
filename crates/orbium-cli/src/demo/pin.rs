// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keeping a process on one CPU.

use clap::Args;

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// Run on this CPU alone (Linux)
    #[arg(long = "pin", value_name = "CPU", hide = true)]
    cpu: Option<usize>,
}

impl PinArgs {
    /// Pins the process, if that was asked for. Threads started later inherit
    /// it, so this comes first.
    pub(crate) fn apply(&self) -> Result<(), Failure> {
        self.cpu.map_or(Ok(()), pin)
    }
}

#[cfg(target_os = "linux")]
fn pin(cpu: usize) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    if cpu >= CpuSet::MAX_CPU {
        return Err(Failure::because(format!("there is no CPU {cpu}")));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)
        .map_err(|error| Failure::because(format!("cannot run on CPU {cpu} alone: {error}")))
}

#[cfg(not(target_os = "linux"))]
fn pin(_cpu: usize) -> Result<(), Failure> {
    Err(Failure::because(
        "processes can be kept on one CPU on Linux only",
    ))
}

/// A CPU that this process may run on: the last one, as the first ones tend to
/// serve interrupts. `None` where processes cannot be pinned.
#[cfg(target_os = "linux")]
pub(crate) fn choose() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed = sched_getaffinity(None).ok()?;
    (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu))
}

/// `None`: processes cannot be pinned here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose() -> Option<usize> {
    None
}
