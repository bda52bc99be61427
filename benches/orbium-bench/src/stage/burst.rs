// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to lanes of many priorities at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use orbium::ObjectRef;
use serde_json::{Value, json};

use super::caller::{Call, cube_call};
use super::clock::{Span, now};
use super::load::died;
use super::real_time::{HIGH, become_real_time};
use orbium_cli::Failure;

/// Time after which a sent request has certainly arrived.
const ARRIVAL: Duration = Duration::from_millis(10);

/// Time beyond which a call counts as late: a thousand times the usual.
pub(crate) const LONG_CALL: Duration = Duration::from_millis(5);

/// A call that keeps the most urgent lane busy for long, and during it so many calls to each of the
/// others, the least urgent first. The server reports the order of their completion.
pub(crate) fn behind_a_long_call(
    long: &ObjectRef,
    others: &[&ObjectRef],
    each: usize,
) -> Result<Value, Failure> {
    let long = cube_call(long)?;
    let all: Vec<&ObjectRef> = others
        .iter()
        .flat_map(|object| std::iter::repeat_n(*object, each))
        .collect();
    let ready = Barrier::new(all.len() + 1);
    let begin = Instant::now();
    thread::scope(|scope| {
        let mut turns = Vec::new();
        let mut calls = Vec::new();
        for object in all {
            let (turn, mine) = channel::<()>();
            turns.push(turn);
            let ready = &ready;
            calls.push(scope.spawn(move || {
                // Built by concurrent calls, so that each has a connection.
                let made = cube_call(object);
                let made = made.and_then(|mut call| call().map(|()| call));
                ready.wait();
                let _ = mine.recv();
                made?()
            }));
        }
        ready.wait();
        let blocking = scope.spawn(long);
        thread::sleep(ARRIVAL);
        for turn in turns {
            // Fails only if the thread has ended, which joining reports.
            let _ = turn.send(());
        }
        calls.push(blocking);
        let done = calls
            .into_iter()
            .map(|call| call.join().unwrap_or_else(died));
        done.collect::<Result<(), Failure>>()
    })?;
    Ok(json!({ "seconds": begin.elapsed().as_secs_f64() }))
}

/// So many calls to each of the objects, all at once.
pub(crate) fn mixed(objects: &[&ObjectRef], count: u64) -> Result<Value, Failure> {
    thread::scope(|scope| {
        let callers: Vec<_> = objects
            .iter()
            .map(|object| {
                scope.spawn(move || {
                    // One was made to check that the object exists.
                    let mut call = cube_call(object)?;
                    (1..count).try_for_each(|_| call())
                })
            })
            .collect();
        let done = callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or_else(died));
        done.collect::<Result<(), Failure>>()
    })?;
    Ok(json!({ "calls": count * objects.len() as u64 }))
}

/// Calls to one object, one after another with a pause, while so many threads call each of the
/// others at the maximum rate; returns the nanoseconds of each call, and the times of late ones.
pub(crate) fn siege(
    object: &ObjectRef,
    others: &[&ObjectRef],
    besiegers: usize,
    (time, pause): (Duration, Duration),
) -> Result<Value, Failure> {
    let ends = AtomicBool::new(false);
    let mut call = cube_call(object)?;
    let mut calls: Vec<Call> = Vec::new();
    for object in others {
        for _ in 0..besiegers {
            calls.push(cube_call(object)?);
        }
    }
    let ends = &ends;
    let (found, refused, failed) = thread::scope(|scope| {
        let besiege = |mut call: Call| {
            move || {
                let mut failed = 0_u64;
                while !ends.load(Ordering::Relaxed) {
                    failed += u64::from(call().is_err());
                }
                failed
            }
        };
        let callers: Vec<_> = calls
            .into_iter()
            .map(|call| scope.spawn(besiege(call)))
            .collect();
        let punctual = scope.spawn(move || {
            let refused = become_real_time(HIGH).err();
            let found = repeat(&mut call, time, pause);
            ends.store(true, Ordering::Relaxed);
            found.map(|found| (found, refused))
        });
        let punctual = punctual.join().unwrap_or_else(died);
        ends.store(true, Ordering::Relaxed);
        let failed = callers.into_iter().map(|caller| caller.join().unwrap_or(1));
        let failed: u64 = failed.sum();
        punctual.map(|(found, refused)| (found, refused, failed))
    })?;
    let nanoseconds = found
        .iter()
        .map(|span| u64::try_from(span.length().as_nanos()).unwrap_or(u64::MAX));
    let late = found.iter().filter(|span| span.length() > LONG_CALL);
    Ok(json!({
        "high": nanoseconds.collect::<Vec<_>>(),
        "late": late.map(|span| span.to_json()).collect::<Value>(),
        "refused": refused,
        "failed": failed,
    }))
}

fn repeat(call: &mut Call, time: Duration, pause: Duration) -> Result<Vec<Span>, Failure> {
    // Until the other threads are calling.
    thread::sleep(ARRIVAL);
    let begin = Instant::now();
    let mut found = Vec::new();
    while begin.elapsed() < time {
        let begin = now();
        call()?;
        found.push(Span { begin, end: now() });
        thread::sleep(pause);
    }
    Ok(found)
}
