// SPDX-License-Identifier: MIT OR Apache-2.0
//! A task that lets others run.

use std::future::poll_fn;
use std::task::Poll;

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
