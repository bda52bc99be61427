// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of this process, from the system: threads, descriptors and memory; and permissions that it gives up.

pub(crate) mod allocations;
pub(crate) mod forking;
pub(crate) mod own_process;
use std::fs;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Threads of this process.
///
/// # Panics
/// There is no `/proc`.
#[must_use]
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task")
        .expect("a Linux /proc")
        .count()
}

/// Open descriptors of this process.
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

/// Octets of memory that this process really occupies.
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

/// Has the host refuse real-time scheduling to the calling thread and those that it starts: no
/// CAP_SYS_NICE, and a limit of real-time priorities of 0. For tests with a process of their own.
///
/// # Panics
/// The capabilities cannot be read or given up.
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
