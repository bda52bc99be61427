// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that answer by futures.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use orbium::{Completion, ExceptionKind};
use orbium_testkit::{Peer, RequestLine, block_on, each_strategy, eventually, request};

use crate::fixture::{Served, Token};
use crate::later::{Refused, RefusedError};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An executor with a thread for each future.
fn spawn(task: Task) {
    thread::spawn(move || block_on(task));
}

/// What a servant of a program would do.
async fn serve(number: i32) -> Result<i32, RefusedError> {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    match number {
        0 => Err(Refused { why: 8 }.into()),
        _ => Ok(number),
    }
}

/// Conformance: Messaging - asynchronous method handling: an async function answers, on any executor
#[test]
fn an_async_function_answers_on_the_executor_of_the_program() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        for number in [3, 0] {
            let caller = served.call(number);
            let (_, token) = served.token();
            token.spawn(spawn, serve(number));
            let wanted = match number {
                0 => Err(RefusedError::from(Refused { why: 8 })),
                _ => Ok(number),
            };
            assert_eq!(caller.join().unwrap(), wanted);
        }
        served.end();
    });
}

/// Says that it was dropped.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn never(token: Token, spawn: impl Fn(Task)) -> Arc<AtomicBool> {
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = Guard(Arc::clone(&dropped));
    token.spawn(spawn, async move {
        let _guard = guard;
        pending().await
    });
    dropped
}

/// Conformance: Messaging - asynchronous method handling: the future of a client that is gone is dropped
#[test]
fn the_future_is_dropped_when_the_client_is_gone() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "take"), |w| w.write_u32(2)));
        let (_, token) = served.token();
        let dropped = never(token, spawn);
        drop(peer);
        eventually("the future is dropped", || dropped.load(Ordering::Acquire));
        served.end();
    });
}

#[test]
fn a_future_that_the_executor_drops_answers_no_response() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let caller = served.call(1);
        let (_, token) = served.token();
        let dropped = never(token, drop);
        assert!(dropped.load(Ordering::Acquire));
        let Err(RefusedError::System(exception)) = caller.join().unwrap() else {
            panic!("a system exception");
        };
        assert_eq!(exception.kind, ExceptionKind::NoResponse);
        assert_eq!(exception.completed, Completion::Maybe);
        served.end();
    });
}
