// SPDX-License-Identifier: MIT OR Apache-2.0
//! The three forms, and what comes out of them.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use orbium::config::{GiopMinor, Limits};
use orbium::giop::{MessageKind, ReplyStatus, minor as codes};
use orbium_cdr::ByteOrder;
use orbium_testkit::{Served, each_strategy, eventually, reply};

use super::*;

#[test]
fn each_form_gives_the_results() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let object = target.as_object().clone();
        within("the calls", move || {
            assert_eq!(block_on(echo(&object, 1)), Ok(1));
            assert_eq!(echo(&object, 2).wait(), Ok(2));
            let (result, thread) = handled(echo(&object, 3)).recv().unwrap();
            assert_eq!(result, Ok(3));
            assert_eq!(thread.name(), Some("orbium-handler"));
            let octets = vec![7; 3_000_000];
            assert_eq!(echo_octets(&object, octets.clone()).wait(), Ok(octets));
            echo(&object, 4).detach();
        });
        eventually("the last call arrives too", || served.state.calls() == 5);
    });
}

#[test]
fn many_calls_share_one_connection_and_are_answered_in_any_order() {
    for minor in 0..=2 {
        let scripted = Scripted::with(Config {
            giop_minor: GiopMinor::new(minor).unwrap(),
            ..Config::default()
        });
        let calls: Vec<_> = (0..50).map(|v| echo(&scripted.object, v)).collect();
        let mut peer = scripted.server.accept();
        answer(&mut peer, 50);
        for (v, call) in (0..).zip(calls) {
            assert_eq!(result(call), Ok(v));
        }
        assert!(scripted.server.accept_at_once().is_none());
        scripted.end();
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
    }
}

#[test]
fn calls_within_the_process_are_made_by_a_thread() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let object = served.target.as_object();
    let caller = thread::current().id();
    served.state.on_act(move |_, v| {
        assert_ne!(thread::current().id(), caller);
        Ok(v + 1)
    });
    static ACT: Operation = Operation::new("act");
    let act =
        |v: i32| -> Asynchronous<i32> { object.call_async(&ACT, v, Encode::encode, i32::decode) };
    assert_eq!(result(act(1)), Ok(2));
    assert_eq!(block_on(act(2)), Ok(3));
    served.end();
}

#[test]
fn a_poller_says_what_the_table_of_outcomes_has() {
    let (scripted, mut peer) = Scripted::connected();
    let mut call = echo(&scripted.object, 7);
    let raised = |kind, minor| SystemException::omg(kind, minor, Completion::Maybe);
    let moment = Duration::from_millis(1);
    assert!(!call.is_ready(Some(Duration::ZERO)) && !call.is_ready(Some(moment)));
    let nothing = call.response(Some(Duration::ZERO));
    assert_eq!(nothing, Err(raised(ExceptionKind::NoResponse, 1)));
    let late = call.response(Some(moment));
    assert_eq!(late, Err(raised(ExceptionKind::Timeout, 1)));
    answer(&mut peer, 1);
    assert!(call.is_ready(None));
    assert_eq!(call.response(Some(Duration::ZERO)), Ok(7));
    let again = SystemException::omg(ExceptionKind::ObjectNotExist, 5, Completion::Yes);
    assert_eq!(call.response(None), Err(again));
    assert!(call.is_ready(None));
    assert_eq!(block_on(call), Err(again));
    scripted.end();
}

#[test]
fn a_handler_may_come_after_the_reply() {
    let (scripted, mut peer) = Scripted::connected();
    let call = echo(&scripted.object, 7);
    answer(&mut peer, 1);
    assert!(call.is_ready(None));
    let (answered, thread) = handled(call).recv().unwrap();
    assert_eq!((answered, thread.name()), (Ok(7), Some("orbium-handler")));
    scripted.end();
}

/// Conformance: complaint 34 - a hidden lock is held during the user's callback
#[test]
fn handlers_begin_in_the_order_of_replies_and_may_call() {
    let scripted = Scripted::with(Config {
        limits: Limits {
            reply_threads: 1,
            ..Limits::default()
        },
        ..Config::default()
    });
    let (report, reported) = channel();
    for v in 0..10 {
        let (report, object) = (report.clone(), scripted.object.clone());
        echo(&scripted.object, v).on_reply(move |result| {
            // Waits for a reply that somebody else receives.
            let nested = echo(&object, 100 + v).wait();
            report.send((result, nested)).unwrap();
        });
    }
    let mut peer = scripted.server.accept();
    answer(&mut peer, 10);
    for v in (0..10).rev() {
        answer(&mut peer, 1);
        assert_eq!(reported.recv().unwrap(), (Ok(v), Ok(100 + v)));
    }
    scripted.end();
}

#[test]
fn a_handler_that_panics_affects_no_other_call() {
    let (scripted, mut peer) = Scripted::connected();
    echo(&scripted.object, 1).on_reply(|_| std::panic::resume_unwind(Box::new("handler")));
    answer(&mut peer, 1);
    let next = handled(echo(&scripted.object, 2));
    answer(&mut peer, 1);
    assert_eq!(next.recv().unwrap().0, Ok(2));
    scripted.end();
}

#[test]
fn a_waker_that_panics_affects_no_other_call() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("waker"));
        }
    }
    let (scripted, mut peer) = Scripted::connected();
    let mut call = echo(&scripted.object, 1);
    let waker = Waker::from(Arc::new(Panics));
    let polled = pin!(&mut call).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    let next = echo(&scripted.object, 2);
    // The one after the other.
    answer(&mut peer, 1);
    answer(&mut peer, 1);
    assert_eq!((result(call), result(next)), (Ok(1), Ok(2)));
    scripted.end();
}

