// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel threads that receive for an interface, and their scheduling.

use orbium_sys::{NativeThread, Scheduling, SchedulingClass};

use super::step::ThreadBefore;
use super::tree::Tree;

/// Length of a thread's name in older kernels.
const SHORT_NAME: usize = 15;

/// The receiving threads of an interface: numbers and names.
pub(crate) fn of_interface(tree: &Tree, interface: &str) -> Vec<(u32, String)> {
    let start = format!("napi/{interface}-");
    let is_meant = |name: &str| {
        name.starts_with(&start) || (name.len() == SHORT_NAME && start.starts_with(name))
    };
    let threads = tree.numbered("/proc").unwrap_or_default().into_iter();
    threads
        .filter_map(|thread| {
            let name = tree.line(&format!("/proc/{thread}/comm"))?;
            is_meant(&name).then_some((thread, name))
        })
        .collect()
}

/// Whether a thread still exists with the same name.
pub(crate) fn is_there(tree: &Tree, thread: &ThreadBefore) -> bool {
    tree.line(&format!("/proc/{}/comm", thread.thread))
        .as_deref()
        == Some(&*thread.name)
}

/// The present scheduling of a thread of this host.
pub(crate) fn before(thread: u32, name: String) -> Result<ThreadBefore, String> {
    let scheduling = NativeThread::numbered(thread)
        .scheduling()
        .map_err(|error| format!("{name}: {error}"))?;
    let class = match scheduling.class {
        SchedulingClass::Other => "other",
        SchedulingClass::Fifo => "fifo",
        SchedulingClass::RoundRobin => "rr",
    };
    Ok(ThreadBefore {
        thread,
        name,
        class: class.to_owned(),
        priority: scheduling.priority,
    })
}

/// Sets SCHED_FIFO for a thread of this host.
pub(crate) fn set_fifo(thread: u32, priority: i32) -> Result<(), String> {
    set(thread, Scheduling::fifo(priority))
}

/// Restores the previous scheduling of a thread.
pub(crate) fn restore(before: &ThreadBefore) -> Result<(), String> {
    let scheduling = match before.class.as_str() {
        "fifo" => Scheduling::fifo(before.priority),
        "rr" => Scheduling::round_robin(before.priority),
        _ => Scheduling::OTHER,
    };
    set(before.thread, scheduling)
}

fn set(thread: u32, scheduling: Scheduling) -> Result<(), String> {
    NativeThread::numbered(thread)
        .set_scheduling(scheduling)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeHost;
    use super::of_interface;

    #[test]
    fn receiving_threads_are_known_by_name() {
        let host = FakeHost::with(&[
            ("/proc/7/comm", "napi/eth0-257\n"),
            ("/proc/8/comm", "napi/eth0-0"),
            ("/proc/9/comm", "napi/eth01-3"),
            ("/proc/10/comm", "napi/enx0011223"),
            ("/proc/self/comm", "napi/eth0-1"),
        ]);
        let tree = host.tree();
        let numbers = |interface: &str| -> Vec<u32> {
            let threads = of_interface(&tree, interface);
            threads.into_iter().map(|(number, _)| number).collect()
        };
        assert_eq!(numbers("eth0"), [7, 8]);
        assert_eq!(numbers("enx001122334455"), [10]);
        assert!(numbers("lo").is_empty());
    }
}
