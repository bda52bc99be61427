// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of idempotent operations whose connection is lost after the request: sent again
//! where that was chosen, and only there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium::giop::{ReplyStatus, minor};
use orbium::{
    Completion, Config, ExceptionKind, Interface, ObjectRef, Orb, SystemException,
    asynchronous::Asynchronous, config::Limits, diagnostics::Failure,
};
use orbium_cdr::{CdrWriter, Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Gate, calling_by, each_client_strategy, reach, reference, within,
};

type Called = Result<u8, SystemException>;

fn lost() -> SystemException {
    SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::CONNECTION_LOST,
        Completion::Maybe,
    )
}

fn retrying(config: Config, retries: u32) -> Config {
    Config {
        limits: Limits {
            idempotent_retries: retries,
            ..config.limits
        },
        ..config
    }
}

/// A scripted server, and the object there as a client sees it.
struct Scripted {
    server: FakeServer,
    client: Orb,
    target: Target,
}

impl Scripted {
    fn new(config: Config) -> Self {
        let server = FakeServer::listen();
        let client = Orb::new(config).unwrap();
        let ior = reference(2, &[server.port()], b"x", &[]);
        Self {
            target: reach(&client, &ior.to_string()),
            server,
            client,
        }
    }

    /// Receives a request and drops the connection.
    fn lose(&self) {
        drop(self.server.accept().receive().request());
    }

    /// Receives a request and answers it.
    fn answer(&self, v: u8) {
        let mut peer = self.server.accept();
        let request = peer.receive().request();
        peer.answer(&request, |w| w.write_u8(v));
        // The client reads the reply before the connection ends.
        orbium_testkit::spawn(move || peer.receive_rest());
    }

    /// Drops connections until the call is over; how many requests came.
    fn lose_all<T>(&self, call: &thread::JoinHandle<T>) -> u32 {
        let mut requests = 0;
        while !call.is_finished() {
            if let Some(mut peer) = self.server.accept_at_once() {
                // The call may end between the connection and its request.
                while peer.is_silent(Duration::from_millis(10)) {
                    if call.is_finished() {
                        return requests;
                    }
                }
                requests += u32::from(peer.try_receive().is_some());
            }
            thread::sleep(Duration::from_millis(1));
        }
        requests
    }

    fn expect_no_more(&self) {
        let again = self.server.accept_at_once();
        assert!(again.is_none(), "the request was sent again");
    }
}

/// Calls on another thread, so that the test can play the server.
fn calling(target: &Target) -> thread::JoinHandle<Called> {
    let target = target.clone();
    orbium_testkit::spawn(move || target.echo_octet(1))
}

static ECHO_OCTET: Operation = Operation::new("echo_octet").idempotent();

fn call_async(object: &ObjectRef) -> Asynchronous<u8> {
    object.call_async(&ECHO_OCTET, 1, Encode::encode, u8::decode)
}

/// The same without waiting, and its story.
fn calling_async(target: &Target) -> thread::JoinHandle<(Called, Option<Failure>)> {
    let object = target.as_object().clone();
    orbium_testkit::spawn(move || {
        let called = call_async(&object).wait();
        (called, orbium::diagnostics::last_failure())
    })
}

fn result<T: Send + 'static>(call: thread::JoinHandle<T>) -> T {
    within("the call", move || call.join().unwrap())
}

/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn idempotent_calls_are_repeated_over_a_new_connection() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(retrying(calling_by(strategy), 1));
        let call = calling(&scripted.target);
        scripted.lose();
        scripted.answer(7);
        assert_eq!(result(call), Ok(7));
        let call = calling_async(&scripted.target);
        scripted.lose();
        scripted.answer(8);
        assert_eq!(result(call).0, Ok(8));
        scripted.expect_no_more();
    });
}

/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn idempotent_calls_are_not_repeated_by_default() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(calling_by(strategy));
        let call = calling(&scripted.target);
        scripted.lose();
        assert_eq!(result(call), Err(lost()));
        let call = calling_async(&scripted.target);
        scripted.lose();
        assert_eq!(result(call).0, Err(lost()));
        scripted.expect_no_more();
    });
}

/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn other_operations_are_not_sent_again() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(retrying(calling_by(strategy), 5));
        let target = scripted.target.clone();
        let call = orbium_testkit::spawn(move || target.echo_long(1));
        scripted.lose();
        assert_eq!(result(call), Err(lost()));
        static OTHER: Operation = Operation::new("echo_long");
        let object = scripted.target.as_object();
        let call: Asynchronous<i32> = object.call_async(&OTHER, 1, Encode::encode, i32::decode);
        scripted.lose();
        assert_eq!(within("the call", || call.wait()), Err(lost()));
        scripted.expect_no_more();
    });
}

#[test]
fn a_reference_has_a_choice_of_its_own() {
    let scripted = Scripted::new(Config::default());
    let call = calling(&scripted.target.with_idempotent_retries(1));
    scripted.lose();
    scripted.answer(7);
    assert_eq!(result(call), Ok(7));
    let scripted = Scripted::new(retrying(Config::default(), 3));
    let call = calling(&scripted.target.with_idempotent_retries(0));
    scripted.lose();
    assert_eq!(result(call), Err(lost()));
}

