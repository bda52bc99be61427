// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of preemption, throttling and clocks.

use crate::facts::{Facts, Kernel};
use crate::finding::Finding;

/// The preemption model of the kernel.
pub(super) fn preemption(facts: &Facts) -> Finding {
    let kernel = &facts.kernel;
    // Such as "#1 SMP PREEMPT_DYNAMIC Mon Jan 1".
    let version = kernel.version.as_deref().filter(|text| !text.is_empty());
    let model = version.map(|text| {
        let mut words = text.split_whitespace();
        words.find(|word| word.starts_with("PREEMPT")).unwrap_or("")
    });
    if kernel.is_realtime == Some(true) || model == Some("PREEMPT_RT") {
        return Finding::ok("PREEMPT_RT");
    }
    let dynamic = kernel
        .preempt
        .as_deref()
        .or(kernel.preempt_at_boot.as_deref());
    match (dynamic, model) {
        (Some("full"), _) | (None, Some("PREEMPT")) => Finding::note(
            "full preemption, but not PREEMPT_RT",
            real_time_kernel(kernel),
        ),
        (Some(mode @ ("none" | "voluntary" | "lazy")), _) => Finding::problem(
            format!("{mode} preemption"),
            format!(
                "echo full | sudo tee /sys/kernel/debug/sched/preempt; for bounds: {}",
                real_time_kernel(kernel)
            ),
        ),
        (_, Some("PREEMPT_DYNAMIC")) => Finding::note(
            "not PREEMPT_RT; which preemption is chosen only root can read, where debugfs is mounted",
            format!(
                "echo full | sudo tee /sys/kernel/debug/sched/preempt; for bounds: {}",
                real_time_kernel(kernel)
            ),
        ),
        (_, Some("PREEMPT_LAZY")) => Finding::problem("lazy preemption", real_time_kernel(kernel)),
        (_, Some("")) => Finding::problem("no preemption, or voluntary", real_time_kernel(kernel)),
        _ => Finding::unknown("the kernel's version does not tell"),
    }
}

/// The way to install a PREEMPT_RT kernel on this distribution.
fn real_time_kernel(kernel: &Kernel) -> String {
    let debian = match std::env::consts::ARCH {
        "x86_64" => "sudo apt install linux-image-rt-amd64",
        "aarch64" => "sudo apt install linux-image-rt-arm64",
        _ => "sudo apt install a linux-image-rt package",
    };
    match kernel.distribution.as_deref() {
        Some("debian") => debian,
        Some("ubuntu") => "sudo pro enable realtime-kernel",
        Some("rhel" | "centos" | "rocky" | "almalinux") => "sudo dnf install kernel-rt",
        Some("arch") => "sudo pacman -S linux-rt",
        _ => "boot a kernel built with CONFIG_PREEMPT_RT=y",
    }
    .to_owned()
}

/// Whether real-time threads are throttled.
pub(super) fn throttling(facts: &Facts) -> Finding {
    let kernel = &facts.kernel;
    let remedy = "sudo sysctl -w kernel.sched_rt_runtime_us=-1";
    let Some(runtime) = kernel.rt_runtime else {
        return Finding::unknown("no kernel.sched_rt_runtime_us");
    };
    let period = kernel
        .rt_period
        .filter(|period| *period > 0)
        .unwrap_or(1_000_000);
    match runtime {
        ..0 => fair_server(kernel.fair_server),
        0 => Finding::problem("real-time threads may not run at all", remedy),
        _ if runtime >= period => fair_server(kernel.fair_server),
        // A share of 95 percent is the default, and protects against a thread that never ends.
        _ if i128::from(runtime) * 100 >= i128::from(period) * 95 => Finding::note(
            format!("real-time threads may run {runtime} us of each {period} us"),
            remedy,
        ),
        _ => Finding::problem(
            format!("real-time threads may run only {runtime} us of each {period} us"),
            remedy,
        ),
    }
}

/// Without throttling, ordinary threads may nevertheless preempt real-time threads, from Linux 6.12
/// on.
fn fair_server(nanoseconds: Option<u64>) -> Finding {
    match nanoseconds {
        None | Some(0) => Finding::ok("none"),
        Some(nanoseconds) => Finding::note(
            format!(
                "none, but ordinary threads that starve are given {} us of each second",
                nanoseconds / 1000
            ),
            "echo 0 | sudo tee /sys/kernel/debug/sched/fair_server/cpu*/runtime",
        ),
    }
}

/// The cost of reading the clock.
pub(super) fn clock_source(facts: &Facts) -> Finding {
    let Some(name) = facts.kernel.clock_source.as_deref() else {
        return Finding::unknown("the kernel does not name its clock source");
    };
    let remedy = if facts
        .kernel
        .clock_sources
        .iter()
        .any(|known| known == "tsc")
    {
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
    } else {
        "boot with tsc=reliable, if the manual of the machine says that its TSC is"
    };
    match name {
        "tsc" | "arch_sys_counter" | "timebase" | "tod" | "riscv_clocksource" => Finding::ok(name),
        "hpet" | "acpi_pm" | "jiffies" | "pit" | "refined-jiffies" => Finding::problem(
            format!("{name}, which takes a microsecond or is too coarse"),
            remedy,
        ),
        "kvm-clock" | "xen" | "hyperv_clocksource_tsc_page" | "hyperv_clocksource_msr" => {
            Finding::note(format!("{name}, a clock of the hypervisor"), remedy)
        }
        _ => Finding::unknown(format!("{name}, of which nothing is known here")),
    }
}

