// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of the CPUs and their other uses.

use crate::cpu_list::CpuList;
use crate::facts::Facts;
use crate::finding::Finding;

/// The number of usable CPUs.
pub(super) fn count(facts: &Facts) -> Finding {
    let cpus = &facts.cpus;
    let Some(usable) = cpus.allowed.as_ref().or(cpus.online.as_ref()) else {
        return Finding::unknown("the host does not tell its CPUs");
    };
    let found = match &cpus.online {
        Some(online) if online.count() > usable.count() => {
            format!("{} of {}", usable.count(), online.count())
        }
        _ => usable.count().to_string(),
    };
    let is_withheld = cpus
        .online
        .as_ref()
        .is_some_and(|online| online.count() > usable.count());
    let remedy = if is_withheld {
        "taskset -pc 0-$(($(nproc --all) - 1)) $$, in the shell that starts the program"
    } else {
        "use a machine with four CPUs or more: two for lanes, two for all else"
    };
    match usable.count() {
        1 => Finding::problem(found, remedy),
        2..4 => Finding::note(found, remedy),
        _ => Finding::ok(found),
    }
}

/// The CPUs to isolate: two of four or more, one of fewer.
fn reservable(online: Option<&CpuList>) -> Option<String> {
    let online = online?;
    let last = online.last()?;
    match online.count() {
        ..2 => None,
        2..4 => Some(last.to_string()),
        _ => Some(format!("{}-{last}", last.checked_sub(1)?)),
    }
}

/// Whether CPUs are isolated.
pub(super) fn isolated(facts: &Facts) -> Finding {
    let cpus = &facts.cpus;
    let Some(isolated) = &cpus.isolated else {
        return Finding::unknown("the host does not tell its isolated CPUs");
    };
    let boot = |set: &str| {
        format!(
            "boot with isolcpus=domain,managed_irq,{set} nohz_full={set} rcu_nocbs={set} \
             (GRUB_CMDLINE_LINUX in /etc/default/grub, then sudo update-grub)"
        )
    };
    let own = CpuList::default();
    let tickless = cpus.tickless.as_ref().unwrap_or(&own);
    if isolated.is_empty() {
        let remedy = match reservable(cpus.online.as_ref()) {
            Some(set) => boot(&set),
            None => "use a machine with more CPUs".to_owned(),
        };
        Finding::note("none", remedy)
    } else if isolated.is_within(tickless) {
        Finding::ok(format!("CPUs {isolated}, without a tick"))
    } else {
        let found = format!("CPUs {isolated}, but with a periodic tick");
        Finding::note(found, boot(&isolated.to_string()))
    }
}

/// Whether interrupts avoid isolated CPUs.
pub(super) fn interrupts(facts: &Facts) -> Finding {
    let interrupts = &facts.interrupts;
    let stop = "sudo systemctl disable --now irqbalance";
    let isolated = facts.cpus.isolated.as_ref().filter(|cpus| !cpus.is_empty());
    if interrupts.cpus.is_empty() && !interrupts.is_balanced {
        return Finding::unknown("the host does not tell where interrupts go");
    }
    let Some(isolated) = isolated else {
        return if interrupts.is_balanced {
            Finding::note("irqbalance moves them among all CPUs", stop)
        } else {
            Finding::note(
                "they may come on every CPU",
                "reserve CPUs first (isolated-cpus), then keep interrupts off them",
            )
        };
    };
    let meeting = interrupts
        .cpus
        .iter()
        .filter(|(_, cpus)| cpus.meets(isolated))
        .count();
    if meeting > 0 {
        let online = facts.cpus.online.clone().unwrap_or_default();
        let others = online.without(isolated);
        let others = if others.is_empty() {
            "0".to_owned()
        } else {
            others.to_string()
        };
        let noun = if meeting == 1 {
            "interrupt comes"
        } else {
            "interrupts come"
        };
        let mut remedy =
            format!("for f in /proc/irq/*/smp_affinity_list; do echo {others} | sudo tee $f; done");
        if interrupts.is_balanced {
            remedy = format!("{stop}; {remedy}");
        }
        return Finding::problem(
            format!("{meeting} {noun} on isolated CPUs {isolated}"),
            remedy,
        );
    }
    Finding::ok(format!("none on isolated CPUs {isolated}"))
}