/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn the_story_names_every_attempt() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(retrying(calling_by(strategy), 2));
        let target = scripted.target.clone();
        let call = orbium_testkit::spawn(move || {
            (target.echo_octet(1), orbium::diagnostics::last_failure())
        });
        let other = Scripted::new(retrying(calling_by(strategy), 2));
        let later = calling_async(&other.target);
        for (scripted, call) in [(scripted, call), (other, later)] {
            let requests = scripted.lose_all(&call);
            let (called, failure) = result(call);
            assert_eq!((called, requests), (Err(lost()), 3));
            let failure = failure.unwrap();
            assert_eq!(failure.retries, 2, "{failure:#}");
            let text = format!("{failure:#}");
            assert!(text.contains(", 2 retries"), "{text}");
            for words in ["sent again, 1 of 2", "sent again, 2 of 2"] {
                assert!(text.contains(words), "{text}");
            }
            let ends = text.matches("wait iiop://").count();
            assert_eq!(ends, 3, "{text}");
        }
    });
}

/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn the_deadline_holds_over_all_attempts() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(retrying(calling_by(strategy), u32::MAX));
        let begun = Instant::now();
        let target = scripted.target.with_timeout(Duration::from_secs(1));
        let (call, other) = (calling(&target), calling_async(&target));
        let requests = scripted.lose_all(&call) + scripted.lose_all(&other);
        assert!(requests > 2, "{requests} requests");
        for called in [result(call), result(other).0] {
            let exception = called.unwrap_err();
            assert_eq!(exception.completed, Completion::Maybe, "{exception:#}");
        }
        assert!(begun.elapsed() < Duration::from_secs(30));
    });
}

// The first request may have been served: that the server is gone since, or answers that
// it did not serve the last one, does not change that.
/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn completed_no_of_the_last_attempt_is_not_that_of_the_call() {
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(retrying(calling_by(strategy), 1));
        let (target, server) = (scripted.target.clone(), scripted.server);
        let call = calling(&target);
        let later = calling_async(&target);
        let (mut one, mut two) = (server.accept(), server.accept());
        drop((one.receive(), two.receive()));
        // Connections are refused from here on.
        drop(server);
        drop((one, two));
        for called in [result(call), result(later).0] {
            let exception = called.unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Transient);
            assert_eq!(exception.completed, Completion::Maybe);
        }
    });
    let scripted = Scripted::new(retrying(Config::default(), 1));
    for is_async in [false, true] {
        let target = scripted.target.clone();
        let call = if is_async {
            orbium_testkit::spawn(move || call_async(target.as_object()).wait())
        } else {
            calling(&target)
        };
        scripted.lose();
        let mut peer = scripted.server.accept();
        let request = peer.receive().request();
        peer.answer_with(&request, ReplyStatus::SystemException, |w| {
            w.write_name("IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0");
            w.write_u32(1);
            w.write_u32(1); // COMPLETED_NO
        });
        let exception = result(call).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::ObjectNotExist);
        assert_eq!(exception.completed, Completion::Maybe);
    }
}

/// Writes no arguments; waits at a gate before it does so again.
fn write_at_gate((gate, is_again): &(Arc<Gate>, AtomicBool), _: &mut CdrWriter<'_>) {
    if is_again.swap(true, Ordering::SeqCst) {
        gate.pass();
    }
}

// Until a thread had time to send the request again, the call did not know that it was sent before.
/// Conformance: connections - lost after the request: `@idempotent` operations are sent again, by choice
#[test]
fn a_deadline_before_the_request_can_be_sent_again_is_completed_maybe() {
    let busy = Scripted::new(retrying(Config::default(), 1));
    let server = FakeServer::listen();
    let ior = reference(2, &[server.port()], b"x", &[]);
    let target = reach(&busy.client, &ior.to_string());
    let first = call_async(target.as_object());
    let mut peer = server.accept();
    let request = peer.receive().request();
    peer.answer(&request, |w| w.write_u8(1));
    assert_eq!(within("the call", || first.wait()), Ok(1));
    // Both threads that send requests again are occupied.
    let gate = Arc::new(Gate::default());
    let occupying: [Asynchronous<u8>; 2] = [(); 2].map(|()| {
        let arguments = (Arc::clone(&gate), AtomicBool::new(false));
        let object = busy.target.as_object();
        object.call_async(&ECHO_OCTET, arguments, write_at_gate, u8::decode)
    });
    let mut other = busy.server.accept();
    drop((other.receive(), other.receive()));
    drop(other);
    gate.await_waiting(2);
    let hurried = call_async(&target.as_object().with_timeout(Duration::from_secs(1)));
    peer.expect_request("echo_octet");
    drop(peer);
    let exception = within("the call", || hurried.wait()).unwrap_err();
    gate.open();
    assert_eq!(exception.kind, ExceptionKind::Timeout);
    assert_eq!(exception.completed, Completion::Maybe);
    drop(occupying);
}
