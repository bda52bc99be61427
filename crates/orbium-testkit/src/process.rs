// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of this process, from the system: threads, descriptors and memory; and dropping of
//! permissions.

pub(crate) mod allocations;
pub(crate) mod forking;
pub(crate) mod own_process;
use std::fs;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// The number of threads of this process.
///
/// # Panics
/// There is no `/proc`.
#[must_use]
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task")
        .expect("a Linux /proc")
        .count()
}

/// The number of open descriptors of this process.
///
/// # Panics
/// There is no `/proc`.
#[must_use]
pub fn descriptors() -> usize {
    // Less the one that reads the folder.
    fs::read_dir("/proc/self/fd")
        .expect("a Linux /proc")
        .count()
        - 1
}

/// Bytes of resident memory of this process.
///
/// # Panics
/// There is no `/proc`.
#[must_use]
pub fn resident_octets() -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("a Linux /proc");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("VmRSS");
    let kib: usize = line
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .expect("a number");
    kib * 1024
}

/// Makes the host refuse real-time scheduling to the calling thread and those that it starts: no
/// CAP_SYS_NICE, and a limit of real-time priorities of 0. For tests in a separate process.
///
/// # Panics
/// The capabilities cannot be read or dropped.
pub fn give_up_real_time() {
    let mut sets = capabilities(None).expect("the capabilities");
    for set in [
        &mut sets.effective,
        &mut sets.permitted,
        &mut sets.inheritable,
    ] {
        set.remove(CapabilitySet::SYS_NICE);
    }
    set_capabilities(None, sets).expect("to give up a capability");
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Rtprio, none).expect("a lower limit");
}
