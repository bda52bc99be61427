// SPDX-License-Identifier: MIT OR Apache-2.0
//! Derives a plan from the findings of the doctor. The host is not changed.

use std::str::FromStr;

use crate::finding::Severity;
use crate::judge::{CHECKS, Check};

use super::cpu_list::CpuList;
use super::facts::Facts;
use super::plan::{Left, Plan};
use super::settings::{self, LIMITS};
use super::steering;
use super::step::{Change, Create, Filter, Schedule, Step, Write};
use super::tree::Tree;

/// The checks that one file of limits remedies.
const LIMIT_CHECKS: [&str; 3] = ["rt-priority", "locked-memory", "open-files"];
/// The check of interrupts.
const INTERRUPTS: &str = "interrupts";

/// Goals of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanRequest<'a> {
    /// These checks only. If it is empty, all of them without another goal, and those of limits with
    /// a user.
    pub only: &'a [String],
    /// Interfaces for which kernel threads receive.
    pub napi: &'a [Napi],
    /// Ports that are steered to a queue.
    pub steer: &'a [Steer],
    /// The user, or the group behind `@`, for limits.
    pub user: Option<&'a str>,
}

/// An interface, and the priority of its receiving threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Napi {
    interface: String,
    fifo: i32,
}

/// A port of an interface, and its receive queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steer {
    interface: String,
    port: u16,
    queue: u32,
}

impl FromStr for Napi {
    type Err = String;

    /// `INTERFACE=PRIORITY`
    fn from_str(text: &str) -> Result<Self, String> {
        let (interface, fifo) = text.split_once('=').ok_or("not INTERFACE=PRIORITY")?;
        let fifo = fifo.parse().map_err(|_| "the priority is no number")?;
        let napi = Self {
            interface: interface.to_owned(),
            fifo,
        };
        settings::validate(&napi.change())?;
        Ok(napi)
    }
}

impl Napi {
    fn change(&self) -> Change {
        Change::Schedule(Schedule {
            interface: self.interface.clone(),
            fifo: self.fifo,
            before: Vec::new(),
        })
    }
}

impl FromStr for Steer {
    type Err = String;

    /// `INTERFACE:PORT=QUEUE`
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "not INTERFACE:PORT=QUEUE";
        let (place, queue) = text.rsplit_once('=').ok_or(form)?;
        let (interface, port) = place.rsplit_once(':').ok_or(form)?;
        if !settings::is_interface(interface) {
            return Err(format!("{interface:?} cannot be the name of an interface"));
        }
        Ok(Self {
            interface: interface.to_owned(),
            port: port
                .parse()
                .map_err(|_| "the port is no number of 16 bits")?,
            queue: queue.parse().map_err(|_| "the queue is no number")?,
        })
    }
}

/// Makes a plan for the host of a tree. The host is not changed.
///
/// # Errors
/// One sentence, if an interface does not support a requested change.
pub fn plan(tree: &Tree, request: &PlanRequest<'_>) -> Result<Plan, String> {
    let host = Host {
        facts: Facts::collect(tree),
        tree,
        user: request.user,
    };
    let mut plan = Plan::default();
    let checks_all = request.napi.is_empty() && request.steer.is_empty();
    for check in CHECKS {
        // The findings are those of this process, which may be root: the named user has other limits.
        let is_of_user = request.user.is_some() && LIMIT_CHECKS.contains(&check.name);
        let is_wanted = match request.only {
            [] => checks_all || is_of_user,
            only => only.iter().any(|name| name == check.name),
        };
        if is_wanted {
            add(&mut plan, check, &host, is_of_user);
        }
    }
    for napi in request.napi {
        push(&mut plan, "napi", host.receiving_threads(napi)?);
    }
    for steered in request.steer {
        push(&mut plan, "steer", vec![host.filter(steered)?]);
    }
    Ok(plan)
}

/// Adds the changes of a check, or leaves its finding to the administrator. Without a finding there are
/// changes only if they are requested.
fn add(plan: &mut Plan, check: &Check, host: &Host<'_>, is_requested: bool) {
    let finding = check.judge(&host.facts);
    let is_wrong = matches!(finding.severity, Severity::Note | Severity::Problem);
    if !is_wrong && !is_requested {
        return;
    }
    let changes = host.changes(check.name);
    let immovable = match check.name {
        INTERRUPTS => host.immovable(),
        _ => None,
    };
    if immovable.is_some() {
        plan.left.extend(immovable);
    } else if is_wrong && changes.is_empty() {
        plan.left.push(Left {
            check: check.name.to_owned(),
            found: finding.found,
            remedy: finding.remedy,
        });
    }
    push(plan, check.name, changes);
}

/// Three checks share one file of limits: a change that is already planned is not added again.
fn push(plan: &mut Plan, check: &str, changes: Vec<Change>) {
    for change in changes {
        if plan.step.iter().all(|step| step.change != change) {
            plan.step.push(Step {
                check: check.to_owned(),
                change,
            });
        }
    }
}

/// The file of the processors of an interrupt.
fn affinity(irq: u32) -> String {
    format!("/proc/irq/{irq}/smp_affinity_list")
}

struct Host<'a> {
    facts: Facts,
    tree: &'a Tree,
    user: Option<&'a str>,
}

