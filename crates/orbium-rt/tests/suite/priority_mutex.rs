// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mutex with priority inheritance.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use orbium_rt::{MutexError, PriorityMutex};
use orbium_testkit::{eventually, skipped, spawn_blocked};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn one_thread_at_a_time_has_it() {
    let mutex = Arc::new(PriorityMutex::new());
    let (inside, sum) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (mutex, inside, sum) = (mutex.clone(), inside.clone(), sum.clone());
            thread::spawn(move || {
                for _ in 0..2000 {
                    mutex.lock().unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    let seen = sum.load(Ordering::Relaxed);
                    if seen % 16 == 0 {
                        thread::yield_now();
                    }
                    sum.store(seen + 1, Ordering::Relaxed);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    mutex.unlock().unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(sum.load(Ordering::SeqCst), 8000);
    assert!(!mutex.is_locked());
}

#[test]
fn only_its_owner_can_unlock_it() {
    let mutex = Arc::new(PriorityMutex::new());
    assert_eq!(mutex.unlock(), Err(MutexError::NotHeld));
    mutex.lock().unwrap();
    let other = mutex.clone();
    let refused = thread::spawn(move || (other.unlock(), other.is_held_here()));
    assert_eq!(refused.join().unwrap(), (Err(MutexError::NotHeld), false));
    assert!(mutex.is_held_here());
    mutex.unlock().unwrap();
}

#[test]
fn the_owner_cannot_lock_again() {
    let mutex = PriorityMutex::new();
    mutex.lock().unwrap();
    assert_eq!(mutex.lock(), Err(MutexError::HeldHere));
    for wait in [Duration::ZERO, Duration::from_secs(60), Duration::MAX] {
        assert_eq!(mutex.try_lock(wait), Err(MutexError::HeldHere));
    }
    mutex.unlock().unwrap();
    assert_eq!(mutex.try_lock(Duration::ZERO), Ok(true));
}

#[test]
fn waiting_ends_with_its_time() {
    let mutex = Arc::new(PriorityMutex::new());
    mutex.lock().unwrap();
    let other = mutex.clone();
    let waited = thread::spawn(move || {
        let at_once = other.try_lock(Duration::ZERO);
        let start = Instant::now();
        let wait = Duration::from_millis(20);
        (at_once, other.try_lock(wait), start.elapsed() >= wait)
    });
    assert_eq!(waited.join().unwrap(), (Ok(false), Ok(false), true));
    mutex.unlock().unwrap();
}

/// Conformance: RT 5.9 - Mutex, with inheritance
#[test]
fn a_waiter_locks_it_once_it_is_free() {
    for wait in [Some(PATIENCE), Some(Duration::MAX), None] {
        let mutex = Arc::new(PriorityMutex::new());
        mutex.lock().unwrap();
        let other = mutex.clone();
        let thread = spawn_blocked(move || {
            match wait {
                Some(wait) => assert_eq!(other.try_lock(wait), Ok(true)),
                None => other.lock().unwrap(),
            }
            assert!(other.is_held_here());
            other.unlock().unwrap();
        });
        mutex.unlock().unwrap();
        thread.join().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_mutex_of_an_ended_owner_is_an_error() {
    let mutex = Arc::new(PriorityMutex::new());
    let other = mutex.clone();
    thread::spawn(move || other.lock().unwrap()).join().unwrap();
    // The thread's id is free a moment after it was joined.
    eventually("the owner is known to be gone", || {
        match mutex.try_lock(Duration::from_millis(10)) {
            Err(MutexError::Abandoned) => true,
            Ok(false) => false,
            other => panic!("{other:?}"),
        }
    });
}

/// The priority that the kernel uses for a thread at this moment: negative for
/// real-time ones, −1 less the native priority.
#[cfg(target_os = "linux")]
fn effective(thread: u32) -> i64 {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap();
    let after_name = stat.rsplit(") ").next().unwrap();
    after_name.split(' ').nth(15).unwrap().parse().unwrap()
}

/// Conformance: RT 5.9 - Mutex, with inheritance
#[cfg(target_os = "linux")]
#[test]
fn its_owner_inherits_the_priority_of_a_waiter() {
    use orbium_sys::Scheduling;

    if Scheduling::fifo(3).try_out().is_err() {
        skipped("priority inheritance: SCHED_FIFO is not permitted here");
        return;
    }
    let mutex = Arc::new(PriorityMutex::new());
    let (let_go, may_go) = channel();
    let locked = Arc::new(Barrier::new(2));
    let (sender, ids) = channel();
    let owner = {
        let (mutex, locked) = (mutex.clone(), locked.clone());
        thread::spawn(move || {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            let id: u32 = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
            Scheduling::fifo(1).apply_to_this_thread().unwrap();
            mutex.lock().unwrap();
            sender.send(id).unwrap();
            locked.wait();
            may_go.recv().unwrap();
            mutex.unlock().unwrap();
            effective(id)
        })
    };
    let id = ids.recv().unwrap();
    locked.wait();
    assert_eq!(effective(id), -2);
    let waiters: Vec<_> = [2, 3]
        .into_iter()
        .map(|priority| {
            let mutex = mutex.clone();
            thread::spawn(move || {
                Scheduling::fifo(priority).apply_to_this_thread().unwrap();
                mutex.lock().unwrap();
                mutex.unlock().unwrap();
            })
        })
        .collect();
    eventually(
        "the owner has the highest priority of those who wait",
        || effective(id) == -4,
    );
    let_go.send(()).unwrap();
    assert_eq!(owner.join().unwrap(), -2, "it is given back");
    for waiter in waiters {
        waiter.join().unwrap();
    }
}
