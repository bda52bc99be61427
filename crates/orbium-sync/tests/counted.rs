// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counting of lock operations. The counts are those of a process, so there is one test.
#![cfg(feature = "counted")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_sync::lock::{Condvar, Mutex, RwLock, counts};

#[test]
fn every_operation_is_counted() {
    let before = counts();
    let mutex = Arc::new(Mutex::new(0));
    let change = Arc::new(Condvar::new());
    *mutex.lock() += 1;
    assert!(mutex.try_lock().is_some());
    let since = counts() - before;
    assert_eq!((since.taken, since.released), (2, 2));
    assert_eq!((since.operations(), since.contended), (4, 0));

    let lock = RwLock::new(7);
    assert_eq!(*lock.read(), 7);
    *lock.write() = 8;
    assert_eq!((counts() - before).operations(), 8);

    let held = mutex.lock();
    let other = {
        let (mutex, change) = (Arc::clone(&mutex), Arc::clone(&change));
        thread::spawn(move || {
            *mutex.lock() = 5;
            change.notify_all();
        })
    };
    let reached = change.wait_while(held, |value| *value != 5);
    drop(reached);
    other.join().unwrap();
    let since = counts() - before;
    // Ours, the other thread's, and again after each wait.
    assert_eq!(since.taken, 4 + 2 + since.waits);
    assert_eq!(since.taken, since.released);
    assert_eq!(since.signals, 1);
    assert!(since.waits >= 1);

    let held = mutex.lock();
    let (held, waited) = change.wait_timeout(held, Duration::from_millis(1));
    assert!(waited.timed_out());
    assert_eq!(*held, 5);
    drop(held);

    a_panic_with_a_lock_held_leaves_it_to_the_next();
    let since = counts() - before;
    assert_eq!(since.taken, since.released);
}

fn a_panic_with_a_lock_held_leaves_it_to_the_next() {
    let mutex = Arc::new(Mutex::new(3));
    let holder = Arc::clone(&mutex);
    let panicked = thread::spawn(move || {
        let _guard = holder.lock();
        std::panic::resume_unwind(Box::new("with the lock held"));
    });
    assert!(panicked.join().is_err());
    assert_eq!(*mutex.lock(), 3);
    assert!(mutex.try_lock().is_some());
}
