// SPDX-License-Identifier: MIT OR Apache-2.0
//! The public interface of scheduler contexts.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Weak};

use orbium_sys::{RealTimeError, Scheduling, spawn_detached};

use crate::counts::ContextCounts;
use crate::error::{SpawnError, ThreadError};
use crate::queue::policy::Policy;
use crate::shared::Shared;
use crate::tasks::qos::TaskQos;
use crate::tasks::task::{Home, Task};
use crate::thread_setup::ThreadSetup;
use crate::worker::run_tasks;

/// Default for the maximum number of tasks of a context.
const MAX_TASKS: usize = 1 << 16;

thread_local! {
    /// The context of which this thread runs tasks.
    static CURRENT: RefCell<Weak<Home>> = const { RefCell::new(Weak::new()) };
}

/// A scheduler context: tasks, the threads that run them, and their scheduling policy. Its
/// operations are those of [`ContextHandle`].
///
/// Dropping it destroys it: its tasks are cancelled, and its threads have ended when `drop`
/// returns, except the calling one. Tasks that are to continue have to
/// [migrate](crate::TaskHandle::migrate) before.
pub struct SchedulerContext {
    handle: ContextHandle,
}

/// A handle on a scheduler context, which does not prevent its destruction.
#[derive(Clone)]
pub struct ContextHandle {
    pub(crate) shared: Arc<Home>,
}

/// Builds a [`SchedulerContext`].
#[derive(Clone, Debug)]
pub struct ContextBuilder {
    name: String,
    policy: Policy,
    threads: usize,
    max_tasks: usize,
    setup: ThreadSetup,
}

impl ContextBuilder {
    /// The order of ready tasks. Default: [`Policy::Fifo`].
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// The initial number of threads. Default: none, for a context to which threads migrate.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The maximum number of tasks, which bounds its queue too. Default: 65,536.
    #[must_use]
    pub fn max_tasks(self, max_tasks: usize) -> Self {
        Self { max_tasks, ..self }
    }

    /// Scheduling class and native priority of the threads. Default: those of the thread that starts them.
    #[must_use]
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.setup.scheduling = Some(scheduling);
        self
    }

    /// The processors on which the threads run, counted from 0. Default: those of the thread that
    /// starts them.
    #[must_use]
    pub fn processors(mut self, processors: impl Into<Vec<usize>>) -> Self {
        self.setup.processors = Some(processors.into());
        self
    }

    /// Sets whether threads run without the native scheduling, or the processors, that the host
    /// refuses; [`ContextHandle::refused`] has the reason. Default: an error.
    ///
    /// ```
    /// use orbium_executor::{SchedulerContext, TaskQos};
    /// use orbium_sys::Scheduling;
    ///
    /// let context = SchedulerContext::builder("control")
    ///     .scheduling(Scheduling::fifo(40))
    ///     .threads(1)
    ///     .soft(true)
    ///     .build()?;
    /// if let Some(error) = context.refused() {
    ///     println!("without its native priority: {error}");
    /// }
    /// assert_eq!(context.spawn(TaskQos::default(), async { 6 * 7 })?.wait(), Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn soft(mut self, soft: bool) -> Self {
        self.setup.soft = soft;
        self
    }

    /// Builds the context, and returns once all its threads have their scheduling.
    ///
    /// # Errors
    /// [`ThreadError::Start`], [`ThreadError::Scheduling`]. No thread remains then.
    pub fn build(self) -> Result<SchedulerContext, ThreadError> {
        let handle = ContextHandle {
            shared: Shared::new((self.name, self.setup), self.policy, self.max_tasks),
        };
        let context = SchedulerContext { handle };
        for _ in 0..self.threads {
            context.add_thread()?;
        }
        Ok(context)
    }
}

impl SchedulerContext {
    /// Builds a context of that name, which is also that of its threads.
    #[must_use]
    pub fn builder(name: &str) -> ContextBuilder {
        ContextBuilder {
            name: name.to_owned(),
            policy: Policy::default(),
            threads: 0,
            max_tasks: MAX_TASKS,
            setup: ThreadSetup::default(),
        }
    }

    /// A handle on it.
    #[must_use]
    pub fn handle(&self) -> ContextHandle {
        self.handle.clone()
    }
}

impl Deref for SchedulerContext {
    type Target = ContextHandle;

    fn deref(&self) -> &ContextHandle {
        &self.handle
    }
}

impl Drop for SchedulerContext {
    fn drop(&mut self) {
        let shared = &self.handle.shared;
        shared.destroy();
        let is_inside = CURRENT.with_borrow(|it| Weak::ptr_eq(it, &Arc::downgrade(shared)));
        shared.await_threads(usize::from(is_inside));
    }
}

impl ContextHandle {
    /// The name of the context.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Runs a boxed future without a result, the type that executors of asynchronous servants and
    /// replies get.
    ///
    /// # Errors
    /// [`SpawnError`]; the future is dropped.
    pub fn spawn_boxed(
        &self,
        qos: TaskQos,
        work: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> Result<(), SpawnError> {
        self.start(qos, work).map(drop)
    }

    /// This context as the executor of an asynchronous servant: each of its operations is a task of
    /// that QoS. Beyond the maximum number of tasks the operation is dropped.
    pub fn executor(
        &self,
        qos: TaskQos,
    ) -> impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + Clone + 'static {
        let handle = self.clone();
        move |work| {
            // The dropped future sends the reply to its client.
            let _ = handle.spawn_boxed(qos, work);
        }
    }

