// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about the host, from its files. They are not evaluated here, and missing or invalid ones
//! are none.

use super::cgroup::Cgroups;
use super::cpu_list::CpuList;
use super::nats::NatsServer;
use super::tree::{Tree, shown};

/// All facts for the checks.
#[derive(Debug)]
pub struct Facts {
    /// The kernel and its clocks.
    pub kernel: Kernel,
    pub(crate) limits: Limits,
    pub(crate) cpus: Cpus,
    pub(crate) memory: Memory,
    pub(crate) network: Network,
    pub(crate) interrupts: Interrupts,
    pub(crate) cgroups: Option<Cgroups>,
    /// NATS servers; none if processes are not visible.
    pub(crate) nats: Option<Vec<NatsServer>>,
    /// Whether SCHED_FIFO was granted to a thread of this process; none if it was not tried.
    pub(crate) fifo: Option<Result<(), String>>,
}

impl Facts {
    /// Reads the facts from files, without trying SCHED_FIFO.
    #[must_use]
    pub fn collect(tree: &Tree) -> Self {
        Self {
            kernel: Kernel::collect(tree),
            limits: Limits::collect(tree),
            cpus: Cpus::collect(tree),
            memory: Memory::collect(tree),
            network: Network::collect(tree),
            interrupts: Interrupts::collect(tree),
            cgroups: Cgroups::collect(tree),
            nats: NatsServer::collect(tree),
            fifo: None,
        }
    }

    /// Adds whether this process may use SCHED_FIFO, by an attempt on a temporary thread.
    #[must_use]
    pub fn with_trial(mut self) -> Self {
        self.fifo = try_fifo();
        self
    }
}

/// Whether SCHED_FIFO is granted to a thread of this process.
#[cfg(target_os = "linux")]
fn try_fifo() -> Option<Result<(), String>> {
    use orbium_sys::{RealTimeError, Scheduling};

    let tried = Scheduling::fifo(1).try_out();
    Some(tried.map_err(|error| match error {
        RealTimeError::PriorityNotPermitted(_) => "not permitted".to_owned(),
        other => other.to_string(),
    }))
}

/// There is no SCHED_FIFO to try.
#[cfg(not(target_os = "linux"))]
fn try_fifo() -> Option<Result<(), String>> {
    None
}

/// The kernel and its clocks.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The output of `uname -r`.
    pub release: Option<String>,
    /// The output of `uname -v`.
    pub version: Option<String>,
    /// The distribution's short name, from `os-release`.
    pub(crate) distribution: Option<String>,
    /// Whether the kernel reports that it is PREEMPT_RT.
    pub(crate) is_realtime: Option<bool>,
    /// The mode chosen in `debug/sched/preempt`, which only root can read.
    pub(crate) preempt: Option<String>,
    /// `preempt=` of the kernel's command line.
    pub(crate) preempt_at_boot: Option<String>,
    /// Microseconds of each period that real-time threads may run; -1: all.
    pub(crate) rt_runtime: Option<i64>,
    /// The period, in microseconds.
    pub(crate) rt_period: Option<i64>,
    /// Nanoseconds of each second for starving ordinary threads on a processor that real-time
    /// threads keep busy; only root can read it.
    pub(crate) fair_server: Option<u64>,
    /// Timer slack of this process in nanoseconds.
    pub(crate) timer_slack: Option<u64>,
    pub(crate) clock_source: Option<String>,
    pub(crate) clock_sources: Vec<String>,
}

impl Kernel {
    fn collect(tree: &Tree) -> Self {
        let clock = "/sys/devices/system/clocksource/clocksource0";
        Self {
            release: tree.line("/proc/sys/kernel/osrelease"),
            version: tree.line("/proc/sys/kernel/version"),
            distribution: tree.text("/etc/os-release").and_then(|text| {
                let id = text.lines().find_map(|line| line.strip_prefix("ID="))?;
                Some(shown(id.trim_matches(['"', '\''])))
            }),
            is_realtime: tree
                .number::<u8>("/sys/kernel/realtime")
                .map(|flag| flag == 1),
            preempt: tree.chosen("/sys/kernel/debug/sched/preempt", '(', ')'),
            preempt_at_boot: tree.text("/proc/cmdline").and_then(|text| {
                let words = text.split_whitespace();
                words
                    .rev()
                    .find_map(|word| word.strip_prefix("preempt="))
                    .map(shown)
            }),
            rt_runtime: tree.number("/proc/sys/kernel/sched_rt_runtime_us"),
            rt_period: tree.number("/proc/sys/kernel/sched_rt_period_us"),
            fair_server: tree.number("/sys/kernel/debug/sched/fair_server/cpu0/runtime"),
            timer_slack: tree.number("/proc/self/timerslack_ns"),
            clock_source: tree
                .line(&format!("{clock}/current_clocksource"))
                .filter(|name| !name.is_empty()),
            clock_sources: tree
                .text(&format!("{clock}/available_clocksource"))
                .map(|text| text.split_whitespace().map(shown).collect())
                .unwrap_or_default(),
        }
    }
}

