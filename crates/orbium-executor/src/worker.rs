// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop of a thread.

use std::sync::Arc;

use crate::shared::Next;
use crate::tasks::task::Home;

/// Runs tasks of a context, which has counted this thread, and of those to which it migrates.
/// `arrived` is called for each context that the thread enters.
pub(crate) fn run_tasks(mut context: Arc<Home>, mut arrived: impl FnMut(&Arc<Home>)) {
    let mut next = None;
    loop {
        match next.take().unwrap_or_else(|| context.next()) {
            Next::Run(task, begun) => next = task.run(&context, begun),
            Next::Leave(destination) => {
                if !destination.enter() {
                    return;
                }
                context = destination;
                arrived(&context);
            }
            Next::End => return,
        }
    }
}