    /// As [`executor`](Self::executor), with the QoS of each operation derived from its request:
    /// `R` is `orbium::asynchronous::Urgency` for asynchronous servants, and `orbium_qos::task_qos`
    /// such a function.
    ///
    /// ```
    /// use orbium_executor::{Policy, SchedulerContext, TaskQos};
    ///
    /// let context = SchedulerContext::builder("ledger").policy(Policy::Priority).threads(1).build()?;
    /// let executor = context.executor_by(|priority: &i32| TaskQos::default().priority(*priority));
    /// executor(&7, Box::pin(async {}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn executor_by<R: ?Sized>(
        &self,
        qos: impl Fn(&R) -> TaskQos + Send + Sync + Clone + 'static,
    ) -> impl Fn(&R, Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + Clone + 'static {
        let handle = self.clone();
        move |request, work| {
            // The dropped future sends the reply to its client.
            let _ = handle.spawn_boxed(qos(request), work);
        }
    }

    pub(crate) fn start(
        &self,
        qos: TaskQos,
        work: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> Result<Arc<Task>, SpawnError> {
        Task::spawn(&self.shared, qos, work)
    }

    /// Starts another thread, and waits until it has its scheduling.
    ///
    /// # Errors
    /// [`ThreadError`]; the number of threads is unchanged.
    pub fn add_thread(&self) -> Result<(), ThreadError> {
        if !self.shared.enter() {
            return Err(ThreadError::Destroyed);
        }
        let (given, started) = sync_channel(1);
        let shared = Arc::clone(&self.shared);
        let job = move || {
            let entered = match enter_context(&shared) {
                Err(refused) if shared.setup.soft => {
                    shared.count_refused_scheduling(refused);
                    Ok(())
                }
                entered => entered,
            };
            let runs = entered.is_ok();
            // The thread that starts this one waits for it.
            let _ = given.send(entered);
            if runs {
                run_tasks(shared, migrate_to_context);
            }
        };
        let error = match spawn_detached(&self.shared.name, None, Box::new(job)) {
            Ok(()) => match started.recv() {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => ThreadError::Scheduling(error),
                Err(_) => ThreadError::Start(std::io::Error::other("the thread failed")),
            },
            Err(error) => ThreadError::Start(error),
        };
        self.shared.withdraw();
        Err(error)
    }

    /// Ends one of the threads after its present task. A context without threads retains its tasks.
    ///
    /// # Errors
    /// [`ThreadError::NoThread`], [`ThreadError::Destroyed`].
    pub fn remove_thread(&self) -> Result<(), ThreadError> {
        self.release(None)
    }

    /// Migrates one of the threads to another context after its present task. It takes the native
    /// scheduling and the processors of that context; if the host refuses, the thread continues
    /// without, as the threads of a [soft](ContextBuilder::soft) context do.
    ///
    /// # Errors
    /// [`ThreadError::NoThread`]; [`ThreadError::Destroyed`]: one of the two contexts.
    pub fn migrate_thread(&self, destination: &ContextHandle) -> Result<(), ThreadError> {
        if destination.shared.is_destroyed() {
            return Err(ThreadError::Destroyed);
        }
        self.release(Some(Arc::clone(&destination.shared)))
    }

    fn release(&self, to: Option<Arc<Home>>) -> Result<(), ThreadError> {
        if self.shared.release_thread(to) {
            return Ok(());
        }
        Err(if self.shared.is_destroyed() {
            ThreadError::Destroyed
        } else {
            ThreadError::NoThread
        })
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.shared.policy()
    }

    /// Changes the policy of the running context. Ready tasks are reordered.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.set_policy(policy);
    }

    /// The first refusal of the host with which a thread continues: one of a
    /// [soft](ContextBuilder::soft) context, or one that migrated here.
    /// [`ContextCounts::refused_schedulings`] is the number of such threads.
    #[must_use]
    pub fn refused(&self) -> Option<&RealTimeError> {
        self.shared.refused()
    }

    /// The counts of the context.
    #[must_use]
    pub fn counts(&self) -> ContextCounts {
        self.shared.counts()
    }
}

/// Makes the calling thread run tasks of that context from now on, with its setup.
fn enter_context(shared: &Arc<Home>) -> Result<(), RealTimeError> {
    CURRENT.set(Arc::downgrade(shared));
    shared.setup.apply()
}

fn migrate_to_context(shared: &Arc<Home>) {
    if let Err(refused) = enter_context(shared) {
        shared.count_refused_scheduling(refused);
    }
}

impl fmt::Debug for ContextHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextHandle")
            .field("name", &self.shared.name)
            .field("policy", &self.policy())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SchedulerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SchedulerContext")
            .field(&self.handle)
            .finish()
    }
}