/// The resource limits of this process.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) real_time_priority: Option<Limit>,
    /// In bytes.
    pub(crate) locked_memory: Option<Limit>,
    pub(crate) open_files: Option<Limit>,
    /// The bits of `CapEff`.
    capabilities: Option<u64>,
}

/// Soft and hard; none is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) soft: Option<u64>,
    pub(crate) hard: Option<u64>,
}

impl Limits {
    fn collect(tree: &Tree) -> Self {
        let text = tree.text("/proc/self/limits").unwrap_or_default();
        Self {
            real_time_priority: limit(&text, "Max realtime priority"),
            locked_memory: limit(&text, "Max locked memory"),
            open_files: limit(&text, "Max open files"),
            capabilities: status(tree, "CapEff")
                .and_then(|digits| u64::from_str_radix(&digits, 16).ok()),
        }
    }

    /// Whether this process has `CAP_SYS_NICE`: any policy and any priority.
    pub(crate) fn may_set_priorities(&self) -> bool {
        self.has_capability(23)
    }

    /// Whether this process has `CAP_IPC_LOCK`: any amount of locked memory.
    pub(crate) fn may_lock_memory(&self) -> bool {
        self.has_capability(14)
    }

    fn has_capability(&self, bit: u32) -> bool {
        self.capabilities.is_some_and(|bits| bits >> bit & 1 == 1)
    }
}

/// Soft and hard of one line of `limits`.
fn limit(text: &str, name: &str) -> Option<Limit> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let mut values = line.split_whitespace();
    let mut value = || match values.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Limit {
        soft: value()?,
        hard: value()?,
    })
}

/// The value of a line of `status`.
fn status(tree: &Tree, name: &str) -> Option<String> {
    let text = tree.text("/proc/self/status")?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// The CPUs.
#[derive(Debug)]
pub(crate) struct Cpus {
    pub(crate) online: Option<CpuList>,
    /// The CPUs that this process may run on.
    pub(crate) allowed: Option<CpuList>,
    pub(crate) isolated: Option<CpuList>,
    /// The CPUs without a periodic tick.
    pub(crate) tickless: Option<CpuList>,
    /// Governors in use, each with one of its CPUs.
    pub(crate) governors: Vec<(String, u32)>,
    pub(crate) smt_active: Option<bool>,
    /// The hypervisor, or `""` if it has no name; none on bare metal; unknown if this kind of CPU
    /// does not report it.
    pub(crate) hypervisor: Option<Option<String>>,
    /// Hundredths of a second that the hypervisor took from all CPUs since the start, and those of
    /// all other time.
    pub(crate) stolen: Option<(u64, u64)>,
}

impl Cpus {
    fn collect(tree: &Tree) -> Self {
        let list =
            |name: &str| CpuList::parse(&tree.text(&format!("/sys/devices/system/cpu/{name}"))?);
        Self {
            online: list("online").filter(|cpus| !cpus.is_empty()),
            allowed: status(tree, "Cpus_allowed_list")
                .and_then(|text| CpuList::parse(&text))
                .filter(|cpus| !cpus.is_empty()),
            isolated: list("isolated"),
            tickless: list("nohz_full"),
            governors: governors(tree),
            smt_active: tree
                .number::<u8>("/sys/devices/system/cpu/smt/active")
                .map(|flag| flag == 1),
            hypervisor: hypervisor(tree),
            stolen: stolen(tree),
        }
    }
}

fn governors(tree: &Tree) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = vec![];
    // One policy applies to all CPUs that change frequency together, and is named after the first
    // of them.
    for number in 0..1024_u32 {
        let path = format!("/sys/devices/system/cpu/cpufreq/policy{number}/scaling_governor");
        let Some(name) = tree.line(&path).filter(|name| !name.is_empty()) else {
            continue;
        };
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, number));
        }
    }
    found
}

