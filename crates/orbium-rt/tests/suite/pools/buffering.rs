// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request buffering while no thread is free, and its order.

use std::sync::{Arc, Mutex};
use std::thread;

use orbium_rt::{ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::eventually;

use super::{BUSY, Pooled, propagated, wait_for};
use crate::common::{client, seen_by, server};

/// Conformance: RT 5.8 - `create_threadpool`: default priority, stack size, static and dynamic
/// threads
#[test]
fn without_a_free_thread_and_without_buffering_a_request_is_transient_1() {
    let threads = ThreadpoolLane::new(5, 1, 1);
    let pooled = Pooled::without_lanes(threads, ThreadpoolConfig::default());
    let calls = vec![pooled.at_the_gate(5), pooled.at_the_gate(5)];
    pooled.state.gate.await_waiting(2);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    wait_for(calls);
    eventually("a thread is free again", || pooled.served_at(5) == Ok(5));
    pooled.end();
}

/// Conformance: RT 5.8.4 - request buffering, by number and octets of the pool; beyond: TRANSIENT
/// 1; the most urgent first
/// Conformance: faults - a full pool, a full queue: TRANSIENT 1, completed NO
#[test]
fn requests_wait_up_to_their_number() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_buffered_requests: 2,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let mut calls = vec![pooled.at_the_gate(5)];
    pooled.state.gate.await_waiting(1);
    // Of three more two wait, whichever come first.
    calls.extend((0..3).map(|_| pooled.at_the_gate(5)));
    eventually("one is refused", || {
        calls.iter().filter(|it| it.is_finished()).count() == 1
    });
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    let outcomes: Vec<_> = calls.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == Ok(())).count(), 3);
    assert!(outcomes.contains(&Err(BUSY)));
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.end();
}

/// Conformance: RT 5.8.4 - request buffering, by number and octets of the pool; beyond: TRANSIENT
/// 1; the most urgent first
/// Conformance: faults - a full pool, a full queue: TRANSIENT 1, completed NO
#[test]
fn requests_wait_up_to_their_octets() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_request_buffer_size: 1000,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let busy = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    let client = orbium_testkit::client();
    let target = seen_by(&client, &pooled.orb, &pooled.object);
    assert_eq!(target.echo_octets(&[1; 1001]), Err(BUSY));
    let small = thread::spawn(move || target.echo_octets(&[1; 300]));
    pooled.await_waiting(1);
    pooled.state.gate.open();
    assert_eq!(small.join().unwrap(), Ok(vec![1; 300]));
    busy.join().unwrap().unwrap();
    pooled.end();
}

/// Of what waits for the one thread of a pool without lanes the most urgent is
/// served first, whenever it came: the client's priority orders the queue.
///
/// Conformance: RT 5.8.4 - request buffering, by number and octets of the pool; beyond: TRANSIENT
/// 1; the most urgent first
#[test]
fn requests_waiting_in_a_pool_without_lanes_are_served_by_priority() {
    let (orb, rt) = server();
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        ..ThreadpoolConfig::default()
    };
    let pool = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), config);
    let pooled = Pooled::new(orb, rt, pool.unwrap(), propagated(5));
    let served = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&served);
    pooled.state.on_act(move |call, v| {
        let priority = call.priority().map(orbium_core::Priority::number);
        noted.lock().unwrap().push(priority);
        Ok(v)
    });
    let busy = pooled.at_the_gate(50);
    pooled.state.gate.await_waiting(1);
    let calls: Vec<_> = [10, 30, 20, 30, 10, 20]
        .into_iter()
        .zip(1..)
        .map(|(priority, waiting)| {
            let (client, client_rt) = client();
            let target = seen_by(&client, &pooled.orb, &pooled.object);
            let call = thread::spawn(move || {
                client_rt.current().set_the_priority(priority)?;
                target.act(0).map(drop)
            });
            // One after the other, so that the order of arrival is another.
            pooled.await_waiting(waiting);
            call
        })
        .collect();
    pooled.state.gate.open();
    wait_for(calls);
    wait_for(vec![busy]);
    let served = served.lock().unwrap().clone();
    assert_eq!(served, [30, 30, 20, 20, 10, 10].map(Some));
    pooled.end();
}