/// Whether the frequency of CPUs is constant.
pub(super) fn governor(facts: &Facts) -> Finding {
    let slow: Vec<_> = facts
        .cpus
        .governors
        .iter()
        .filter(|(name, _)| name != "performance")
        .map(|(name, cpu)| format!("{name} (CPU {cpu})"))
        .collect();
    if facts.cpus.governors.is_empty() {
        let hypervisor = matches!(facts.cpus.hypervisor, Some(Some(_)));
        return Finding::unknown(if hypervisor {
            "frequencies are the hypervisor's business"
        } else {
            "the host does not tell its governors"
        });
    }
    if slow.is_empty() {
        return Finding::ok("performance");
    }
    Finding::problem(
        slow.join(", "),
        "sudo cpupower frequency-set -g performance",
    )
}

/// Whether cores are shared by several CPUs.
pub(super) fn smt(facts: &Facts) -> Finding {
    match facts.cpus.smt_active {
        None => Finding::unknown("the host does not tell"),
        Some(false) => Finding::ok("off"),
        Some(true) => Finding::note(
            "each core runs several threads",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
    }
}

/// Whether the host is a virtual machine.
pub(super) fn virtualisation(facts: &Facts) -> Finding {
    match &facts.cpus.hypervisor {
        None => Finding::unknown("this kind of CPU does not tell"),
        Some(None) => Finding::ok("none"),
        Some(Some(name)) => Finding::note(
            match name.as_str() {
                "" => "a virtual machine".to_owned(),
                name => format!("a virtual machine ({name})"),
            },
            "use bare metal, or give each virtual CPU one of its own on the host: \
             virsh vcpupin DOMAIN VCPU CPU",
        ),
    }
}

/// Whether the hypervisor has taken CPU time from this host.
pub(super) fn stolen(facts: &Facts) -> Finding {
    let Some((stolen, worked)) = facts.cpus.stolen else {
        return Finding::unknown("the host does not tell");
    };
    if stolen == 0 {
        return Finding::ok("none since the start");
    }
    let share = 100.0 * stolen as f64 / stolen.saturating_add(worked) as f64;
    let found = format!("{} s since the start, {share:.2} % of work", stolen / 100);
    let remedy = "on the host, take the quota from the virtual machine (cpu.max of its group) and \
                give each virtual CPU one of its own: virsh vcpupin DOMAIN VCPU CPU";
    // During the start of a machine, others may be starting too.
    if share < MAX_STOLEN_PERCENT {
        Finding::note(found, remedy)
    } else {
        Finding::problem(found, remedy)
    }
}

/// Maximum percentage of stolen time that may be from a past period.
const MAX_STOLEN_PERCENT: f64 = 0.01;

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Problem, Unknown};

    const CPU: &str = "/sys/devices/system/cpu";

    /// A host with files of its CPUs.
    fn host(files: &[(&str, &str)]) -> FakeHost {
        let host = FakeHost::empty();
        for (name, text) in files {
            host.file(&format!("{CPU}/{name}"), text);
        }
        host
    }

    #[test]
    fn cpus_that_we_may_use_count() {
        for (online, allowed, severity, found) in [
            ("0-7", "0-7", Ok, "8"),
            ("0-7", "0", Problem, "1 of 8"),
            ("0-7", "2-3", Note, "2 of 8"),
            ("0", "0", Problem, "1"),
            ("0-2", "x", Note, "3"),
            ("x", "0-3", Ok, "4"),
            ("", "", Unknown, "does not tell"),
        ] {
            let host = host(&[("online", online)]);
            host.file(
                "/proc/self/status",
                format!("Cpus_allowed_list:\t{allowed}\n"),
            );
            host.assert("cpus", severity, found);
        }
    }

    #[test]
    fn isolated_cpus_should_have_no_tick() {
        for (online, isolated, tickless, severity, remedy) in [
            ("0-7", "2-3", "2-3", Ok, ""),
            ("0-7", "2-3", "3", Note, "nohz_full=2-3"),
            ("0-7", "2-3", "(null)", Note, "nohz_full=2-3"),
            ("0-7", "\n", "", Note, "managed_irq,6-7 "),
            ("0-1", "", "", Note, "managed_irq,1 "),
            ("0", "", "", Note, "more CPUs"),
            ("", "", "", Note, "more CPUs"),
            ("0-3", "x", "", Unknown, ""),
        ] {
            let host = host(&[
                ("online", online),
                ("isolated", isolated),
                ("nohz_full", tickless),
            ]);
            let finding = host.assert("isolated-cpus", severity, "");
            assert!(finding.remedy.contains(remedy), "{finding:?}");
        }
        host(&[("isolated", "3")]).assert("isolated-cpus", Note, "periodic tick");
    }

    #[test]
    fn interrupts_keep_away_from_isolated_cpus() {
        for (isolated, effective, allowed, severity, found) in [
            ("2-3", "0", "0-3", Ok, "none on isolated CPUs 2-3"),
            ("2-3", "3", "0-3", Problem, "1 interrupt comes"),
            ("2-3", "x", "0-3", Problem, "1 interrupt comes"),
            ("", "0", "0-3", Note, "every CPU"),
            ("x", "0", "0-3", Note, "every CPU"),
            ("2-3", "", "", Unknown, "does not tell"),
        ] {
            let host = host(&[("online", "0-3"), ("isolated", isolated)]);
            host.file("/proc/irq/9/effective_affinity_list", effective);
            host.file("/proc/irq/9/smp_affinity_list", allowed);
            host.file("/proc/irq/default_smp_affinity", "f");
            host.assert("interrupts", severity, found);
        }
    }

    #[test]
    fn a_balancer_is_stopped_first() {
        let host = host(&[("online", "0-3"), ("isolated", "2-3")]);
        host.file("/proc/irq/9/smp_affinity_list", "0-3");
        host.file("/proc/77/comm", "irqbalance\n");
        let finding = host.assert("interrupts", Problem, "isolated");
        assert!(
            finding
                .remedy
                .starts_with("sudo systemctl disable --now irqbalance; ")
        );
        assert!(finding.remedy.contains("echo 0-1 |"), "{finding:?}");
        host.file(&format!("{CPU}/isolated"), "");
        host.assert("interrupts", Note, "irqbalance moves them");
    }

    #[test]
    fn one_slow_governor_is_too_many() {
        let policy = |number: u32| format!("cpufreq/policy{number}/scaling_governor");
        for (first, second, severity, found) in [
            ("performance\n", "performance\n", Ok, "performance"),
            ("performance", "powersave", Problem, "powersave (CPU 4)"),
            (
                "schedutil",
                "powersave",
                Problem,
                "schedutil (CPU 0), powersave (CPU 4)",
            ),
            ("", "", Unknown, "does not tell"),
        ] {
            let host = host(&[(&policy(0), first), (&policy(4), second)]);
            host.assert("governor", severity, found);
        }
        let host = host(&[]);
        host.file("/proc/cpuinfo", "flags\t\t: hypervisor\n");
        host.assert("governor", Unknown, "hypervisor's business");
    }

    #[test]
    fn cores_are_shared_or_not() {
        for (text, severity) in [("0\n", Ok), ("1\n", Note), ("x", Unknown)] {
            host(&[("smt/active", text)]).assert("smt", severity, "");
        }
    }

    #[test]
    fn stolen_time_is_reported() {
        for (stat, severity, found) in [
            (
                "cpu  900 0 90 500 0 0 0 10 0 0\n",
                Problem,
                "1.00 % of work",
            ),
            ("cpu  900 0 90 500 0 0 0 0 0 0\n", Ok, "none"),
            ("cpu  90000000 0 0 500 0 0 0 500 0 0\n", Note, "5 s since"),
            ("cpu  1 2 3 4 5 6 7\n", Unknown, "does not tell"),
        ] {
            let host = FakeHost::with(&[("/proc/stat", stat)]);
            host.assert("stolen-time", severity, found);
        }
    }

    #[test]
    fn hypervisors_show_themselves() {
        let flags = "processor\t: 0\nflags\t\t: fpu hypervisor sse\n";
        for (files, severity, found) in [
            (&[("/proc/cpuinfo", flags)][..], Note, "a virtual machine"),
            (
                &[
                    ("/proc/cpuinfo", flags),
                    ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
                ],
                Note,
                "(QEMU)",
            ),
            (&[("/proc/cpuinfo", "flags : fpu sse\n")], Ok, "none"),
            (&[("/sys/hypervisor/type", "xen\n")], Note, "(xen)"),
            (
                &[("/proc/cpuinfo", "Features : fp asimd\n")],
                Unknown,
                "does not tell",
            ),
        ] {
            FakeHost::with(files).assert("virtualisation", severity, found);
        }
    }
}
