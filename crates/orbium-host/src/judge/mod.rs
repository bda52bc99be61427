// SPDX-License-Identifier: MIT OR Apache-2.0
//! Evaluation of the facts by their effect on the latency of a request. No file is read here.

mod cgroup;
mod cpu;
pub(crate) mod examination;
mod kernel;
mod limits;
mod memory;
mod nats;
mod network;

use crate::facts::Facts;
use crate::finding::Finding;

/// One check.
#[derive(Debug)]
pub struct Check {
    /// Its name in tables, JSON and `--only`.
    pub name: &'static str,
    /// Its effect on the latency of a request.
    pub why: &'static str,
    judge: fn(&Facts) -> Finding,
}

impl Check {
    /// The finding of the check for these facts, with its advice. Reads no files.
    #[must_use]
    pub fn judge(&self, facts: &Facts) -> Finding {
        (self.judge)(facts)
    }
}

/// All checks, in the order of the report.
pub const CHECKS: &[Check] = &[
    Check {
        name: "preemption",
        why: "Until the kernel lets go of a CPU, the thread that should serve the request waits.",
        judge: kernel::preemption,
    },
    Check {
        name: "rt-priority",
        why: "Without a real-time policy every other process may run before the thread that \
              serves the request.",
        judge: limits::real_time_priority,
    },
    Check {
        name: "rt-throttling",
        why: "Real-time threads that have used up a processor's time stand still until the period \
              ends, and urgent ones that others send there stand still with them.",
        judge: kernel::throttling,
    },
    Check {
        name: "locked-memory",
        why: "A page that is not locked may have to be fetched in the middle of a request.",
        judge: limits::locked_memory,
    },
    Check {
        name: "open-files",
        why: "Each connection takes a descriptor, and at the limit no further client gets in.",
        judge: limits::open_files,
    },
    Check {
        name: "cpus",
        why: "With few CPUs client, server and the kernel's own work wait for one another.",
        judge: cpu::count,
    },
    Check {
        name: "isolated-cpus",
        why: "On a CPU of its own a lane is not interrupted by other processes or by the tick.",
        judge: cpu::isolated,
    },
    Check {
        name: "interrupts",
        why: "An interrupt runs before any thread, whatever the thread's priority.",
        judge: cpu::interrupts,
    },
    Check {
        name: "governor",
        why: "A CPU that has slowed down while idle serves the next request slowly.",
        judge: cpu::governor,
    },
    Check {
        name: "smt",
        why: "Two threads on one core share its units and caches, so each slows the other by \
              as much as it happens to need.",
        judge: cpu::smt,
    },
    Check {
        name: "virtualisation",
        why: "A hypervisor may take the CPU away at any time, and no priority of ours counts \
              there.",
        judge: cpu::virtualisation,
    },
    Check {
        name: "stolen-time",
        why: "A CPU that the hypervisor takes away stands still with every thread on it, often for \
              a tenth of a second, whatever their priorities.",
        judge: cpu::stolen,
    },
    Check {
        name: "clock-source",
        why: "Deadlines and timestamps read the clock several times for each request, and a \
              slow clock is a system call or a bus access each time.",
        judge: kernel::clock_source,
    },
    Check {
        name: "timer-slack",
        why: "Timed waits of ordinary threads may end late by the slack, so that deadlines and \
              pacing do too.",
        judge: kernel::timer_slack,
    },
    Check {
        name: "swap",
        why: "A page on disk takes milliseconds to come back, and the request waits for it.",
        judge: memory::swap,
    },
    Check {
        name: "huge-pages",
        why: "While the kernel makes small pages into a huge one, threads that touch them wait.",
        judge: memory::huge_pages,
    },
    Check {
        name: "cgroup-cpu",
        why: "A group that has used up its quota stands still until the period ends, requests \
              and all.",
        judge: cgroup::cpu,
    },
    Check {
        name: "cgroup-cpuset",
        why: "Lanes can be spread over the CPUs of the group only.",
        judge: cgroup::cpuset,
    },
    Check {
        name: "cgroup-memory",
        why: "Close to the limit each allocation has to wait for memory to be freed, and at \
              the limit the process is killed.",
        judge: cgroup::memory,
    },
    Check {
        name: "cgroup-rt",
        why: "Where groups share out real-time, a group without a share has no real-time \
              threads at all.",
        judge: cgroup::real_time,
    },
    Check {
        name: "qdisc",
        why: "A small request waits behind all octets that were queued for the interface \
              before it.",
        judge: network::queueing,
    },
    Check {
        name: "busy-poll",
        why: "Without polling, a message waits for an interrupt and for a thread to wake up.",
        judge: network::busy_poll,
    },
    Check {
        name: "socket-buffers",
        why: "A burst that finds no room is dropped, if it is of datagrams, or stops the sender.",
        judge: network::buffers,
    },
    Check {
        name: "nats-sync",
        why: "Events that a stream has acknowledged are lost with the power of the host until the NATS server has written them \
              to the disk.",
        judge: nats::sync,
    },
];

