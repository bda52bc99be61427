// SPDX-License-Identifier: MIT OR Apache-2.0
//! Anomalies of a schedule.

use super::level::Level;
use super::levels;
use super::outcome::Schedule;
use crate::anomaly::{Anomaly, AnomalyKind, Severity};
use crate::feasibility::{Task, utilization_is_at_most_one};
use crate::options::Options;
use crate::repository::Repository;
use crate::threads::Thread;
use crate::time::Time;

pub(super) fn add(
    schedule: &Schedule,
    repository: &Repository,
    options: &Options,
    anomalies: &mut Vec<Anomaly>,
) {
    for thread in &schedule.threads {
        add_inverted(thread, repository, options, anomalies);
    }
    for level in schedule.levels.iter().filter(|it| !it.is_met()) {
        add_missed(schedule, level, repository, anomalies);
    }
    let tasks: Vec<Task> = schedule
        .levels
        .iter()
        .flat_map(|it| schedule.tasks(it))
        .map(|(_, task)| task)
        .collect();
    if !utilization_is_at_most_one(&tasks) {
        let utilization = schedule.utilization;
        anomalies.push(Anomaly {
            severity: severity(!schedule.is_feasible()),
            kind: AnomalyKind::Overload { utilization },
            handle: None,
            description: format!(
                "the operations need {utilization:.3} processors, and there is one"
            ),
        });
    }
}

fn severity(is_error: bool) -> Severity {
    if is_error {
        Severity::Error
    } else {
        Severity::Warning
    }
}

/// A critical consumer of an uncritical supplier.
fn add_inverted(
    thread: &Thread,
    repository: &Repository,
    options: &Options,
    anomalies: &mut Vec<Anomaly>,
) {
    if !levels::is_critical(thread.criticality, options) {
        return;
    }
    for supplier in &thread.suppliers {
        let Ok(info) = repository.get(*supplier) else {
            continue;
        };
        if levels::is_critical(info.timing.criticality, options) {
            continue;
        }
        anomalies.push(Anomaly {
            severity: Severity::Warning,
            kind: AnomalyKind::CriticalDependsOnLess {
                supplier: *supplier,
            },
            handle: Some(thread.entry),
            description: format!(
                "`{}` is critical and consumes data of `{}`, which is not",
                repository.name(thread.entry),
                info.entry_point
            ),
        });
    }
}

fn add_missed(
    schedule: &Schedule,
    level: &Level,
    repository: &Repository,
    anomalies: &mut Vec<Anomaly>,
) {
    let mut last = None;
    for (index, task) in schedule.tasks(level) {
        let response = level.response.map(|it| it.saturating_add(task.jitter));
        let is_met = response.is_some_and(|it| it <= task.deadline);
        if is_met || last == Some(index) {
            continue;
        }
        last = Some(index);
        let entry = schedule.threads[index].entry;
        anomalies.push(Anomaly {
            severity: severity(level.promised),
            kind: AnomalyKind::MissesDeadline {
                deadline: task.deadline,
                response,
            },
            handle: Some(entry),
            description: missed(repository.name(entry), task.deadline, response),
        });
    }
}

fn missed(name: &str, deadline: Time, response: Option<Time>) -> String {
    match response {
        Some(response) => format!("`{name}` can take {response}, and its deadline is {deadline}"),
        None => format!("`{name}` can miss its deadline, {deadline}"),
    }
}
