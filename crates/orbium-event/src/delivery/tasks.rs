// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduler context of a channel, and the QoS of its consumers there.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use orbium_executor::{ContextHandle, SpawnError, TaskQos};
use orbium_sched::Table;

/// The context that runs the tasks of consumers.
pub(crate) struct ConsumerTasks {
    pub(crate) context: ContextHandle,
    /// The QoS of a consumer, by its RT_Info.
    pub(crate) qos: Box<dyn Fn(i32) -> TaskQos + Send + Sync>,
}

impl ConsumerTasks {
    /// Spawns the task of a consumer with that RT_Info.
    pub(crate) fn spawn(
        &self,
        rt_info: i32,
        work: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> Result<(), SpawnError> {
        self.context.spawn_boxed((self.qos)(rt_info), work)
    }
}

/// The QoS of consumers by the operations of a schedule: an RT_Info is the handle of an operation,
/// from 1, and the consumer has its native priority, period and worst-case execution time.
/// Operations that are not in the table are the least urgent.
///
/// ```
/// use orbium_event::qos_by_schedule;
/// use orbium_sched::{Entry, Table};
///
/// static SCHEDULE: Table = Table {
///     entries: &[Entry::new("Display::show", (0, 0, 20), 500_000, 10_000)],
///     ..Table::EMPTY
/// };
/// assert_eq!(qos_by_schedule(&SCHEDULE)(1).priority, 20);
/// assert_eq!(qos_by_schedule(&SCHEDULE)(2).relative_deadline(), None);
/// ```
pub fn qos_by_schedule(
    table: &'static Table,
) -> impl Fn(i32) -> TaskQos + Send + Sync + Copy + 'static {
    move |rt_info| {
        let index = rt_info.checked_sub(1).map(usize::try_from);
        let entry = index.and_then(|it| table.entry(it.ok()?).ok());
        let Some(entry) = entry else {
            return TaskQos::default().priority(i32::MIN);
        };
        let period = Some(entry.period.as_duration());
        TaskQos {
            period: period.filter(|it| *it > Duration::ZERO),
            ..TaskQos::default()
                .priority(entry.assignment.priority)
                .worst_case(entry.worst_case.as_duration())
        }
    }
}