/// The numbers of the first line: user, nice, system, idle, iowait, irq, softirq,
/// steal.
fn stolen(tree: &Tree) -> Option<(u64, u64)> {
    let text = tree.text("/proc/stat")?;
    let all = text.lines().next()?.strip_prefix("cpu ")?;
    let all: Vec<u64> = all
        .split_whitespace()
        .map_while(|number| number.parse().ok())
        .collect();
    let [user, nice, system, _, _, irq, softirq, stolen, ..] = *all else {
        return None;
    };
    let worked = [user, nice, system, irq, softirq];
    Some((stolen, worked.into_iter().fold(0, u64::saturating_add)))
}

fn hypervisor(tree: &Tree) -> Option<Option<String>> {
    let named = tree
        .line("/sys/hypervisor/type")
        .or_else(|| tree.line("/proc/device-tree/hypervisor/compatible"));
    if named.is_some() {
        return Some(named);
    }
    let text = tree.text("/proc/cpuinfo")?;
    let flags = text.lines().find_map(|line| {
        let (key, flags) = line.split_once(':')?;
        (key.trim() == "flags").then_some(flags)
    })?;
    if !flags.split_whitespace().any(|flag| flag == "hypervisor") {
        return Some(None);
    }
    Some(Some(
        tree.line("/sys/class/dmi/id/sys_vendor")
            .unwrap_or_default(),
    ))
}

/// Pages.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Areas of swap, and kibibytes in use.
    pub(crate) swap: Option<(usize, u64)>,
    /// `always`, `madvise` or `never`.
    pub(crate) huge_pages: Option<String>,
    /// Whether the kernel supports transparent huge pages.
    pub(crate) has_huge_pages: bool,
}

impl Memory {
    fn collect(tree: &Tree) -> Self {
        Self {
            swap: tree.text("/proc/swaps").map(|text| {
                let areas = text.lines().skip(1).filter(|line| !line.trim().is_empty());
                areas.fold((0, 0), |(count, used), line| {
                    let field = line.split_whitespace().nth(3);
                    let more = field.and_then(|text| text.parse().ok()).unwrap_or(0);
                    (count + 1, u64::saturating_add(used, more))
                })
            }),
            huge_pages: tree.chosen("/sys/kernel/mm/transparent_hugepage/enabled", '[', ']'),
            has_huge_pages: tree.has("/sys/kernel/mm/transparent_hugepage"),
        }
    }
}

/// Settings of `net.core`.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) queueing: Option<String>,
    /// Microseconds.
    pub(crate) busy_poll: Option<u64>,
    /// Microseconds.
    pub(crate) busy_read: Option<u64>,
    /// Bytes.
    pub(crate) receive_buffer: Option<u64>,
    /// Bytes.
    pub(crate) send_buffer: Option<u64>,
}

impl Network {
    fn collect(tree: &Tree) -> Self {
        let core = |name: &str| tree.number(&format!("/proc/sys/net/core/{name}"));
        Self {
            queueing: tree
                .line("/proc/sys/net/core/default_qdisc")
                .filter(|name| !name.is_empty()),
            busy_poll: core("busy_poll"),
            busy_read: core("busy_read"),
            receive_buffer: core("rmem_max"),
            send_buffer: core("wmem_max"),
        }
    }
}

/// The affinities of interrupts.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// The CPUs of each interrupt.
    pub(crate) cpus: Vec<(u32, CpuList)>,
    /// Whether `irqbalance` runs, as far as processes are visible.
    pub(crate) is_balanced: bool,
}

impl Interrupts {
    fn collect(tree: &Tree) -> Self {
        let cpus_of = |irq: u32| {
            let list = |name: &str| CpuList::parse(&tree.text(&format!("/proc/irq/{irq}/{name}"))?);
            // The effective affinity, if the kernel shows it; otherwise the permitted one.
            list("effective_affinity_list").or_else(|| list("smp_affinity_list"))
        };
        let irqs = tree.numbered("/proc/irq").unwrap_or_default();
        let is_balancer =
            |pid: u32| tree.line(&format!("/proc/{pid}/comm")).as_deref() == Some("irqbalance");
        Self {
            cpus: irqs
                .into_iter()
                .filter_map(|irq| Some((irq, cpus_of(irq).filter(|cpus| !cpus.is_empty())?)))
                .collect(),
            is_balanced: tree
                .numbered("/proc")
                .is_some_and(|pids| pids.into_iter().any(is_balancer)),
        }
    }
}
