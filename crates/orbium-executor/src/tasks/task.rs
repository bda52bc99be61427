// SPDX-License-Identifier: MIT OR Apache-2.0
//! A task: its future, its phase and its home.
//!
//! A *ready* task is in the queue of its home, or held by exactly one thread that will push it
//! there or run it. All changes of phase or home are made under the lock of the task, and take the
//! lock of a context within that lock; the reverse never happens. So no wake-up is lost while a
//! task migrates or a policy changes.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::clock::now;
use crate::error::{MigrateError, SpawnError};
use crate::lock::{Mutex, MutexGuard};
use crate::queue::policy::{Job, Policy};
use crate::shared::{Next, Shared};
use crate::tasks::qos::TaskQos;
use crate::tasks::yielding::take_ended_job;

/// A future without a result.
pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The core of a context.
pub(crate) type Home = Shared<Task>;

impl Home {
    /// Changes the policy. Ready tasks are reordered; each is pushed under its own lock, so that it
    /// goes to its home even if it migrates concurrently.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let mut ready = self.replace_policy(policy);
        while let Some(task) = ready.pop() {
            task.push_again();
        }
    }

    /// Cancels all tasks and ends all threads.
    pub(crate) fn destroy(&self) {
        for task in self.close() {
            task.cancel();
        }
    }
}

/// A task.
pub(crate) struct Task {
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    /// `None` while it runs, and once it has ended or was cancelled.
    work: Option<Work>,
    home: Arc<Home>,
    /// Its index in the registry of its home.
    place: usize,
    qos: TaskQos,
    job: Job,
    cancelled: bool,
}

/// The execution of a task by a thread.
#[derive(Clone, Copy)]
struct Ran {
    /// Its begin and end, if the order depends on it.
    span: Option<(u64, u64)>,
    /// Whether its job has ended, so that the next one begins.
    ends_job: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Ready,
    Running { woken: bool },
    Ended,
}

