// SPDX-License-Identifier: MIT OR Apache-2.0
//! Yielding, and its effect on the job of a task.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

thread_local! {
    /// Whether the task that this thread polls has ended its job.
    static HAS_ENDED_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Whether the task that this thread polled last has ended its job; resets the flag.
pub(crate) fn take_ended_job() -> bool {
    HAS_ENDED_JOB.replace(false)
}

/// Yields to more urgent tasks, and to ready ones of equal urgency. The job of the task continues:
/// its deadline is unchanged.
///
/// ```
/// use orbium_executor::{SchedulerContext, TaskQos, yield_now};
///
/// let context = SchedulerContext::builder("batch").threads(1).build()?;
/// let sum = context.spawn(TaskQos::default(), async {
///     let mut sum = 0;
///     for number in 1..=10 {
///         sum += number;
///         yield_now().await;
///     }
///     sum
/// })?;
/// assert_eq!(sum.wait(), Ok(55));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Ends the job of the task and begins the next one, released now, with its own deadline. Yields to
/// more urgent tasks, and to ready ones of equal urgency: to be called between two items of a
/// task's work.
///
/// ```
/// use orbium_executor::{Policy, SchedulerContext, TaskQos, next_job};
///
/// let context = SchedulerContext::builder("items").policy(Policy::Edf).threads(1).build()?;
/// let items = context.spawn(TaskQos::default(), async {
///     let mut done = 0;
///     for item in [3, 4] {
///         done += item;
///         next_job().await;
///     }
///     done
/// })?;
/// assert_eq!(items.wait(), Ok(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn next_job() {
    HAS_ENDED_JOB.set(true);
    yield_now().await;
}