/// The finding of the check of that name.
#[cfg(test)]
pub(crate) fn judged(facts: &Facts, name: &str) -> Finding {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap();
    check.judge(facts)
}

#[cfg(test)]
mod tests {
    use super::CHECKS;
    use crate::fake::FakeHost;
    use crate::finding::Severity;

    /// Every file that is read anywhere.
    const FILES: &[&str] = &[
        "/etc/os-release",
        "/proc/1/cmdline",
        "/proc/1/comm",
        "/proc/cmdline",
        "/proc/cpuinfo",
        "/proc/irq/1/effective_affinity_list",
        "/proc/irq/1/smp_affinity_list",
        "/proc/self/cgroup",
        "/proc/self/limits",
        "/proc/self/mountinfo",
        "/proc/self/status",
        "/proc/self/timerslack_ns",
        "/proc/stat",
        "/proc/swaps",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/sched_rt_period_us",
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/proc/sys/kernel/version",
        "/proc/sys/net/core/busy_poll",
        "/proc/sys/net/core/busy_read",
        "/proc/sys/net/core/default_qdisc",
        "/proc/sys/net/core/rmem_max",
        "/proc/sys/net/core/wmem_max",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "/sys/devices/system/cpu/isolated",
        "/sys/devices/system/cpu/nohz_full",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/smt/active",
        "/sys/kernel/debug/sched/fair_server/cpu0/runtime",
        "/sys/kernel/debug/sched/preempt",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/realtime",
    ];

    #[test]
    fn a_host_without_files_is_unknown() {
        let facts = FakeHost::empty().facts();
        for check in CHECKS {
            let finding = check.judge(&facts);
            assert_eq!(finding.severity, Severity::Unknown, "{check:?} {finding:?}");
            assert!(!finding.found.is_empty() && finding.remedy.is_empty());
        }
    }

    #[test]
    fn no_content_makes_a_check_fail() {
        for content in [
            &b""[..],
            b"\n\n\n",
            b"\xff\xfe\0\x1b[2J",
            b"-9223372036854775808",
            b"18446744073709551615 18446744073709551615",
            b"99999999999999999999999999",
            b"0-4294967295",
            b"4294967295-0",
            b"((((()[[[[]",
            b"Max open files   1\nMax realtime priority x y\nCapEff:\tzz\n",
            b"0::/../../..\n1:cpu,cpuset,memory:/\n1:\n:::::\n",
            b"1 2 3 / / rw - cgroup2 c rw\n1 2 3 / / rw - cgroup c cpu,memory,cpuset\n",
        ] {
            let host = FakeHost::empty();
            for file in FILES {
                host.file(file, content);
            }
            let facts = host.facts();
            for check in CHECKS {
                let finding = check.judge(&facts);
                assert!(!finding.found.is_empty(), "{check:?}");
                assert!(!finding.found.contains('\x1b'), "{finding:?}");
                let wrong = matches!(finding.severity, Severity::Note | Severity::Problem);
                assert_eq!(wrong, !finding.remedy.is_empty(), "{check:?} {finding:?}");
            }
        }
    }

    #[test]
    fn directories_are_no_files() {
        let host = FakeHost::empty();
        for file in FILES {
            host.file(&format!("{file}/inside"), "");
        }
        let facts = host.facts();
        for check in CHECKS {
            let _ = check.judge(&facts);
        }
    }

    #[test]
    fn every_check_has_a_name_of_its_own_and_one_sentence() {
        for (index, check) in CHECKS.iter().enumerate() {
            assert!(
                CHECKS[..index]
                    .iter()
                    .all(|before| before.name != check.name)
            );
            assert!(
                check.why.ends_with('.') && !check.why.contains(". "),
                "{check:?}"
            );
        }
    }
}
