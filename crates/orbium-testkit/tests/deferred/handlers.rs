// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply handlers that are tasks of a scheduler context.

use std::sync::mpsc::channel;
use std::thread;

use orbium::config::ServerStrategy;
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_testkit::{PATIENCE, eventually};

use crate::fixture::{Served, Token};

/// A context of one thread, with its tasks in the order of their priorities.
fn by_priority() -> SchedulerContext {
    let context = SchedulerContext::builder("handlers").policy(Policy::Priority);
    context.threads(1).build().unwrap()
}

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: reply handlers are tasks of one - in its order, on its threads
#[test]
fn handlers_run_in_the_order_of_their_context_and_on_its_threads() {
    const PRIORITIES: [i32; 4] = [2, 4, 1, 3];
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let context = by_priority();
    let (handled, outcomes) = channel();
    for priority in PRIORITIES {
        let executor = context.executor(TaskQos::default().priority(priority));
        let handled = handled.clone();
        served
            .desk
            .take_async(priority)
            .on_reply_by(executor, move |outcome| {
                let by = thread::current().name().map(str::to_owned);
                handled.send((outcome.unwrap(), by)).unwrap();
            });
    }
    let tokens = PRIORITIES.map(|_| served.token());
    eventually("all wait for their replies", || {
        let counts = context.counts();
        (counts.ready, counts.switches) == (0, 4)
    });
    let (release, held) = channel::<()>();
    let busy = context.spawn(TaskQos::default().priority(9), async move {
        let _ = held.recv();
    });
    eventually("the thread is busy", || context.counts().switches == 5);
    for (number, token) in tokens {
        token.ok(10 * number).unwrap();
    }
    eventually("all replies are there", || context.counts().ready == 4);
    drop(release);
    busy.unwrap().wait().unwrap();
    let outcomes = PRIORITIES.map(|_| outcomes.recv_timeout(PATIENCE).unwrap());
    let expected = [40, 30, 20, 10].map(|number| (number, Some("handlers".to_owned())));
    assert_eq!(outcomes, expected);
    served.end();
}

#[test]
fn the_end_of_a_context_cancels_the_calls_of_its_handlers() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let context = by_priority();
    let executor = context.executor(TaskQos::default());
    served
        .desk
        .take_async(1)
        .on_reply_by(executor, |outcome| panic!("{outcome:?}"));
    let (_, token): (i32, Token) = served.token();
    assert!(!token.is_cancelled());
    drop(context);
    eventually("the call is cancelled", || token.is_cancelled());
    drop(token);
    served.end();
}