impl Host<'_> {
    /// The changes for the finding of a check; empty if it is left to the administrator.
    fn changes(&self, check: &str) -> Vec<Change> {
        let core = |name: &str| format!("/proc/sys/net/core/{name}");
        match check {
            "preemption" => self.set("/sys/kernel/debug/sched/preempt", "full"),
            "rt-throttling" => self.set("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
            "huge-pages" => self.set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),
            "qdisc" => self.set(&core("default_qdisc"), "fq"),
            "busy-poll" => [core("busy_poll"), core("busy_read")]
                .iter()
                .flat_map(|file| self.raise(file, 50))
                .collect(),
            "socket-buffers" => [core("rmem_max"), core("wmem_max")]
                .iter()
                .flat_map(|file| self.raise(file, 4 << 20))
                .collect(),
            "governor" => self.governors(),
            "clock-source" => self.clock_source(),
            INTERRUPTS => self.interrupts(),
            limit if LIMIT_CHECKS.contains(&limit) => self.limits(),
            _ => Vec::new(),
        }
    }

    /// Sets an existing setting to another value.
    fn set(&self, file: &str, to: &str) -> Vec<Change> {
        let from = settings::value(self.tree, file).filter(|from| !from.is_empty() && from != to);
        let change = from.map(|from| {
            Change::Write(Write {
                file: file.to_owned(),
                from,
                to: to.to_owned(),
            })
        });
        change.into_iter().collect()
    }

    /// Raises a numeric value.
    fn raise(&self, file: &str, to: u64) -> Vec<Change> {
        match self.tree.number::<u64>(file) {
            Some(from) if from < to => self.set(file, &to.to_string()),
            _ => Vec::new(),
        }
    }

    fn governors(&self) -> Vec<Change> {
        let folder = "/sys/devices/system/cpu/cpufreq";
        let policies = self.tree.entries(folder).into_iter();
        policies
            .map(|policy| format!("{folder}/{policy}"))
            .filter(|policy| {
                let known = self
                    .tree
                    .text(&format!("{policy}/scaling_available_governors"));
                known.is_some_and(|text| text.split_whitespace().any(|name| name == "performance"))
            })
            .flat_map(|policy| self.set(&format!("{policy}/scaling_governor"), "performance"))
            .collect()
    }

    fn clock_source(&self) -> Vec<Change> {
        let sources = &self.facts.kernel.clock_sources;
        if !sources.iter().any(|name| name == "tsc") {
            return Vec::new();
        }
        let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        self.set(file, "tsc")
    }

    /// Moves interrupts off the isolated processors, as far as the others can handle them and the
    /// kernel permits it.
    fn interrupts(&self) -> Vec<Change> {
        let isolated = self.isolated();
        let online = self.facts.cpus.online.clone().unwrap_or_default();
        let others = online.without(&isolated);
        if isolated.is_empty() || others.is_empty() {
            return Vec::new();
        }
        self.interrupts_on(&isolated)
            .map(affinity)
            .filter(|file| self.tree.is_writable(file))
            .flat_map(|file| self.set(&file, &others.to_string()))
            .collect()
    }

    /// The interrupts on isolated processors that the kernel manages itself.
    fn immovable(&self) -> Option<Left> {
        let isolated = self.isolated();
        let immovable = self.interrupts_on(&isolated).filter(|irq| {
            let file = affinity(*irq);
            self.tree.has(&file) && !self.tree.is_writable(&file)
        });
        let numbers: Vec<String> = immovable.map(|irq| irq.to_string()).collect();
        (!numbers.is_empty()).then(|| Left {
            check: INTERRUPTS.to_owned(),
            found: format!("the kernel does not move these: {}", numbers.join(", ")),
            remedy:
                "boot with isolcpus=managed_irq,CPUS: the kernel then avoids these CPUs where an \
                     interrupt has others"
                    .to_owned(),
        })
    }

    fn isolated(&self) -> CpuList {
        self.facts.cpus.isolated.clone().unwrap_or_default()
    }

    fn interrupts_on(&self, cpus: &CpuList) -> impl Iterator<Item = u32> {
        let interrupts = self.facts.interrupts.cpus.iter();
        let meeting = interrupts.filter(move |(_, of_irq)| of_irq.meets(cpus));
        meeting.map(|(irq, _)| *irq)
    }

    /// A file of limits for the user, if one was named and the file does not exist.
    fn limits(&self) -> Vec<Change> {
        let Some(user) = self.user.filter(|_| !self.tree.has(LIMITS)) else {
            return Vec::new();
        };
        let text = [
            ("rtprio", "99"),
            ("memlock", "unlimited"),
            ("nofile", "65536"),
        ]
        .map(|(item, value)| format!("{user} - {item} {value}\n"))
        .concat();
        vec![Change::Create(Create {
            file: LIMITS.to_owned(),
            text,
        })]
    }

    fn receiving_threads(&self, napi: &Napi) -> Result<Vec<Change>, String> {
        let file = format!("/sys/class/net/{}/threaded", napi.interface);
        if !self.tree.has(&file) {
            return Err(format!(
                "{}: no such interface, or its kernel has no threaded NAPI",
                napi.interface
            ));
        }
        let mut changes = self.set(&file, "1");
        changes.push(napi.change());
        Ok(changes)
    }

    fn filter(&self, wish: &Steer) -> Result<Change, String> {
        let interface = &wish.interface;
        let queue = format!("/sys/class/net/{interface}/queues/rx-{}", wish.queue);
        if !self.tree.has(&queue) {
            return Err(format!("{interface} has no receive queue {}", wish.queue));
        }
        Ok(Change::Steer(Filter {
            interface: interface.clone(),
            port: wish.port,
            queue: wish.queue,
            enable: steering::must_be_enabled(interface)?,
            rules: Vec::new(),
        }))
    }
}
