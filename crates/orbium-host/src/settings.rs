// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings that may be changed, and the format of their files.

use super::step::{Change, Create, Filter, Schedule, Write};
use super::tree::Tree;

/// The file of limits for `pam_limits`, which belongs to no package.
pub(crate) const LIMITS: &str = "/etc/security/limits.d/orbium-host.conf";
/// Maximum characters of a value: a list of processors may be long, and the kernel shows a page of
/// it.
const MAX_VALUE: usize = 4096;
/// Maximum bytes of a file of limits.
const MAX_LIMITS: usize = 4096;
/// The length of an interface name is less than this (IFNAMSIZ).
const MAX_INTERFACE: usize = 16;
/// The maximum priority: critical threads of the kernel, such as migration, have 99.
const MAX_FIFO: i32 = 98;

/// The format of a value in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// The value is the whole content of the file.
    Alone,
    /// One of several words, between these.
    Between(char, char),
}

/// The processors of an interrupt.
const INTERRUPT: &str = "/proc/irq/*/smp_affinity_list";

/// A file; `*` stands for one name. Then the format of its value.
const SETTINGS: &[(&str, Shown)] = &[
    (INTERRUPT, Shown::Alone),
    ("/proc/sys/kernel/sched_rt_runtime_us", Shown::Alone),
    ("/proc/sys/net/core/busy_poll", Shown::Alone),
    ("/proc/sys/net/core/busy_read", Shown::Alone),
    ("/proc/sys/net/core/default_qdisc", Shown::Alone),
    ("/proc/sys/net/core/rmem_max", Shown::Alone),
    ("/proc/sys/net/core/wmem_max", Shown::Alone),
    ("/sys/class/net/*/threaded", Shown::Alone),
    (
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        Shown::Alone,
    ),
    (
        "/sys/devices/system/cpu/cpufreq/*/scaling_governor",
        Shown::Alone,
    ),
    ("/sys/kernel/debug/sched/preempt", Shown::Between('(', ')')),
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        Shown::Between('[', ']'),
    ),
];

/// The setting of a file.
fn setting(file: &str) -> Option<(&'static str, Shown)> {
    let is_meant = |pattern: &str| {
        let (mut names, mut patterns) = (file.split('/'), pattern.split('/'));
        loop {
            match (names.next(), patterns.next()) {
                (None, None) => return true,
                (Some(name), Some("*")) if is_name(name) => {}
                (Some(name), Some(pattern)) if name == pattern => {}
                _ => return false,
            }
        }
    };
    let mut settings = SETTINGS.iter().copied();
    settings.find(|(pattern, _)| is_meant(pattern))
}

/// Whether it is the name of one entry of a folder, and cannot be interpreted as an option.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:@-".contains(c);
    !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_plain)
}

/// Whether it is a valid name of an interface.
pub(crate) fn is_interface(name: &str) -> bool {
    is_name(name) && name.len() < MAX_INTERFACE
}

/// Whether it is a valid name of a user, or of a group behind `@`.
#[must_use]
pub fn is_user(name: &str) -> bool {
    let name = name.strip_prefix('@').unwrap_or(name);
    is_name(name) && name.len() <= 64
}

/// The value of a setting, if there is one.
pub(crate) fn value(tree: &Tree, file: &str) -> Option<String> {
    match setting(file)?.1 {
        Shown::Alone => tree.whole_line(file),
        // In the copy of a host a written word stands alone.
        Shown::Between(open, close) => tree
            .chosen(file, open, close)
            .or_else(|| tree.line(file).filter(|line| !line.contains(' '))),
    }
}

/// Whether a setting was removed from the host: the interface, for example, to which it belonged. A
/// file system that is not mounted, or a folder that cannot be searched, removes no setting.
pub(crate) fn is_removed(tree: &Tree, file: &str) -> bool {
    let Some((pattern, _)) = setting(file) else {
        return false;
    };
    let folder = pattern
        .split_once("/*")
        .or_else(|| pattern.rsplit_once('/'));
    folder.is_some_and(|(folder, _)| tree.has_lost(folder, file))
}

/// Whether a setting has the processors of an interrupt.
pub(crate) fn is_interrupt(file: &str) -> bool {
    setting(file).is_some_and(|(pattern, _)| pattern == INTERRUPT)
}

/// Validates that a change is permitted.
pub(crate) fn validate(change: &Change) -> Result<(), String> {
    match change {
        Change::Write(write) => validate_write(write),
        Change::Create(create) => validate_create(create),
        Change::Schedule(schedule) => validate_schedule(schedule),
        Change::Steer(Filter { interface, .. }) => validate_interface(interface),
    }
}

fn validate_write(write: &Write) -> Result<(), String> {
    setting(&write.file).ok_or("it is no setting that this program changes")?;
    let is_line = |value: &str| {
        (1..=MAX_VALUE).contains(&value.chars().count()) && !value.contains(char::is_control)
    };
    if !is_line(&write.to) || !is_line(&write.from) {
        return Err(format!(
            "a value is one line of 1 to {MAX_VALUE} characters"
        ));
    }
    let is_padded = |value: &str| value.trim() != value;
    if is_padded(&write.to) || is_padded(&write.from) {
        return Err("a value neither begins nor ends with a blank".to_owned());
    }
    Ok(())
}

fn validate_create(create: &Create) -> Result<(), String> {
    if create.file != LIMITS {
        return Err("it is no file of limits that this program makes".to_owned());
    }
    match create.text.len() {
        ..=MAX_LIMITS => Ok(()),
        _ => Err(format!("it has more than {MAX_LIMITS} bytes")),
    }
}

fn validate_schedule(schedule: &Schedule) -> Result<(), String> {
    validate_interface(&schedule.interface)?;
    match schedule.fifo {
        1..=MAX_FIFO => Ok(()),
        _ => Err(format!("priorities are 1 to {MAX_FIFO}")),
    }
}

fn validate_interface(name: &str) -> Result<(), String> {
    if is_interface(name) {
        Ok(())
    } else {
        Err(format!("{name:?} cannot be the name of an interface"))
    }
}
