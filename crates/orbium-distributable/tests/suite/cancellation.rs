// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that are cancelled.

use std::sync::mpsc::channel;
use std::thread;

use orbium::{Completion, ExceptionKind, SystemException};
use orbium_distributable::{SegmentError, State};
use orbium_testkit::{eventually, within};

use crate::common::{Process, priority};

/// Conformance: RT 6 - distributable threads: cancelled across processes: THREAD_CANCELLED at the head, then at each caller - of three ORBs
#[test]
fn cancellation_reaches_a_nested_call() {
    let [first, second, third] = [(); 3].map(|()| Process::new());
    let (to_second, to_third) = (first.target_of(&second), second.target_of(&third));
    let (seen, of_second) = channel();
    second.state.on_act(move |_, value| {
        let result = to_third.act(value);
        seen.send(result).unwrap();
        result
    });
    let head = third.threads.current();
    third.state.on_act(move |_, value| {
        eventually("the head is cancelled", || head.check_cancelled().is_err());
        head.check_cancelled()?;
        Ok(value)
    });
    let (current, threads) = (first.threads.current(), first.threads.clone());
    let (begun, id) = channel();
    let root = thread::spawn(move || {
        current.begin_scheduling_segment("scan", priority(5), None)?;
        begun.send(current.id().unwrap()).unwrap();
        let result = to_second.act(1);
        let ended = current.end_scheduling_segment("scan");
        assert_eq!(ended, Err(SegmentError::Cancelled));
        assert_eq!(current.id(), None);
        result
    });
    let id = id.recv().unwrap();
    eventually("the head is there", || third.threads.lookup(id).is_some());
    let thread = threads.lookup(id).unwrap();
    assert_eq!(thread.state(), State::Active);
    within("the cancellation", {
        let orb = first.orb.clone();
        let thread = thread.clone();
        move || thread.cancel(&orb)
    });
    let result = within("the call", move || root.join().unwrap());
    let cancelled = |it: &Result<i32, SystemException>| matches!(it, Err(it) if it.kind == ExceptionKind::ThreadCancelled);
    assert!(cancelled(&result), "{result:?}");
    assert!(cancelled(&of_second.recv().unwrap()));
    assert_eq!(thread.state(), State::Cancelled);
    // Again, and after its end.
    thread.cancel(&first.orb);
    for process in [&first, &second, &third] {
        eventually("nothing is left", || process.threads.lookup(id).is_none());
    }
    [first, second, third].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: each exception - THREAD_CANCELLED at the next scheduling point
#[test]
fn a_cancelled_thread_neither_calls_nor_begins_segments() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let target = client.target_of(&server);
    let current = client.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), None)
        .unwrap();
    current.thread().unwrap().cancel(&client.orb);
    let refused = target.noop().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ThreadCancelled);
    assert_eq!(refused.completed, Completion::No);
    assert_eq!(server.state.calls(), 0);
    let cancelled = Err(SegmentError::Cancelled);
    assert_eq!(current.begin_scheduling_segment("", None, None), cancelled);
    assert_eq!(
        current.update_scheduling_segment("scan", None, None),
        cancelled
    );
    assert_eq!(current.end_scheduling_segment("scan"), cancelled);
    // The native thread is a thread like any other again.
    assert_eq!(target.noop(), Ok(()));
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: a call by its thread's token ends at once when the thread is cancelled
#[test]
fn a_call_with_the_token_of_its_thread_ends_at_once() {
    use orbium::Interface;

    let [client, server] = [(); 2].map(|()| Process::new());
    let (current, target) = (client.threads.current(), client.target_of(&server));
    let (begun, thread) = channel();
    let waiting = thread::spawn(move || {
        current
            .begin_scheduling_segment("", priority(5), None)
            .unwrap();
        let thread = current.thread().unwrap();
        let target = target.with_cancellation(thread.token());
        begun.send(thread).unwrap();
        let result = target.gate();
        assert_eq!(
            current.end_scheduling_segment(""),
            Err(SegmentError::Cancelled)
        );
        result
    });
    let thread = thread.recv().unwrap();
    server.state.gate.await_waiting(1);
    thread.cancel(&client.orb);
    let result = within("the call", move || waiting.join().unwrap());
    assert!(result.is_err());
    server.state.gate.open();
    [client, server].into_iter().for_each(Process::end);
}
