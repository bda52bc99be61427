// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of the process's control groups: limits of CPU time, CPUs and memory.

use crate::cgroup::Cgroups;
use crate::facts::Facts;
use crate::finding::Finding;

/// Less memory is small for an ORB and its program.
const LITTLE_MEMORY: u64 = 256 << 20;

/// The groups, or the finding that they are unknown.
fn groups(facts: &Facts) -> Result<&Cgroups, Finding> {
    let unknown = || Finding::unknown("no control groups are told, or they are not mounted");
    facts.cgroups.as_ref().ok_or_else(unknown)
}

/// Whether CPU time is limited.
pub(super) fn cpu(facts: &Facts) -> Finding {
    let groups = match groups(facts) {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    groups.cpu.as_ref().map_or_else(
        || Finding::ok("no quota"),
        |limit| {
            Finding::problem(
                format!("{} us of CPU time in each {} us", limit.quota, limit.period),
                format!("echo {} | sudo tee '{}'", limit.none, limit.file),
            )
        },
    )
}

/// Whether CPUs are excluded.
pub(super) fn cpuset(facts: &Facts) -> Finding {
    let groups = match groups(facts) {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    let Some(cpus) = &groups.cpus else {
        return Finding::ok("no set of CPUs");
    };
    let Some(online) = &facts.cpus.online else {
        return Finding::unknown(format!("CPUs {cpus}, of how many the host does not tell"));
    };
    let remedy =
        format!("for a service: AllowedCPUs={online}; in a container: --cpuset-cpus={online}");
    if online.is_within(cpus) {
        Finding::ok(format!("all CPUs ({cpus})"))
    } else if cpus.count() == 1 {
        Finding::problem(format!("CPU {cpus} alone, of {online}"), remedy)
    } else {
        Finding::note(format!("CPUs {cpus} of {online}"), remedy)
    }
}

/// Whether memory is limited.
pub(super) fn memory(facts: &Facts) -> Finding {
    let groups = match groups(facts) {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    let Some(limit) = &groups.memory else {
        return Finding::ok("no limit");
    };
    let found = format!("{} MiB", limit.limit >> 20);
    let remedy = format!("echo {} | sudo tee '{}'", limit.none, limit.file);
    match limit.limit {
        ..LITTLE_MEMORY => Finding::problem(found, remedy),
        _ => Finding::note(found, remedy),
    }
}

/// Whether the time of real-time threads is limited.
pub(super) fn real_time(facts: &Facts) -> Finding {
    let groups = match groups(facts) {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    let Some(share) = &groups.real_time else {
        return Finding::ok("groups do not ration real-time");
    };
    match share.runtime {
        0 => Finding::problem(
            "our group has no share",
            format!(
                "echo 400000 | sudo tee '{}', the groups above it first",
                share.file
            ),
        ),
        runtime => Finding::ok(format!("our group has {runtime} us of each period")),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Problem, Unknown};

    const OURS: &str = "/sys/fs/cgroup/a b";

    /// A host with a group of version 2.
    fn host(name: &str, text: &str) -> FakeHost {
        let host = FakeHost::with(&[
            ("/proc/self/cgroup", "0::/a b\n"),
            (
                "/proc/self/mountinfo",
                "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("/sys/devices/system/cpu/online", "0-3\n"),
        ]);
        host.file(&format!("{OURS}/{name}"), text);
        host
    }

    #[test]
    fn a_quota_is_a_problem() {
        host("cpu.max", "max 100000").assert("cgroup-cpu", Ok, "no quota");
        host("cpu.max", "nonsense").assert("cgroup-cpu", Ok, "no quota");
        host("cpu.max", "1 0").assert("cgroup-cpu", Ok, "no quota");
        let finding = host("cpu.max", "50000 100000").assert("cgroup-cpu", Problem, "50000 us");
        assert_eq!(
            finding.remedy,
            "echo max | sudo tee '/sys/fs/cgroup/a b/cpu.max'"
        );
    }

    #[test]
    fn sets_are_compared_with_the_cpus_there_are() {
        let file = "cpuset.cpus.effective";
        host(file, "0-3").assert("cgroup-cpuset", Ok, "all CPUs");
        host(file, "").assert("cgroup-cpuset", Ok, "no set");
        host(file, "1-2").assert("cgroup-cpuset", Note, "1-2 of 0-3");
        host(file, "3").assert("cgroup-cpuset", Problem, "CPU 3 alone");
        let silent = host(file, "3");
        silent.file("/sys/devices/system/cpu/online", "");
        silent.assert("cgroup-cpuset", Unknown, "CPUs 3");
    }

    #[test]
    fn memory_is_a_matter_of_size() {
        host("memory.max", "max").assert("cgroup-memory", Ok, "no limit");
        host("memory.max", "1073741824").assert("cgroup-memory", Note, "1024 MiB");
        host("memory.high", "1048576").assert("cgroup-memory", Problem, "1 MiB");
    }

    #[test]
    fn a_group_without_real_time_has_none() {
        host("cpu.max", "").assert("cgroup-rt", Ok, "do not ration");
        for (runtime, severity) in [("0", Problem), ("950000", Ok), ("-1", Ok)] {
            let host = FakeHost::with(&[
                ("/proc/self/cgroup", "1:cpu:/\n"),
                (
                    "/proc/self/mountinfo",
                    "1 1 0:1 / /cg rw - cgroup cgroup rw,cpu\n",
                ),
                ("/cg/cpu.rt_runtime_us", runtime),
            ]);
            host.assert("cgroup-rt", severity, "our group");
        }
    }

    #[test]
    fn groups_that_are_not_mounted_are_unknown() {
        let host = FakeHost::with(&[
            ("/proc/self/cgroup", "0::/a\n"),
            (
                "/proc/self/mountinfo",
                "1 1 0:1 / /proc rw - proc proc rw\n",
            ),
        ]);
        for name in ["cgroup-cpu", "cgroup-cpuset", "cgroup-memory", "cgroup-rt"] {
            host.assert(name, Unknown, "not mounted");
        }
    }
}
