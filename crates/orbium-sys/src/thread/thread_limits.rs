// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of the system on threads, for the error of a thread that could not start.

use std::fmt::Write as _;
use std::fs;
use std::io;

/// The same error, with the limits that may be its cause appended to the text. The system's error
/// for threads is also that of slow sockets, so its kind is `OutOfMemory`.
#[cold]
pub(crate) fn no_thread(error: &io::Error, stack_size: Option<usize>) -> io::Error {
    let mut text = format!("no further thread: {error}");
    let stack = stack_size.map(|octets| format!("{} KiB of stack each", octets / 1024));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let running = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    let running = running.map(|count| format!("{} here", count.trim()));
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let processes = soft_limit(&limits, "Max processes");
    let processes = processes.map(|it| format!("RLIMIT_NPROC {it} (`ulimit -u`)"));
    let space = soft_limit(&limits, "Max address space");
    let space = space.map(|it| format!("RLIMIT_AS {it} bytes (`ulimit -v`)"));
    let group = most_of_group().map(|it| format!("pids.max {it} of the control group"));
    let mut before = " (";
    for known in [running, stack, processes, space, group]
        .into_iter()
        .flatten()
    {
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{known}");
        before = ", ";
    }
    if before == ", " {
        text.push(')');
    }
    io::Error::new(io::ErrorKind::OutOfMemory, text)
}

/// The soft limit of that name; `None` if it is unlimited.
fn soft_limit<'l>(limits: &'l str, name: &str) -> Option<&'l str> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let soft = line.split_whitespace().next()?;
    (soft != "unlimited").then_some(soft)
}

/// The most tasks of the narrowest control group (version 2) that bounds them.
fn most_of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    loop {
        let most = fs::read_to_string(format!("/sys/fs/cgroup{path}/pids.max"));
        if let Some(most) = most.ok().and_then(|most| most.trim().parse().ok()) {
            return Some(most);
        }
        path = &path[..path.rfind('/')?];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_system_s_words_and_the_limits() {
        let error = io::Error::from_raw_os_error(libc::EAGAIN);
        let named = no_thread(&error, Some(8 << 20));
        let text = named.to_string();
        assert!(text.contains("os error 11"), "{text}");
        assert!(text.contains("8192 KiB of stack each"), "{text}");
        assert!(text.contains(" here, "), "{text}");
        assert!(crate::is_exhausted(&named));
    }

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max processes             4096                 8192                 processes\n\
                      Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(soft_limit(limits, "Max processes"), Some("4096"));
        assert_eq!(soft_limit(limits, "Max address space"), None);
    }
}
