// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waking, running and migrating under a model checker: in every schedule each task that is woken
//! runs, and runs to its end, while it migrates, while its thread migrates and while the policy
//! changes.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-executor --test loom --release`
//!
//! The modules are compiled here over the checker's locks. A lost task shows as a deadlock.
#![cfg(loom)]
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "whole modules are compiled here, and only some of them is called"
)]

#[path = "../src/clock.rs"]
mod clock;
#[path = "../src/counts.rs"]
mod counts;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/queue/mod.rs"]
mod queue;
#[path = "../src/shared.rs"]
mod shared;
#[path = "../src/tasks/mod.rs"]
mod tasks;
#[path = "../src/thread_setup.rs"]
mod thread_setup;
#[path = "../src/worker.rs"]
mod worker;

mod lock {
    //! The checker's locks, without poisoning as [`orbium_sync::lock`].

    use std::sync::PoisonError;

    pub(crate) use loom::sync::MutexGuard;

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[derive(Debug, Default)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            let waited = self.0.wait(guard);
            waited.unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    pub(crate) fn acquire<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock()
    }
}

use std::future::poll_fn;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Poll, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use queue::policy::Policy;
use shared::Shared;
use tasks::qos::TaskQos;
use tasks::task::{Home, Task};
use thread_setup::ThreadSetup;

/// Set once; threads block until it is.
#[derive(Default)]
struct Flag {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Flag {
    fn set(&self) {
        *self.set.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let mut set = self.set.lock().unwrap();
        while !*set {
            set = self.changed.wait(set).unwrap();
        }
    }
}

fn context() -> Arc<Home> {
    Shared::new((String::new(), ThreadSetup::default()), Policy::Fifo, 4)
}

/// A thread of the context.
fn start(context: &Arc<Home>) -> thread::JoinHandle<()> {
    assert!(context.enter());
    let context = Arc::clone(context);
    thread::spawn(move || worker::run_tasks(context, |_| ()))
}

/// A task that ends when it has been woken once.
fn sleeper(context: &Arc<Home>, ended: &Arc<Flag>) -> (Arc<Task>, Arc<StdMutex<Option<Waker>>>) {
    let waker = Arc::<StdMutex<Option<Waker>>>::default();
    let (place, ended) = (Arc::clone(&waker), Arc::clone(ended));
    let mut polled = false;
    let work = poll_fn(move |context| {
        if polled {
            ended.set();
            return Poll::Ready(());
        }
        polled = true;
        *place.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    });
    let task = Task::spawn(context, TaskQos::default(), Box::pin(work)).unwrap();
    (task, waker)
}

/// Polls the task once on this thread, which counts as one of its context.
fn poll_once(context: &Arc<Home>) {
    assert!(context.enter());
    let shared::Next::Run(task, begun) = context.next() else {
        panic!("a task is ready");
    };
    assert!(task.run(context, begun).is_none());
    context.withdraw();
}

fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

fn take(waker: &StdMutex<Option<Waker>>) -> Waker {
    waker.lock().unwrap().take().expect("it was polled")
}

#[test]
fn a_task_that_is_woken_while_a_thread_looks_for_tasks_runs() {
    bounded(|| {
        let (context, ended) = (context(), Arc::default());
        let (_task, waker) = sleeper(&context, &ended);
        poll_once(&context);
        let worker = start(&context);
        take(&waker).wake();
        ended.wait();
        context.destroy();
        worker.join().unwrap();
    });
}

#[test]
fn a_task_that_migrates_while_it_is_woken_runs_at_its_destination() {
    bounded(|| {
        let (from, to, ended) = (context(), context(), Arc::default());
        let (task, waker) = sleeper(&from, &ended);
        poll_once(&from);
        let worker = start(&to);
        let migrating = {
            let to = Arc::clone(&to);
            thread::spawn(move || task.migrate(&to).unwrap())
        };
        take(&waker).wake();
        ended.wait();
        migrating.join().unwrap();
        assert_eq!(from.counts().tasks, 0);
        to.destroy();
        worker.join().unwrap();
    });
}

#[test]
fn a_task_that_is_woken_while_it_runs_runs_again() {
    bounded(|| {
        let (context, ended) = (context(), Arc::<Flag>::default());
        let done = Arc::clone(&ended);
        let mut waking = None;
        let work = poll_fn(move |context| {
            if waking.is_some() {
                done.set();
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            waking = Some(thread::spawn(move || waker.wake()));
            Poll::Pending
        });
        Task::spawn(&context, TaskQos::default(), Box::pin(work)).unwrap();
        let worker = start(&context);
        ended.wait();
        context.destroy();
        worker.join().unwrap();
    });
}

#[test]
fn no_task_is_lost_while_the_policy_changes_and_it_migrates() {
    bounded(|| {
        let (from, to, ended) = (context(), context(), Arc::default());
        let (task, waker) = sleeper(&from, &ended);
        poll_once(&from);
        take(&waker).wake();
        let changing = {
            let from = Arc::clone(&from);
            thread::spawn(move || from.set_policy(Policy::Priority))
        };
        task.migrate(&to).unwrap();
        changing.join().unwrap();
        assert_eq!((from.counts().ready, to.counts().ready), (0, 1));
        poll_once(&to);
        ended.wait();
        from.destroy();
        to.destroy();
    });
}

#[test]
fn a_thread_that_migrates_runs_the_tasks_of_its_destination() {
    bounded(|| {
        let (from, to, ended) = (context(), context(), Arc::default());
        let (_task, waker) = sleeper(&to, &ended);
        poll_once(&to);
        let worker = start(&from);
        let waking = thread::spawn(move || take(&waker).wake());
        assert!(from.release_thread(Some(Arc::clone(&to))));
        ended.wait();
        waking.join().unwrap();
        from.destroy();
        to.destroy();
        worker.join().unwrap();
    });
}

#[test]
fn a_context_that_is_destroyed_leaves_no_task() {
    bounded(|| {
        let (context, ended) = (context(), Arc::default());
        let (task, waker) = sleeper(&context, &ended);
        poll_once(&context);
        let worker = start(&context);
        let waking = thread::spawn(move || take(&waker).wake());
        context.destroy();
        waking.join().unwrap();
        worker.join().unwrap();
        assert!(task.has_ended());
    });
}

/// Regression: the task was in the destination, and in the queue of no context: it occupied the
/// destination for ever, or did not run there.
#[test]
fn a_task_that_migrates_while_its_context_is_destroyed_arrives_or_ends() {
    bounded(|| {
        let (from, to, ended) = (context(), context(), Arc::default());
        let (task, _) = sleeper(&from, &ended);
        let migrating = {
            let (task, to) = (Arc::clone(&task), Arc::clone(&to));
            thread::spawn(move || task.migrate(&to).is_ok())
        };
        from.destroy();
        let arrived = migrating.join().unwrap();
        let counts = to.counts();
        assert_eq!(
            (counts.tasks, counts.ready),
            (arrived.into(), arrived.into())
        );
        assert_eq!(task.has_ended(), !arrived);
        to.destroy();
    });
}
