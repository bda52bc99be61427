// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that another thread than their caller's cancels.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium::giop::{MessageKind, ReplyStatus};
use orbium::{
    CancellationToken, Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    asynchronous::Asynchronous,
    config::{ClientStrategy, ServerStrategy},
};
use orbium_cdr::{ByteOrder, Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Served, client, each_client_strategy, eventually, reach, reference, reply, within,
};

type Outcome = Result<i32, SystemException>;

static ECHO_LONG: Operation = Operation::new("echo_long");

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

fn cancelled(completed: Completion) -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 3, completed)
}

/// A client of that strategy, if there can be one.
fn client_of(client_strategy: ClientStrategy) -> Option<Orb> {
    let config = Config {
        client_strategy,
        ..Config::default()
    };
    Orb::new(config).ok()
}

/// A scripted server, and the object there as a client sees it.
fn scripted(client: &Orb) -> (FakeServer, Target) {
    let server = FakeServer::listen();
    let ior = reference(2, &[server.port()], b"x", &[]);
    let target = reach(client, &ior.to_string());
    (server, target)
}

/// Calls on another thread, with a token.
fn calling(target: &Target, token: &CancellationToken) -> thread::JoinHandle<Outcome> {
    let target = target.with_cancellation(token);
    orbium_testkit::spawn(move || target.echo_long(1))
}

fn outcome(call: thread::JoinHandle<Outcome>) -> Outcome {
    within("the call", move || call.join().unwrap())
}

/// Conformance: connections - a synchronous call is cancelled from another thread: TRANSIENT 3
#[test]
fn a_call_that_waits_is_cancelled_with_every_strategy() {
    each_client_strategy(|strategy| {
        let Some(client) = client_of(strategy) else {
            return;
        };
        let (server, target) = scripted(&client);
        let token = CancellationToken::new();
        let call = calling(&target, &token);
        let mut peer = server.accept();
        let request = peer.expect_request("echo_long");
        token.cancel();
        let cancel = peer.expect(MessageKind::CancelRequest);
        assert_eq!(cancel.cancelled(), request.id);
        assert_eq!(outcome(call), Err(cancelled(Completion::Maybe)));
    });
}

/// Conformance: connections - a cancelled call leaves shared connections to other calls, and its
/// late reply is discarded
#[test]
fn other_calls_on_the_connection_go_on() {
    each_client_strategy(|strategy| {
        let Some(client) = client_of(strategy) else {
            return;
        };
        let (served, gated) = (
            Served::new(ServerStrategy::ThreadPerConnection),
            Served::new(ServerStrategy::ThreadPerConnection),
        );
        let behind = gated.seen_by(&served.orb);
        served.state.on_act(move |_, v| behind.gate().map(|()| v));
        let target = served.seen_by(&client);
        let token = CancellationToken::new();
        let tokened = target.with_cancellation(&token);
        let call = orbium_testkit::spawn(move || tokened.act(1));
        gated.state.gate.await_waiting(1);
        token.cancel();
        assert_eq!(outcome(call), Err(cancelled(Completion::Maybe)));
        gated.state.gate.open();
        for v in 0..20 {
            let target = target.clone();
            assert_eq!(within("the next", move || target.echo_long(v)), Ok(v));
        }
        served.end();
        gated.end();
    });
}

/// Conformance: connections - a call that begins after its token was cancelled: TRANSIENT 3,
/// completed NO, and nothing is sent
#[test]
fn calls_cancelled_before_they_begin_are_not_sent() {
    let client = client();
    let (server, target) = scripted(&client);
    let token = CancellationToken::new();
    token.cancel();
    let target = target.with_cancellation(&token);
    let refused = cancelled(Completion::No);
    assert_eq!(target.echo_long(1), Err(refused));
    assert_eq!(target.post(1), Err(refused));
    assert_eq!(target.as_object().non_existent(), Err(refused));
    assert_eq!(target.as_object().locate(), Err(refused));
    let call: Asynchronous<i32> =
        target
            .as_object()
            .call_async(&ECHO_LONG, 1, Encode::encode, i32::decode);
    assert_eq!(call.wait(), Err(refused));
    assert!(server.accept_at_once().is_none());
}

/// Conformance: connections - a reply that comes before its call is cancelled counts
#[test]
fn a_call_races_with_its_cancellation() {
    each_client_strategy(|strategy| {
        let Some(client) = client_of(strategy) else {
            return;
        };
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let target = served.seen_by(&client);
        for v in 0..50 {
            let token = CancellationToken::new();
            let (tokened, plain) = (target.with_cancellation(&token), target.clone());
            let call = orbium_testkit::spawn(move || tokened.echo_long(v));
            let concurrent = orbium_testkit::spawn(move || plain.echo_long(v + 1000));
            for _ in 0..v {
                thread::yield_now();
            }
            token.cancel();
            match outcome(call) {
                Ok(echoed) => assert_eq!(echoed, v),
                Err(exception) => assert_eq!(exception, cancelled(exception.completed)),
            }
            assert_eq!(outcome(concurrent), Ok(v + 1000));
        }
        served.end();
    });
}

