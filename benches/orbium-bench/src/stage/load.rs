// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that call at the maximum rate.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::caller::{Call, Callee};
use super::lock_counts::LockCounts;
use orbium_cli::Failure;

/// Empty calls for that time, with a thread for each callee: their number, and the time that they
/// took.
pub(crate) fn for_time(callees: &[&Callee], time: Duration) -> Result<Value, Failure> {
    let barrier = Barrier::new(callees.len() + 1);
    let ends = AtomicBool::new(false);
    let calls = connect(callees)?;
    thread::scope(|scope| {
        let (barrier, ends) = (&barrier, &ends);
        let count = |mut call: Call| {
            move || {
                barrier.wait();
                let mut made = 0_u64;
                while !ends.load(Ordering::Relaxed) {
                    call()?;
                    made += 1;
                }
                Ok(made)
            }
        };
        let clients: Vec<_> = calls
            .into_iter()
            .map(|call| scope.spawn(count(call)))
            .collect();
        barrier.wait();
        let begin = Instant::now();
        thread::sleep(time);
        ends.store(true, Ordering::Relaxed);
        let elapsed = begin.elapsed();
        let made = clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(died));
        let made: u64 = made.sum::<Result<u64, Failure>>()?;
        Ok(json!({
            "calls": made,
            "nanoseconds": u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        }))
    })
}

/// So many empty calls of each of so many threads, and their operations on locks.
pub(crate) fn for_count(callee: &Callee, threads: usize, count: u64) -> Result<Value, Failure> {
    let calls = connect(&vec![callee; threads])?;
    let barrier = Barrier::new(threads);
    let before = LockCounts::here();
    thread::scope(|scope| {
        let repeat = |mut call: Call| {
            let barrier = &barrier;
            move || {
                barrier.wait();
                (0..count).try_for_each(|_| call())
            }
        };
        let clients: Vec<_> = calls
            .into_iter()
            .map(|call| scope.spawn(repeat(call)))
            .collect();
        let done = clients
            .into_iter()
            .map(|client| client.join().unwrap_or_else(died));
        done.collect::<Result<(), Failure>>()
    })?;
    let locks = LockCounts::here().zip(before);
    let locks = locks.map(|(after, before)| after.since(before).to_json());
    Ok(json!({ "calls": count * threads as u64, "locks": locks }))
}

/// A call for each thread. The connections are opened by concurrent calls, so that each thread has
/// one.
fn connect(callees: &[&Callee]) -> Result<Vec<Call>, Failure> {
    let mut calls = Vec::new();
    for callee in callees {
        calls.push(callee.empty_call()?);
    }
    let barrier = Barrier::new(callees.len());
    let warm_up = |call: &mut Call| {
        barrier.wait();
        (0..WARM_UP).try_for_each(|_| call())
    };
    thread::scope(|scope| {
        let warm_up = &warm_up;
        let warming: Vec<_> = calls
            .iter_mut()
            .map(|call| scope.spawn(move || warm_up(call)))
            .collect();
        let done = warming
            .into_iter()
            .map(|warming| warming.join().unwrap_or_else(died));
        done.collect::<Result<(), Failure>>()
    })?;
    Ok(calls)
}

/// Number of calls of each thread before the measurement.
const WARM_UP: usize = 50;

/// The failure of a thread that has panicked.
pub(crate) fn died<T>(_: Box<dyn std::any::Any + Send>) -> Result<T, Failure> {
    Err(Failure::because("a client thread has died"))
}