#[test]
fn exceptions_come_out_of_the_result() {
    let (scripted, mut peer) = Scripted::connected();
    let refused = SystemException::new(ExceptionKind::NoPermission, 77, Completion::No);
    let unknown = SystemException::omg(ExceptionKind::Unknown, 1, Completion::Maybe);
    let calls = [echo(&scripted.object, 1), echo(&scripted.object, 2)];
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::SystemException, |w| {
        "IDL:omg.org/CORBA/NO_PERMISSION:1.0".encode(w);
        w.write_u32(77);
        w.write_u32(1);
    });
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::UserException, |w| {
        "IDL:Nobody/Declares:1.0".encode(w);
    });
    let [first, second] = calls;
    assert_eq!(
        (result(first), result(second)),
        (Err(refused), Err(unknown))
    );
    // A reply that ends before its value does.
    let call = echo(&scripted.object, 3);
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u8(0));
    let truncated =
        SystemException::orbium(ExceptionKind::Marshal, codes::TRUNCATED, Completion::Yes);
    assert_eq!(result(call), Err(truncated));
    scripted.end();
}

#[test]
fn arguments_that_cannot_be_sent_are_the_callers_fault() {
    let scripted = Scripted::with(Config {
        limits: Limits {
            message_size: 1000,
            ..Limits::default()
        },
        ..Config::default()
    });
    let too_large = result(echo_octets(&scripted.object, vec![0; 2000])).unwrap_err();
    assert_eq!(too_large.kind, ExceptionKind::Marshal);
    assert_eq!(too_large.completed, Completion::No);
    scripted.end();
}

#[test]
fn replies_in_fragments_are_put_together() {
    let (scripted, mut peer) = Scripted::connected();
    let calls = [1, 2].map(|v| echo_octets(&scripted.object, vec![v; 10]));
    let requests = [(); 2].map(|()| peer.expect_request("echo_octets"));
    let parts: Vec<Vec<Vec<u8>>> = [1, 2]
        .iter()
        .zip(&requests)
        .map(|(v, request)| {
            let status = ReplyStatus::NoException;
            let whole = reply(2, ByteOrder::NATIVE, request.id, status, |w| {
                w.write_octets(&vec![*v; 5000]);
            });
            in_fragments(&whole, request.id, 512)
        })
        .collect();
    // In turns, the second one's first.
    let turns = parts[1].len().max(parts[0].len());
    for turn in 0..turns {
        for of_reply in parts.iter().rev() {
            if let Some(part) = of_reply.get(turn) {
                peer.send(part);
            }
        }
    }
    for (v, call) in (1..).zip(calls) {
        assert_eq!(result(call), Ok(vec![v; 5000]));
    }
    scripted.end();
}

/// A GIOP 1.2 message in fragments of so many octets.
fn in_fragments(whole: &[u8], id: u32, size: usize) -> Vec<Vec<u8>> {
    let (first, rest) = whole.split_at(12 + size);
    let mut first = first.to_vec();
    first[6] |= 2;
    first[8..12].copy_from_slice(&(size as u32).to_ne_bytes());
    let mut parts = vec![first];
    let count = rest.chunks(size).count();
    for (place, chunk) in rest.chunks(size).enumerate() {
        let mut part = whole[..12].to_vec();
        part[6] = (part[6] & !2) | (u8::from(place + 1 < count) * 2);
        part[7] = MessageKind::Fragment as u8;
        part[8..12].copy_from_slice(&(chunk.len() as u32 + 4).to_ne_bytes());
        part.extend(id.to_ne_bytes());
        part.extend(chunk);
        parts.push(part);
    }
    parts
}

#[test]
fn a_call_that_is_dropped_is_cancelled() {
    let (scripted, mut peer) = Scripted::connected();
    let dropped = echo(&scripted.object, 1);
    let request = peer.expect_request("echo_long");
    drop(dropped);
    let cancelled = peer.expect(MessageKind::CancelRequest).cancelled();
    assert_eq!(cancelled, request.id);
    // A reply that comes all the same is discarded.
    peer.answer(&request, |w| w.write_u32(1));
    let call = echo(&scripted.object, 2);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(2));
    // One that was answered is over.
    let over = echo(&scripted.object, 3);
    answer(&mut peer, 1);
    assert!(over.is_ready(None));
    drop(over);
    scripted.end();
    peer.expect(MessageKind::CloseConnection);
}

#[test]
fn no_more_are_under_way_than_may_be() {
    let scripted = Scripted::with(Config {
        limits: Limits {
            asynchronous_calls: 2,
            ..Limits::default()
        },
        ..Config::default()
    });
    let calls = [1, 2].map(|v| echo(&scripted.object, v));
    let (kind, code) = (ExceptionKind::NoResources, codes::CALLS_UNDER_WAY);
    let refused = SystemException::orbium(kind, code, Completion::No);
    assert_eq!(result(echo(&scripted.object, 3)), Err(refused));
    let mut peer = scripted.server.accept();
    answer(&mut peer, 2);
    let [first, second] = calls;
    assert_eq!((result(first), result(second)), (Ok(1), Ok(2)));
    let call = echo(&scripted.object, 4);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(4));
    scripted.end();
}
