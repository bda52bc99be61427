// SPDX-License-Identifier: MIT OR Apache-2.0
//! The asynchronous forms of requests: a future, a handler, or none, and sets with a time-out.

use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use orbium_cdr::Any;
use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_dynamic::{Request, RequestError, Requests};

use crate::pollable::Served;
use crate::waiting::{PATIENCE, block_on};

fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::No)
}

fn returned(request: &Request) -> i32 {
    request.return_value().extract().unwrap()
}

/// Polls a future once, with a waker that does nothing.
fn poll<T>(future: impl Future<Output = T>) -> Poll<T> {
    let mut future = std::pin::pin!(future);
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

/// Conformance: dynamic - requests: the asynchronous forms of stubs - a future
#[test]
fn a_future_is_ready_once_the_request_has_its_results() {
    let served = Served::new();
    let mut request = served.request(7);
    let mut future = Box::pin(request.invoke_async());
    assert!(poll(&mut future).is_pending());
    // It was sent before it was polled to its end.
    assert_eq!(served.arrived.recv_timeout(PATIENCE), Ok(7));
    served.go_on.send(()).unwrap();
    assert_eq!(block_on(&mut future), Ok(()));
    drop(future);
    assert_eq!(returned(&request), 7);
    assert_eq!(block_on(request.response()), Err(wrong_order(12).into()));
    let again = block_on(request.invoke_async());
    assert_eq!(again, Err(wrong_order(10).into()));
    served.end();
}

#[test]
fn a_future_that_is_dropped_leaves_a_request_that_was_sent() {
    let served = Served::new();
    let mut request = served.request(7);
    assert_eq!(block_on(request.response()), Err(wrong_order(11).into()));
    drop(request.invoke_async());
    assert!(poll(request.response()).is_pending());
    served.go_on.send(()).unwrap();
    assert_eq!(request.get_response(), Ok(()));
    assert_eq!(returned(&request), 7);
    served.end();
}

/// Conformance: dynamic - requests: the asynchronous forms of stubs - a handler
#[test]
fn a_handler_has_the_request_with_its_results() {
    let served = Served::new();
    let (send, handled) = channel();
    for sent_before in [false, true] {
        let mut request = served.request(3);
        if sent_before {
            request.send().unwrap();
        }
        let send = send.clone();
        let handler = move |request, outcome| send.send((request, outcome)).unwrap();
        request.on_reply(handler).unwrap();
        served.go_on.send(()).unwrap();
        let (request, outcome) = handled.recv_timeout(PATIENCE).unwrap();
        assert_eq!((outcome, returned(&request)), (Ok(()), 3));
        assert_eq!(request.poll_response(), Err(wrong_order(12)));
        let used = request.on_reply(|_, _| panic!("it was called"));
        assert_eq!(used, Err(wrong_order(10)));
    }
    let unheard = Request::new(&served.object, "unheard").unwrap();
    unheard
        .on_reply(move |request, outcome| send.send((request, outcome)).unwrap())
        .unwrap();
    let (_, outcome) = handled.recv_timeout(PATIENCE).unwrap();
    let raised = outcome.unwrap_err();
    assert_eq!(
        raised.repository_id(),
        "IDL:omg.org/CORBA/BAD_OPERATION:1.0"
    );
    served.end();
}

/// Conformance: dynamic - requests: the asynchronous forms of stubs - neither: `detach`
#[test]
fn a_detached_request_is_performed_and_its_results_discarded() {
    let served = Served::new();
    for value in [1, 2] {
        let mut request = served.request(value);
        if value == 2 {
            request.send().unwrap();
        }
        request.detach().unwrap();
        assert_eq!(served.arrived.recv_timeout(PATIENCE), Ok(value));
        served.go_on.send(()).unwrap();
    }
    let mut invoked = served.request(3);
    served.go_on.send(()).unwrap();
    invoked.invoke().unwrap();
    assert_eq!(invoked.detach(), Err(wrong_order(10)));
    served.end();
}

/// Conformance: dynamic - requests: the next response of several, with a time-out: NO_RESPONSE 1, TIMEOUT 1
#[test]
fn a_set_waits_for_its_next_response_up_to_a_time() {
    let served = Served::new();
    let mut requests = Requests::new();
    let none = requests.next_response(Some(Duration::ZERO)).map(drop);
    assert_eq!(none, Err(wrong_order(11)));
    requests.send(served.request(7)).unwrap();
    let (at_once, after) = (Duration::ZERO, Duration::from_millis(1));
    for (time, kind) in [
        (at_once, ExceptionKind::NoResponse),
        (after, ExceptionKind::Timeout),
    ] {
        let none = requests.next_response(Some(time)).map(drop);
        let expected = SystemException::omg(kind, 1, Completion::Maybe);
        assert_eq!(none, Err(expected));
    }
    served.go_on.send(()).unwrap();
    let (request, outcome) = requests.next_response(Some(PATIENCE)).unwrap();
    assert_eq!((outcome, returned(&request)), (Ok(()), 7));
    served.end();
}

#[test]
fn the_next_response_of_a_set_is_a_future() {
    let served = Served::new();
    let mut requests = Requests::new();
    let none = block_on(requests.next_response_async()).map(drop);
    assert_eq!(none, Err(wrong_order(11)));
    for value in [5, 6] {
        requests.send(served.request(value)).unwrap();
    }
    // One that is dropped takes no reply with it.
    assert!(poll(requests.next_response_async()).is_pending());
    let go_on = served.go_on.clone();
    let replies = std::thread::spawn(move || {
        for _ in 0..2 {
            go_on.send(()).unwrap();
        }
    });
    let mut came = Vec::new();
    while requests.outstanding() > 0 {
        let (request, outcome) = block_on(requests.next_response_async()).unwrap();
        assert_eq!(outcome, Ok(()));
        came.push(request.return_value().clone());
    }
    replies.join().unwrap();
    assert_eq!(came, [Any::from(5), Any::from(6)]);
    served.end();
}

/// What the end of the ORB is for a call that was sent.
fn ended() -> RequestError {
    SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::Maybe).into()
}

/// Conformance: dynamic - requests: the ORB ends while a reply is awaited: BAD_INV_ORDER 4
#[test]
fn the_end_of_the_orb_ends_blocked_responses() {
    for waits in [true, false] {
        let served = Served::new();
        let mut request = served.request(1);
        request.send().unwrap();
        let mut requests = Requests::new();
        requests.send(served.request(2)).unwrap();
        assert_eq!(served.arrived.recv_timeout(PATIENCE), Ok(1));
        let (send, outcomes) = channel();
        let send_too = send.clone();
        let blocked = std::thread::spawn(move || send.send(request.get_response()).unwrap());
        let of_set = std::thread::spawn(move || {
            let (_, outcome) = requests.get_next_response().unwrap();
            assert_eq!(requests.outstanding(), 0);
            send_too.send(outcome).unwrap();
        });
        served.client.shutdown(waits).unwrap();
        for _ in 0..2 {
            assert_eq!(outcomes.recv_timeout(PATIENCE), Ok(Err(ended())));
        }
        for thread in [blocked, of_set] {
            thread.join().unwrap();
        }
        served.end();
    }
}
