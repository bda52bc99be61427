// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of this process, from the system: threads, descriptors and memory.

use std::fs;

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
