// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of the process's limits: real-time priority, locked memory and open files.

use crate::facts::Facts;
use crate::finding::Finding;

/// The highest priority of SCHED_FIFO on Linux.
const MAX_FIFO_PRIORITY: u64 = 99;
/// Below this an ORB with its stacks and buffers does not fit.
const LITTLE_MEMORY: u64 = 64 << 20;

/// A line for `limits.d`, and the same for a service.
fn raise(item: &str, value: &str, unit: &str) -> String {
    format!(
        "echo \"$USER - {item} {value}\" | sudo tee -a /etc/security/limits.d/orbium.conf, \
         then log in again; for a service: {unit}={value}"
    )
}

/// Whether SCHED_FIFO is available.
pub(super) fn real_time_priority(facts: &Facts) -> Finding {
    let limits = &facts.limits;
    let limit = limits
        .real_time_priority
        .map(|limit| limit.soft.unwrap_or(MAX_FIFO_PRIORITY));
    let may_all =
        limits.may_set_priorities() || limit.is_some_and(|soft| soft >= MAX_FIFO_PRIORITY);
    let remedy = raise("rtprio", "99", "LimitRTPRIO");
    match (&facts.fifo, limit) {
        (Some(Err(reason)), _) if may_all => Finding::problem(
            format!("SCHED_FIFO is refused though we may have it: {reason}"),
            "see cgroup-rt; in a container: docker run --cap-add=SYS_NICE, and a seccomp \
             profile that lets sched_setscheduler pass",
        ),
        (Some(Err(reason)), _) => {
            Finding::problem(format!("SCHED_FIFO is refused: {reason}"), remedy)
        }
        (Some(Ok(())), _) if may_all => Finding::ok("SCHED_FIFO at any priority"),
        (None, _) if may_all => Finding::ok("any priority, by the limits; not tried"),
        (Some(Ok(())) | None, Some(1..)) => {
            let highest = limit.unwrap_or_default();
            Finding::note(format!("priorities up to {highest} only"), remedy)
        }
        (Some(Ok(())), _) => Finding::ok("SCHED_FIFO was given"),
        (None, Some(0)) => Finding::problem("no real-time priority is allowed", remedy),
        (None, None) => Finding::unknown("no limit is told, and SCHED_FIFO was not tried"),
    }
}

/// Whether the limit suffices for `mlockall`.
pub(super) fn locked_memory(facts: &Facts) -> Finding {
    let remedy = raise("memlock", "unlimited", "LimitMEMLOCK")
        .replace("LimitMEMLOCK=unlimited", "LimitMEMLOCK=infinity");
    if facts.limits.may_lock_memory() {
        return Finding::ok("any amount (CAP_IPC_LOCK)");
    }
    match facts.limits.locked_memory.map(|limit| limit.soft) {
        None => Finding::unknown("no limit is told"),
        Some(None) => Finding::ok("any amount"),
        Some(Some(octets)) if octets < LITTLE_MEMORY => {
            Finding::problem(format!("{} KiB: mlockall fails", octets / 1024), remedy)
        }
        Some(Some(octets)) => Finding::note(
            format!("{} MiB: mlockall fails in a larger program", octets >> 20),
            remedy,
        ),
    }
}

/// The number of connections that the limit permits.
pub(super) fn open_files(facts: &Facts) -> Finding {
    let Some(limit) = facts.limits.open_files else {
        return Finding::unknown("no limit is told");
    };
    let Some(soft) = limit.soft else {
        return Finding::ok("unlimited");
    };
    let found = format!("{soft} descriptors");
    // Without help from root up to the hard limit.
    let remedy = match limit.hard {
        Some(hard) if hard < 65_536 => raise("nofile", "65536", "LimitNOFILE"),
        _ => "ulimit -n 65536, in the shell that starts the program; for a service: \
              LimitNOFILE=65536"
            .to_owned(),
    };
    match soft {
        ..1024 => Finding::problem(found, remedy),
        1024..8192 => Finding::note(found, remedy),
        _ => Finding::ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::super::judged;
    use crate::fake::FakeHost;
    use crate::finding::Severity::{self, Note, Ok as Fine, Problem, Unknown};

    /// A host with one limit and some capabilities.
    fn host(name: &str, soft: &str, hard: &str, capabilities: u64) -> FakeHost {
        let limits = format!("Limit  Soft Limit  Hard Limit  Units\n{name:<26}{soft} {hard} x\n");
        let status = format!("Name:\tx\nCapEff:\t{capabilities:016x}\n");
        FakeHost::with(&[
            ("/proc/self/limits", &limits),
            ("/proc/self/status", &status),
        ])
    }

    fn priority(soft: &str, nice: bool, fifo: Option<Result<(), String>>) -> (Severity, String) {
        let mut facts = host("Max realtime priority", soft, soft, u64::from(nice) << 23).facts();
        facts.fifo = fifo;
        let finding = judged(&facts, "rt-priority");
        let wrong = matches!(finding.severity, Note | Problem);
        assert_eq!(wrong, !finding.remedy.is_empty(), "{finding:?}");
        (finding.severity, finding.found)
    }

    #[test]
    fn fifo_counts_more_than_limits() {
        let refused = || Some(Err("not permitted".to_owned()));
        for (soft, nice, fifo, severity, found) in [
            ("99", false, Some(Ok(())), Fine, "any priority"),
            ("0", true, Some(Ok(())), Fine, "any priority"),
            ("10", false, Some(Ok(())), Note, "up to 10"),
            ("x", false, Some(Ok(())), Fine, "was given"),
            ("0", false, Some(Ok(())), Fine, "was given"),
            ("0", false, refused(), Problem, "refused: not permitted"),
            ("99", false, refused(), Problem, "though we may"),
            ("unlimited", false, refused(), Problem, "though we may"),
            ("0", true, refused(), Problem, "though we may"),
            ("x", false, refused(), Problem, "refused"),
            ("0", false, None, Problem, "no real-time priority"),
            ("50", false, None, Note, "up to 50"),
            ("0", true, None, Fine, "not tried"),
            ("x", false, None, Unknown, "not tried"),
        ] {
            let verdict = priority(soft, nice, fifo);
            assert_eq!(verdict.0, severity, "{soft} {nice} {verdict:?}");
            assert!(verdict.1.contains(found), "{soft} {nice} {verdict:?}");
        }
    }

    #[test]
    fn memory_can_be_locked_up_to_the_limit() {
        for (soft, capabilities, severity, found) in [
            ("unlimited", 0, Fine, "any amount"),
            ("65536", 0, Problem, "64 KiB"),
            ("8388608", 0, Problem, "8192 KiB"),
            ("1073741824", 0, Note, "1024 MiB"),
            ("65536", 1 << 14, Fine, "CAP_IPC_LOCK"),
            ("x", 0, Unknown, "no limit"),
        ] {
            host("Max locked memory", soft, soft, capabilities).assert(
                "locked-memory",
                severity,
                found,
            );
        }
    }

    #[test]
    fn descriptors_are_counted() {
        for (soft, hard, severity, remedy) in [
            ("256", "4096", Problem, "limits.d"),
            ("1024", "1048576", Note, "ulimit -n"),
            ("1024", "unlimited", Note, "ulimit -n"),
            ("8192", "8192", Fine, ""),
            ("unlimited", "unlimited", Fine, ""),
            ("", "", Unknown, ""),
        ] {
            let finding = host("Max open files", soft, hard, 0).assert("open-files", severity, "");
            assert!(finding.remedy.contains(remedy), "{finding:?}");
        }
    }
}
