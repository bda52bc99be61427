// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by the threads, tasks and handles of a context. A task is any value here.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_sys::RealTimeError;

use crate::clock::now;
use crate::counts::ContextCounts;
use crate::error::SpawnError;
use crate::lock::{Condvar, Mutex, MutexGuard, acquire};
use crate::queue::policy::{Job, Policy};
use crate::queue::ready::ReadyQueue;
use crate::tasks::qos::TaskQos;
use crate::tasks::task_registry::Registry;
use crate::thread_setup::ThreadSetup;

/// The core of a context.
pub(crate) struct Shared<T> {
    pub(crate) name: String,
    pub(crate) setup: ThreadSetup,
    /// The first refusal of the host with which a thread continues.
    refused: OnceLock<RealTimeError>,
    state: Mutex<State<T>>,
    /// Whether the policy reads the clock, as a hint without the lock.
    reads_clock: AtomicBool,
    /// Notified when a task is available to waiting threads.
    available: Condvar,
    /// Notified when a thread has left, for the destroyer.
    left: Condvar,
}

struct State<T> {
    policy: Policy,
    ready: ReadyQueue<Arc<T>>,
    tasks: Registry<Arc<T>>,
    /// Threads that are to leave, with their destination.
    leaving: VecDeque<Option<Arc<Shared<T>>>>,
    threads: usize,
    idle: usize,
    switches: u64,
    panics: u64,
    refused_schedulings: u64,
    destroyed: bool,
}

/// The next action of a context's thread.
pub(crate) enum Next<T> {
    /// Run the task, and measure its execution from that time on.
    Run(Arc<T>, Option<u64>),
    /// Migrate to another context.
    Leave(Arc<Shared<T>>),
    /// End.
    End,
}

impl<T> State<T> {
    /// The key of a job, which is released at that time, or now, unless it is already released.
    fn key(&self, qos: &TaskQos, job: &mut Job, at: Option<u64>) -> u128 {
        if self.policy.reads_clock() {
            job.released.get_or_insert_with(|| at.unwrap_or_else(now));
        }
        self.policy.key(qos, *job)
    }