impl Task {
    /// Adds a ready task to a context.
    pub(crate) fn spawn(
        home: &Arc<Home>,
        qos: TaskQos,
        work: Work,
    ) -> Result<Arc<Self>, SpawnError> {
        let state = State {
            phase: Phase::Ready,
            work: Some(work),
            home: Arc::clone(home),
            place: usize::MAX,
            qos,
            job: Job::default(),
            cancelled: false,
        };
        let task = Arc::new(Self {
            state: Mutex::new(state),
        });
        let mut state = task.lock();
        match home.register(&task) {
            Ok(place) => state.place = place,
            Err(error) => {
                let work = state.end();
                drop(state);
                drop_quietly(work);
                return Err(error);
            }
        }
        task.push(&mut state);
        drop(state);
        Ok(task)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Pushes a ready task to the queue of its home.
    fn push(self: &Arc<Self>, state: &mut State) {
        state.home.push(self, &state.qos, &mut state.job);
    }

    /// As [`push`](Self::push), for a task that was taken from a queue.
    fn push_again(self: &Arc<Self>) {
        self.push(&mut self.lock());
    }

    /// Polls the future of a task that was popped from the queue of `context`. `begun`: the time,
    /// if the order depends on the execution time. Returns the next action of the thread, if it is
    /// known.
    pub(crate) fn run(
        self: Arc<Self>,
        context: &Arc<Home>,
        begun: Option<u64>,
    ) -> Option<Next<Task>> {
        let mut work = self.begin()?;
        // A task that ended its job and then completed has left its mark.
        take_ended_job();
        let waker = Waker::from(Arc::clone(&self));
        let poll = || work.as_mut().poll(&mut Context::from_waker(&waker));
        let polled = catch_unwind(AssertUnwindSafe(poll));
        let ran = Ran {
            span: begun.map(|begun| (begun, now())),
            ends_job: take_ended_job(),
        };
        match polled {
            Ok(Poll::Pending) => return self.suspend(work, context, ran),
            Ok(Poll::Ready(())) => self.finish(work, false),
            Err(_) => self.finish(work, true),
        }
        None
    }

    /// The future to poll; none if the task was cancelled.
    fn begin(&self) -> Option<Work> {
        let mut state = self.lock();
        match state.work.take() {
            Some(work) => {
                state.phase = Phase::Running { woken: false };
                Some(work)
            }
            None => {
                state.end();
                None
            }
        }
    }

    /// Stores the future until the task is woken, or pushes the task if it was woken already.
    fn suspend(self: &Arc<Self>, work: Work, context: &Arc<Home>, ran: Ran) -> Option<Next<Task>> {
        let mut locked = self.lock();
        let state = &mut *locked;
        if state.cancelled {
            drop(locked);
            self.finish(work, false);
            return None;
        }
        state.work = Some(work);
        if state.phase != (Phase::Running { woken: true }) {
            state.phase = Phase::Waiting;
            return None;
        }
        state.phase = Phase::Ready;
        let executed = ran
            .span
            .map_or(0, |(begun, ended)| ended.saturating_sub(begun));
        if ran.ends_job {
            state.job = Job::default();
        } else {
            state.job.executed = state.job.executed.saturating_add(executed);
        }
        if !Arc::ptr_eq(&state.home, context) {
            self.push(state);
            return None;
        }
        let ended = ran.span.map(|(_, ended)| ended);
        context.exchange(self, (&state.qos, &mut state.job), ended)
    }

    fn finish(&self, work: Work, panicked: bool) {
        let mut state = self.lock();
        let home = Arc::clone(&state.home);
        state.end();
        drop(state);
        let dropped = drop_quietly(Some(work));
        if panicked || !dropped {
            home.count_panic();
        }
    }

    /// Implements [`TaskHandle::cancel`](crate::TaskHandle::cancel).
    pub(crate) fn cancel(&self) -> bool {
        let mut state = self.lock();
        let work = match state.phase {
            Phase::Ended => return false,
            // The thread that runs it drops the future; the one that pops it ends the task.
            Phase::Running { .. } => None,
            Phase::Ready if !state.home.is_destroyed() => state.work.take(),
            Phase::Ready | Phase::Waiting => state.end(),
        };
        state.cancelled = true;
        let home = Arc::clone(&state.home);
        drop(state);
        if !drop_quietly(work) {
            home.count_panic();
        }
        true
    }

    /// Implements [`TaskHandle::migrate`](crate::TaskHandle::migrate).
    pub(crate) fn migrate(self: &Arc<Self>, destination: &Arc<Home>) -> Result<(), MigrateError> {
        let mut state = self.lock();
        if state.phase == Phase::Ended {
            return Err(MigrateError::Ended);
        }
        if Arc::ptr_eq(&state.home, destination) {
            return Ok(());
        }
        let place = destination.register(self)?;
        let ready = (state.phase == Phase::Ready).then_some(self);
        let Some(was_queued) = state.home.release_task(state.place, ready) else {
            destination.unregister(place);
            return Err(MigrateError::Ended);
        };
        state.home = Arc::clone(destination);
        state.place = place;
        // If it is ready and not in the queue, another thread has it: see above.
        if was_queued {
            self.push(&mut state);
        }
        Ok(())
    }

    pub(crate) fn set_qos(self: &Arc<Self>, qos: TaskQos) {
        let mut state = self.lock();
        state.qos = qos;
        if state.phase == Phase::Ready && state.home.remove_ready(self) {
            self.push(&mut state);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().phase == Phase::Ended
    }
}

impl State {
    /// Ends the task and returns its future, which has to be dropped without the lock.
    fn end(&mut self) -> Option<Work> {
        self.phase = Phase::Ended;
        self.home.unregister(self.place);
        self.work.take()
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.lock();
        match state.phase {
            Phase::Waiting => {
                state.phase = Phase::Ready;
                state.job = Job::default();
                self.push(&mut state);
            }
            Phase::Running { .. } => state.phase = Phase::Running { woken: true },
            Phase::Ready | Phase::Ended => {}
        }
    }
}

/// Drops a future; `false` if that panicked.
fn drop_quietly(work: Option<Work>) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(work))).is_ok()
}
