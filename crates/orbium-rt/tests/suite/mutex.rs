// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutexes of an ORB.

use std::sync::mpsc::channel;

use crate::common::{client, on_a_thread};
use orbium_core::ExceptionKind;
use orbium_rt::MutexNotFound;
use orbium_testkit::{Served, each_strategy, spawn, spawn_blocked, within};

/// Conformance: RT 5.9 - Mutex, with inheritance
#[test]
fn one_thread_at_a_time_has_it() {
    let (_orb, rt) = client();
    let mutex = rt.create_mutex();
    mutex.lock().unwrap();
    let other = mutex.clone();
    assert_eq!(on_a_thread(move || other.try_lock(0)), Ok(false));
    mutex.unlock().unwrap();
    let other = mutex.clone();
    on_a_thread(move || {
        assert_eq!(other.try_lock(0), Ok(true));
        other.unlock().unwrap();
    });
}

/// Conformance: RT 5.9 - Mutex, with inheritance
#[test]
fn waiting_is_bounded_in_units_of_100_ns() {
    let (_orb, rt) = client();
    let mutex = rt.create_mutex();
    mutex.lock().unwrap();
    let other = mutex.clone();
    // 10 ms.
    assert_eq!(on_a_thread(move || other.try_lock(100_000)), Ok(false));
    let other = mutex.clone();
    let waiting = spawn_blocked(move || other.try_lock(u64::MAX));
    mutex.unlock().unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(true));
}

/// Conformance: RT 5.9 - Mutex: unlocked by another, or locked twice: BAD_INV_ORDER
#[test]
fn unlocking_by_another_is_bad_inv_order() {
    let (_orb, rt) = client();
    let mutex = rt.create_mutex();
    let kind = |refused: Result<(), orbium_core::SystemException>| refused.unwrap_err().kind;
    assert_eq!(kind(mutex.unlock()), ExceptionKind::BadInvOrder);
    mutex.lock().unwrap();
    let other = mutex.clone();
    let refused = on_a_thread(move || other.unlock());
    assert_eq!(kind(refused), ExceptionKind::BadInvOrder);
    // Nor is it recursive.
    assert_eq!(kind(mutex.lock()), ExceptionKind::BadInvOrder);
    mutex.unlock().unwrap();
}

/// A servant that waited for a mutex blocked the thread that reads its connection, so that the
/// request that its owner waited for was not read.
///
/// Conformance: RT 5.9 - Mutex, with inheritance
#[test]
fn requests_are_read_while_a_servant_waits_for_a_mutex() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, rt) = client();
        let mutex = rt.create_mutex();
        mutex.lock().unwrap();
        let (waits, waiting) = channel();
        let its = mutex.clone();
        served.state.on_act(move |_, timed| {
            waits.send(()).unwrap();
            if timed == 0 {
                its.lock()?;
            } else {
                assert_eq!(its.try_lock(u64::MAX), Ok(true));
            }
            its.unlock()?;
            Ok(timed)
        });
        let (_orb, target) = served.client();
        let calls = [0, 1].map(|timed| {
            let target = target.clone();
            let call = spawn(move || target.act(timed));
            waiting.recv().unwrap();
            call
        });
        // Over the same connection.
        assert_eq!(within("a request", move || target.echo_long(7)), Ok(7));
        mutex.unlock().unwrap();
        for (call, timed) in calls.into_iter().zip(0..) {
            assert_eq!(call.join().unwrap(), Ok(timed));
        }
        served.end();
    });
}

/// Conformance: RT TAO - Mutex: named
#[test]
fn a_named_mutex_is_one_for_the_orb() {
    let (_orb, rt) = client();
    let not_found = MutexNotFound("log".into());
    assert_eq!(rt.open_named_mutex("log"), Err(not_found.clone()));
    let (first, made) = rt.create_named_mutex("log");
    assert!(made);
    let (second, made) = rt.create_named_mutex("log");
    assert!(!made);
    assert_eq!(first, second);
    assert_eq!(rt.open_named_mutex("log"), Ok(first.clone()));
    assert_ne!(rt.create_named_mutex("other").0, first);
    rt.destroy_mutex(&first);
    assert_eq!(rt.open_named_mutex("log"), Err(not_found));
}