    fn remove_ready(&mut self, task: &Arc<T>) -> bool {
        let before = self.ready.len();
        self.ready.retain(|it| !Arc::ptr_eq(it, task));
        self.ready.len() < before
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(
        (name, setup): (String, ThreadSetup),
        policy: Policy,
        max_tasks: usize,
    ) -> Arc<Self> {
        let state = State {
            policy,
            ready: ReadyQueue::new(policy, 0),
            tasks: Registry::new(max_tasks),
            leaving: VecDeque::new(),
            threads: 0,
            idle: 0,
            switches: 0,
            panics: 0,
            refused_schedulings: 0,
            destroyed: false,
        };
        Arc::new(Self {
            name,
            setup,
            refused: OnceLock::new(),
            state: Mutex::new(state),
            reads_clock: AtomicBool::new(policy.reads_clock()),
            available: Condvar::new(),
            left: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        acquire(&self.state)
    }

    /// The index of the task, for which the queue has memory from now on.
    pub(crate) fn register(&self, task: &Arc<T>) -> Result<usize, SpawnError> {
        let mut state = self.lock();
        if state.destroyed {
            return Err(SpawnError::Destroyed);
        }
        let index = state.tasks.insert(Arc::clone(task));
        let tasks = state.tasks.len();
        state.ready.reserve(tasks);
        index.ok_or(SpawnError::Full)
    }

    pub(crate) fn unregister(&self, index: usize) {
        // The last reference is the caller's: no task is dropped under this lock.
        self.lock().tasks.remove(index);
    }

    /// Removes a task that migrates, from the queue too if it is `ready`. Returns whether it was
    /// there; `None` if this context was destroyed: its destroyer cancels the task.
    pub(crate) fn release_task(&self, index: usize, ready: Option<&Arc<T>>) -> Option<bool> {
        let mut state = self.lock();
        state.tasks.remove(index)?;
        Some(ready.is_some_and(|it| state.remove_ready(it)))
    }

    /// Adds a ready task. The caller holds the lock of the task.
    pub(crate) fn push(&self, task: &Arc<T>, qos: &TaskQos, job: &mut Job) {
        let at = self.time_of_release(job);
        let task = Arc::clone(task);
        let mut state = self.lock();
        if state.destroyed {
            return;
        }
        let key = state.key(qos, job, at);
        state.ready.push(key, task);
        let waiting = state.idle > 0;
        drop(state);
        if waiting {
            self.available.notify_one();
        }
    }

    /// As [`push`](Self::push), for a thread of this context that then takes its next task, with
    /// one acquisition of the lock. None: the thread has to leave. `at`: the time, if known.
    pub(crate) fn exchange(
        &self,
        task: &Arc<T>,
        (qos, job): (&TaskQos, &mut Job),
        at: Option<u64>,
    ) -> Option<Next<T>> {
        let at = at.or_else(|| self.time_of_release(job));
        let task = Arc::clone(task);
        let mut state = self.lock();
        if state.destroyed {
            return None;
        }
        let key = state.key(qos, job, at);
        if !state.leaving.is_empty() {
            state.ready.push(key, task);
            return None;
        }
        let next = state.ready.exchange(key, task);
        state.switches += 1;
        let measures = state.policy.measures_execution();
        let begun = measures.then(|| at.unwrap_or_else(now));
        Some(Next::Run(next, begun))
    }

    /// The time, if the job is released now and the policy needs it. Reading the clock takes as
    /// long as the rest of the work under the lock.
    fn time_of_release(&self, job: &Job) -> Option<u64> {
        let is_needed = job.released.is_none() && self.reads_clock.load(Ordering::Relaxed);
        is_needed.then(now)
    }

    /// Removes a task from the queue; `false` if it is not there.
    pub(crate) fn remove_ready(&self, task: &Arc<T>) -> bool {
        self.lock().remove_ready(task)
    }

    /// Waits for the next action of the calling thread, which is one of this context.
    pub(crate) fn next(&self) -> Next<T> {
        let mut state = self.lock();
        loop {
            if state.destroyed {
                return self.leave(state, None);
            }
            if let Some(destination) = state.leaving.pop_front() {
                return self.leave(state, destination);
            }
            if let Some(task) = state.ready.pop() {
                state.switches += 1;
                let begun = state.policy.measures_execution().then(now);
                return Next::Run(task, begun);
            }
            state.idle += 1;
            state = self.available.wait(state);
            state.idle -= 1;
        }
    }

    fn leave(&self, mut state: MutexGuard<'_, State<T>>, to: Option<Arc<Shared<T>>>) -> Next<T> {
        state.threads -= 1;
        drop(state);
        self.left.notify_all();
        to.map_or(Next::End, Next::Leave)
    }

    /// Counts an entering thread; `false` if it is to end instead.
    pub(crate) fn enter(&self) -> bool {
        let mut state = self.lock();
        if !state.destroyed {
            state.threads += 1;
        }
        !state.destroyed
    }

    /// Reverts [`enter`](Self::enter) for a thread that could not start.
    pub(crate) fn withdraw(&self) {
        self.lock().threads -= 1;
        self.left.notify_all();
    }

    /// Releases a thread, to another context or to its end, when it next takes a task. `false`:
    /// none remains.
    pub(crate) fn release_thread(&self, to: Option<Arc<Shared<T>>>) -> bool {
        let mut state = self.lock();
        let remains = !state.destroyed && state.leaving.len() < state.threads;
        if remains {
            state.leaving.push_back(to);
            drop(state);
            self.available.notify_one();
        }
        remains
    }

    /// Changes the policy. Returns the ready tasks, in their previous order, to be pushed again.
    pub(crate) fn replace_policy(&self, policy: Policy) -> ReadyQueue<Arc<T>> {
        let mut state = self.lock();
        let fresh = ReadyQueue::new(policy, state.tasks.len());
        state.policy = policy;
        self.reads_clock
            .store(policy.reads_clock(), Ordering::Relaxed);
        std::mem::replace(&mut state.ready, fresh)
    }

    pub(crate) fn policy(&self) -> Policy {
        self.lock().policy
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.lock().destroyed
    }

    pub(crate) fn count_panic(&self) {
        self.lock().panics += 1;
    }

    /// Counts a thread that continues with that refusal of the host.
    pub(crate) fn count_refused_scheduling(&self, refused: RealTimeError) {
        // Only the first one is retained.
        let _ = self.refused.set(refused);
        self.lock().refused_schedulings += 1;
    }

    pub(crate) fn refused(&self) -> Option<&RealTimeError> {
        self.refused.get()
    }

    pub(crate) fn counts(&self) -> ContextCounts {
        let state = self.lock();
        ContextCounts {
            tasks: state.tasks.len(),
            ready: state.ready.len(),
            threads: state.threads,
            idle_threads: state.idle,
            switches: state.switches,
            panics: state.panics,
            refused_schedulings: state.refused_schedulings,
        }
    }

    /// Ends all threads, and refuses tasks from now on. Returns the present ones.
    pub(crate) fn close(&self) -> Vec<Arc<T>> {
        let mut state = self.lock();
        state.destroyed = true;
        let tasks = state.tasks.take_all();
        let ready = std::mem::replace(&mut state.ready, ReadyQueue::new(Policy::Fifo, 0));
        let leaving = std::mem::take(&mut state.leaving);
        drop(state);
        self.available.notify_all();
        drop((ready, leaving));
        tasks
    }

    /// Waits until only so many threads remain.
    pub(crate) fn await_threads(&self, remaining: usize) {
        let mut state = self.lock();
        while state.threads > remaining {
            state = self.left.wait(state);
        }
    }
}
