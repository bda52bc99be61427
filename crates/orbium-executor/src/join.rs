// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spawning of tasks, and their handles.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::completion::{Completer, Completion};
use crate::context::ContextHandle;
use crate::error::{MigrateError, SpawnError, TaskError};
use crate::tasks::qos::TaskQos;
use crate::tasks::task::Task;

impl ContextHandle {
    /// Runs a future as a task of the context.
    ///
    /// # Errors
    /// [`SpawnError`]; the future is dropped.
    pub fn spawn<T: Send + 'static>(
        &self,
        qos: TaskQos,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<TaskHandle<T>, SpawnError> {
        let completion = Completion::new();
        let completer = Completer::new(&completion);
        let work = async move { completer.complete(work.await) };
        let task = self.start(qos, Box::pin(work))?;
        Ok(TaskHandle { task, completion })
    }
}

/// A handle on a task: for its result, and to control it while it runs. Dropping the handle
/// detaches the task.
///
/// As a future it completes with the result. It must not be polled after that.
pub struct TaskHandle<T> {
    task: Arc<Task>,
    completion: Arc<Completion<T>>,
}

impl<T> TaskHandle<T> {
    /// Blocks the calling thread until the task has ended. Tasks await the handle instead: a thread
    /// of a context that blocks here runs no other task.
    ///
    /// # Errors
    /// [`TaskError`].
    pub fn wait(self) -> Result<T, TaskError> {
        self.completion.wait()
    }

    /// Drops the future of the task, immediately or when it next waits. Returns whether the task
    /// had not ended.
    pub fn cancel(&self) -> bool {
        self.task.cancel()
    }

    /// Moves the task to another context. If a thread is already running it, it stays there until
    /// it waits.
    ///
    /// # Errors
    /// [`MigrateError`].
    pub fn migrate(&self, destination: &ContextHandle) -> Result<(), MigrateError> {
        self.task.migrate(&destination.shared)
    }

    /// Changes the QoS. A ready task is reordered immediately.
    pub fn set_qos(&self, qos: TaskQos) {
        self.task.set_qos(qos);
    }

    /// Whether the task has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.task.has_ended()
    }
}

impl<T> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.completion.poll(context)
    }
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("has_ended", &self.has_ended())
            .finish_non_exhaustive()
    }
}