/// Conformance: connections - one token cancels the calls of many threads
#[test]
fn one_token_cancels_many_calls() {
    each_client_strategy(|strategy| {
        let Some(client) = client_of(strategy) else {
            return;
        };
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let target = served.seen_by(&client);
        let token = CancellationToken::new();
        let calls: Vec<_> = (0..4)
            .map(|_| {
                let target = target.with_cancellation(&token).with_timeout(LONG);
                orbium_testkit::spawn(move || target.gate().map(|()| 0))
            })
            .collect();
        let gate = &served.state.gate;
        eventually("a request is served", || gate.waiting() > 0);
        token.cancel();
        for call in calls {
            let exception = outcome(call).unwrap_err();
            assert_eq!(exception, cancelled(exception.completed));
        }
        served.state.gate.open();
        served.end();
    });
}

/// Conformance: connections - a synchronous call is cancelled from another thread: TRANSIENT 3
#[test]
fn a_deadline_that_passes_first_is_a_timeout() {
    let client = client();
    let (server, target) = scripted(&client);
    let token = CancellationToken::new();
    target.as_object().connect().unwrap();
    let _peer = server.accept();
    let hurried = target.with_timeout(Duration::from_millis(200));
    let call = calling(&hurried, &token);
    assert_eq!(outcome(call).unwrap_err().kind, ExceptionKind::Timeout);
}

/// A server that trickles its reply, or replies to others, for as long as it can.
fn kept_busy(octets: impl Fn(u32) -> Vec<u8>) {
    let client = client();
    let (server, target) = scripted(&client);
    let token = CancellationToken::new();
    let call = calling(&target, &token);
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    let octets = octets(request.id);
    let ended = Arc::new(AtomicBool::new(false));
    let sender = {
        let ended = Arc::clone(&ended);
        orbium_testkit::spawn(move || {
            for octet in octets {
                if ended.load(Ordering::Relaxed) || !peer.try_send(&[octet]) {
                    break;
                }
                thread::sleep(Duration::from_millis(2));
            }
            peer
        })
    };
    token.cancel();
    assert_eq!(outcome(call), Err(cancelled(Completion::Maybe)));
    ended.store(true, Ordering::Relaxed);
    drop(sender.join().unwrap());
}

/// The octets of replies to a request, and how many requests later the next one is to.
fn replies(id: u32, count: u32, size: usize) -> Vec<u8> {
    let one = |offset| {
        let (order, status) = (ByteOrder::NATIVE, ReplyStatus::NoException);
        reply(2, order, id + offset, status, |w| {
            w.write_octets(&vec![7; size]);
        })
    };
    (0..count).flat_map(|n| one(n * 2)).collect()
}

/// Conformance: connections - a server that keeps sending does not keep a cancelled call alive
#[test]
fn a_trickled_reply_does_not_keep_a_cancelled_call_alive() {
    kept_busy(|id| replies(id, 1, 1_000_000));
}

/// Conformance: connections - a server that keeps sending does not keep a cancelled call alive
#[test]
fn replies_to_others_do_not_keep_a_cancelled_call_alive() {
    kept_busy(|id| replies(id + 1000, 20_000, 4));
}

/// Conformance: connections - a servant of the caller's own ORB is not interrupted
#[test]
fn a_collocated_servant_is_not_interrupted() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let token = CancellationToken::new();
    let target = served.target.with_cancellation(&token);
    let during = token.clone();
    served.state.on_act(move |_, v| {
        during.cancel();
        Ok(v)
    });
    assert_eq!(target.act(5), Ok(5));
    assert_eq!(target.act(6), Err(cancelled(Completion::No)));
    served.end();
}

/// Conformance: connections - a call is not sent again once it was cancelled
#[test]
fn a_cancelled_call_does_not_wait_for_its_retry() {
    let client = client();
    let (server, target) = scripted(&client);
    let token = CancellationToken::new();
    let tokened = target.as_object().with_cancellation(&token);
    let object = tokened.with_idempotent_retries(u32::MAX);
    let call = orbium_testkit::spawn(move || object.non_existent().map(i32::from));
    // A connection that is lost before the request is sent is no retry of an idempotent operation,
    // and few such losses end the call: on a loaded machine the test waited for a repeat in vain.
    for _ in 0..3 {
        let mut peer = server.accept();
        peer.receive();
        peer.reset();
    }
    token.cancel();
    let ended = Arc::new(AtomicBool::new(false));
    let refusing = {
        let ended = Arc::clone(&ended);
        orbium_testkit::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                server
                    .accept_at_once()
                    .into_iter()
                    .for_each(|it| it.reset());
                thread::sleep(Duration::from_millis(1));
            }
        })
    };
    assert_eq!(outcome(call), Err(cancelled(Completion::Maybe)));
    ended.store(true, Ordering::Relaxed);
    refusing.join().unwrap();
}
