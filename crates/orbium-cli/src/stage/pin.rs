// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pinning of a process to one CPU, or to several.

use clap::Args;

use crate::failure::Failure;

/// The processors of a process.
#[derive(Clone, Debug, Args)]
pub struct PinArgs {
    /// Run on these CPUs alone (Linux)
    #[arg(long = "pin", value_name = "CPUS", value_delimiter = ',', hide = true)]
    cpus: Vec<usize>,
}

impl PinArgs {
    /// Pins the process, if an option requests it. Threads started later inherit it, so this is
    /// called first.
    pub fn apply(&self) -> Result<(), Failure> {
        if self.cpus.is_empty() {
            return Ok(());
        }
        pin(&self.cpus)
    }

    /// Runs a closure that starts threads pinned to another CPU, and restores the own one.
    pub fn on_another<T>(
        &self,
        cpu: Option<usize>,
        work: impl FnOnce() -> T,
    ) -> Result<T, Failure> {
        let Some(cpu) = cpu else { return Ok(work()) };
        thread_to(cpu)?;
        let result = work();
        self.apply()?;
        Ok(result)
    }
}

/// Pins the calling thread, and those that it starts, to one CPU.
pub fn thread_to(cpu: usize) -> Result<(), Failure> {
    pin(&[cpu])
}

#[cfg(target_os = "linux")]
fn pin(cpus: &[usize]) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(Failure::because(format!("there is no CPU {cpu}")));
        }
        set.set(*cpu);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| Failure::because(format!("cannot run on CPUs {cpus:?} alone: {error}")))
}

#[cfg(not(target_os = "linux"))]
fn pin(_cpus: &[usize]) -> Result<(), Failure> {
    Err(Failure::because(
        "processes can be kept on some CPUs on Linux only",
    ))
}

/// A CPU that this process may run on: the last one, as the first ones tend to
/// serve interrupts. `None` where processes cannot be pinned.
#[cfg(target_os = "linux")]
pub fn choose() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed = sched_getaffinity(None).ok()?;
    (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu))
}

/// `None`: processes cannot be pinned here.
#[cfg(not(target_os = "linux"))]
pub fn choose() -> Option<usize> {
    None
}

/// Another CPU that this process may run on: the last one that does not share a core with the first,
/// if there is any.
#[cfg(target_os = "linux")]
pub fn other(cpu: usize) -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed = sched_getaffinity(None).ok()?;
    let core = |cpu: usize| {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        std::fs::read_to_string(file).ok()
    };
    let others = (0..CpuSet::MAX_CPU)
        .rev()
        .filter(|it| *it != cpu && allowed.is_set(*it));
    let others: Vec<_> = others.collect();
    let own = core(cpu);
    let other_core = others.iter().find(|it| own.is_some() && core(**it) != own);
    other_core.or(others.first()).copied()
}

/// `None`: processes cannot be pinned here.
#[cfg(not(target_os = "linux"))]
pub fn other(_: usize) -> Option<usize> {
    None
}

/// A CPU that this process may run on, and all others, as `--pin` takes them; `None` if there is
/// only one, or processes cannot be pinned.
#[cfg(target_os = "linux")]
pub fn split() -> Option<(usize, String)> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed = sched_getaffinity(None).ok()?;
    let mut all: Vec<_> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let last = all.pop().filter(|_| !all.is_empty())?;
    let others: Vec<_> = all.iter().map(ToString::to_string).collect();
    Some((last, others.join(",")))
}

/// `None`: processes cannot be pinned here.
#[cfg(not(target_os = "linux"))]
pub fn split() -> Option<(usize, String)> {
    None
}
