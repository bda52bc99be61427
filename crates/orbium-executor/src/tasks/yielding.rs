// SPDX-License-Identifier: MIT OR Apache-2.0
//! A task that lets others run, and what its job is after that.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

thread_local! {
    /// Whether the task that this thread polls has ended its job.
    static HAS_ENDED_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Whether the task that this thread polled last has ended its job; false from now on.
pub(crate) fn take_ended_job() -> bool {
    HAS_ENDED_JOB.replace(false)
}

/// Lets the tasks run that are more urgent, and equals that are ready. The job of the task goes
/// on: its deadline stays.
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

/// Ends the job of the task and begins the next one, released now, with a deadline of its own. Lets the tasks run
/// that are more urgent, and equals that are ready: what a task does between two items of its work.
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