/// The timer slack.
pub(super) fn timer_slack(facts: &Facts) -> Finding {
    // Children inherit it, and a shell can set its own.
    let remedy = "echo 1 > /proc/$$/timerslack_ns, in the shell that starts the program; \
                threads with SCHED_FIFO have none";
    match facts.kernel.timer_slack {
        None => Finding::unknown("no /proc/self/timerslack_ns"),
        Some(slack @ ..=1_000) => Finding::ok(format!("{slack} ns")),
        Some(slack @ ..=1_000_000) => Finding::note(format!("{slack} ns"), remedy),
        Some(slack) => Finding::problem(format!("{slack} ns"), remedy),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Problem, Unknown};

    const VERSION: &str = "/proc/sys/kernel/version";
    const CHOSEN: &str = "/sys/kernel/debug/sched/preempt";

    #[test]
    fn preemption_is_read_from_any_source() {
        for (files, severity, found) in [
            (&[("/sys/kernel/realtime", "1")][..], Ok, "PREEMPT_RT"),
            (&[(VERSION, "#1 SMP PREEMPT_RT Mon")], Ok, "PREEMPT_RT"),
            (&[(VERSION, "#1 SMP PREEMPT Mon")], Note, "full"),
            (
                &[(VERSION, "#1 SMP PREEMPT_DYNAMIC Mon")],
                Note,
                "only root",
            ),
            (&[(VERSION, "#1 SMP PREEMPT_LAZY Mon")], Problem, "lazy"),
            (&[(VERSION, "#1 SMP Mon")], Problem, "voluntary"),
            (&[("/sys/kernel/realtime", "0")], Unknown, "does not tell"),
            (
                &[
                    (VERSION, "#1 SMP PREEMPT_DYNAMIC"),
                    (CHOSEN, "none voluntary (full) lazy"),
                ],
                Note,
                "full",
            ),
            (
                &[
                    (VERSION, "#1 SMP PREEMPT_DYNAMIC"),
                    (CHOSEN, "none (voluntary) full"),
                ],
                Problem,
                "voluntary",
            ),
            (
                &[
                    (VERSION, "#1 SMP PREEMPT_DYNAMIC"),
                    (CHOSEN, "none voluntary full (lazy)"),
                ],
                Problem,
                "lazy",
            ),
            (
                &[
                    (VERSION, "#1 PREEMPT_DYNAMIC"),
                    ("/proc/cmdline", "quiet preempt=none ro\n"),
                ],
                Problem,
                "none",
            ),
            (
                // The present choice counts, not that at boot.
                &[
                    (CHOSEN, "none voluntary (full)"),
                    ("/proc/cmdline", "preempt=none"),
                ],
                Note,
                "full",
            ),
        ] {
            FakeHost::with(files).assert("preemption", severity, found);
        }
    }

    #[test]
    fn the_distribution_decides_where_the_kernel_comes_from() {
        for (id, command) in [
            ("ID=ubuntu\n", "pro enable realtime-kernel"),
            ("NAME=x\nID=\"rhel\"\n", "dnf install kernel-rt"),
            ("ID=debian", "apt install"),
            ("ID=arch", "pacman -S linux-rt"),
            ("ID=other", "CONFIG_PREEMPT_RT"),
        ] {
            let host = FakeHost::with(&[("/etc/os-release", id), (VERSION, "#1 SMP PREEMPT")]);
            let finding = host.finding("preemption");
            assert!(finding.remedy.contains(command), "{finding:?}");
        }
    }

    #[test]
    fn throttling_is_a_share_of_the_period() {
        for (runtime, period, severity, found) in [
            ("-1", "1000000", Ok, "none"),
            ("1000000", "1000000", Ok, "none"),
            ("950000", "1000000", Note, "950000 us of each 1000000 us"),
            ("500000", "1000000", Problem, "only 500000"),
            ("0", "1000000", Problem, "not run at all"),
            ("950000", "nonsense", Note, "950000"),
            ("950000", "0", Note, "950000"),
            ("nonsense", "1000000", Unknown, "sched_rt_runtime_us"),
        ] {
            let host = FakeHost::with(&[
                ("/proc/sys/kernel/sched_rt_runtime_us", runtime),
                ("/proc/sys/kernel/sched_rt_period_us", period),
            ]);
            host.assert("rt-throttling", severity, found);
        }
        for (given, severity, found) in [
            ("0", Ok, "none"),
            ("nonsense", Ok, "none"),
            ("50000000", Note, "50000 us of each second"),
        ] {
            let host = FakeHost::with(&[
                ("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
                ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", given),
            ]);
            host.assert("rt-throttling", severity, found);
        }
    }

    #[test]
    fn clock_sources_are_known_by_name() {
        let clock = "/sys/devices/system/clocksource/clocksource0";
        for (name, available, severity, remedy) in [
            ("tsc\n", "tsc hpet", Ok, ""),
            ("arch_sys_counter", "arch_sys_counter", Ok, ""),
            ("hpet", "tsc hpet acpi_pm", Problem, "echo tsc"),
            ("acpi_pm", "acpi_pm", Problem, "tsc=reliable"),
            ("kvm-clock", "kvm-clock tsc", Note, "echo tsc"),
            ("sundial", "", Unknown, ""),
            ("", "", Unknown, ""),
        ] {
            let host = FakeHost::with(&[
                (&format!("{clock}/current_clocksource"), name),
                (&format!("{clock}/available_clocksource"), available),
            ]);
            let finding = host.assert("clock-source", severity, "");
            assert!(finding.remedy.contains(remedy), "{finding:?}");
        }
    }

    #[test]
    fn slack_is_a_matter_of_size() {
        for (slack, severity) in [
            ("0", Ok),
            ("1000", Ok),
            ("50000", Note),
            ("40000000", Problem),
            ("-1", Unknown),
        ] {
            let host = FakeHost::with(&[("/proc/self/timerslack_ns", slack)]);
            host.assert("timer-slack", severity, "");
        }
    }
}
