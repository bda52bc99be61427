// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants with `async fn` operations.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use orbium_invocation::Properties;
use orbium_invocation::raises::Raises;

use super::reply::DeferredReply;
use super::urgency::Urgency;

/// A future that serves one request, run to its end by an executor.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An executor for servants. Every function that takes a [`Task`] is one.
///
/// ```
/// use orbium_request::{Spawn, Task};
///
/// /// Runs each request on a separate thread.
/// struct Threads(fn(Task));
///
/// impl Spawn for Threads {
///     fn spawn(&self, task: Task) {
///         let run = self.0;
///         std::thread::spawn(move || run(task));
///     }
/// }
/// ```
pub trait Spawn: Send + Sync + 'static {
    /// Runs a task to its end, and does not block. If the task is dropped instead, its client
    /// gets NO_RESPONSE, completed MAYBE.
    fn spawn(&self, task: Task);

    /// As [`spawn`](Self::spawn), for a request of that urgency. Default: the urgency is ignored.
    fn spawn_urgent(&self, _urgency: &Urgency, task: Task) {
        self.spawn(task);
    }
}

impl<F: Fn(Task) + Send + Sync + 'static> Spawn for F {
    fn spawn(&self, task: Task) {
        self(task);
    }
}

/// An executor that uses the urgency of each request, as a function.
///
/// ```
/// use orbium_request::{AsyncServant, ByUrgency, Task, Urgency};
///
/// struct Bank;
///
/// let executor = ByUrgency(|urgency: &Urgency, task: Task| {
///     let _period = urgency.riop.and_then(|it| it.period());
///     drop(task);
/// });
/// let servant = AsyncServant::new(Bank, executor);
/// # drop(servant);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ByUrgency<F>(pub F);

impl<F: Fn(&Urgency, Task) + Send + Sync + 'static> Spawn for ByUrgency<F> {
    fn spawn(&self, task: Task) {
        self.spawn_urgent(&Urgency::default(), task);
    }

    fn spawn_urgent(&self, urgency: &Urgency, task: Task) {
        (self.0)(urgency, task);
    }
}

/// Facts of a request for an `async fn` of a servant: the memory of the request itself is not
/// retained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncCall {
    object_id: Box<[u8]>,
    deadline: Option<Instant>,
    /// Boxed: open requests are many, and few have one.
    context: Option<Box<SentContext>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SentContext(Properties);

impl AsyncCall {
    /// A request to the object with that id; its client waits until `deadline`.
    #[must_use]
    pub fn new(object_id: &[u8], deadline: Option<Instant>) -> Self {
        Self {
            object_id: object_id.into(),
            deadline,
            context: None,
        }
    }

    /// The call with the properties that the client sent of its context.
    #[must_use]
    pub fn in_context(self, context: Properties) -> Self {
        let context = (!context.is_empty()).then(|| Box::new(SentContext(context)));
        Self { context, ..self }
    }

    /// The properties that the client sent of its context, if IDL gives the operation a `context`
    /// clause: names and values.
    #[must_use]
    pub fn context(&self) -> &[(String, String)] {
        self.context.as_ref().map_or(&[], |it| &it.0)
    }

    /// Id of the object called.
    #[must_use]
    pub fn object_id(&self) -> &[u8] {
        &self.object_id
    }

    /// The deadline of the call; `None` if the client sent none.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// A servant of an object with `async fn` operations: each request becomes a task of an executor.
///
/// `S` implements the generated trait `…AsyncServant` of an interface; this type then implements
/// the interface's `…Servant`. `limits.open_requests` limits the tasks of an adapter: beyond it
/// clients get TRANSIENT 1. When the client cancels a request or is gone, the next poll of the task
/// drops the future of the servant; a task that the executor drops answers NO_RESPONSE, and one
/// that panics UNKNOWN.
///
/// ```
/// use orbium_request::AsyncServant;
///
/// struct Bank;
///
/// let servant = AsyncServant::new(Bank, |task| {
///     // tokio::spawn(task);
///     drop(task);
/// });
/// # drop(servant);
/// ```
pub struct AsyncServant<S, X> {
    servant: Arc<S>,
    executor: X,
}

impl<S: Send + Sync + 'static, X: Spawn> AsyncServant<S, X> {
    /// Creates a servant with the executor of its operations.
    pub fn new(servant: impl Into<Arc<S>>, executor: X) -> Self {
        Self {
            servant: servant.into(),
            executor,
        }
    }

    /// The object with `async fn` operations.
    #[must_use]
    pub fn servant(&self) -> &Arc<S> {
        &self.servant
    }

    /// Replies with the outcome of an operation, which begins on the executor.
    #[doc(hidden)]
    pub fn run<T, E, F>(&self, reply: DeferredReply<T, E>, operation: impl FnOnce(Arc<S>) -> F)
    where
        T: 'static,
        E: Raises + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let work = operation(Arc::clone(&self.servant));
        let urgency = reply.urgency();
        reply.spawn(|task| self.executor.spawn_urgent(&urgency, task), work);
    }
}

impl<S, X> fmt::Debug for AsyncServant<S, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncServant").finish_non_exhaustive()
    }
}
