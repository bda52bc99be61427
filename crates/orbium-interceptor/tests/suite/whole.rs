// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors that implement points of a call with results, on the plain path: they see the same
//! as on the other one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveReply, ReplyContexts, SendRequest,
};
use orbium::{Config, Interface, Orb, SystemException, config::Limits};
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{
    Journal, Recorder, client_orb, forward_to, plain_server, raise, recorders, seen_by,
};

/// Raises the first time.
fn raise_once() -> impl Fn() -> Result<(), Interrupt> + Send + Sync + 'static {
    let done = AtomicBool::new(false);
    move || {
        if done.swap(true, Ordering::SeqCst) {
            Ok(())
        } else {
            raise()
        }
    }
}

/// Conformance: PI - receive_exception: another exception, or a forward
#[test]
fn results_that_an_interceptor_refuses_are_not_those_of_the_object_elsewhere() -> Tested {
    let (first, second) = (plain_server(), plain_server());
    first.state.on_act(|_, number| Ok(number + 1));
    second.state.on_act(|_, number| Ok(number + 2));
    for is_plain in [true, false] {
        let journal = Journal::default();
        let [one, two] = recorders(&journal);
        let one = one.at("receive_exception", forward_to(&second));
        let orb = client_orb([one, two.at("receive_reply", raise_once())]);
        let contexts = ReplyContexts::default();
        let mut target = seen_by(&orb, &first.target);
        if !is_plain {
            target = target.with_reply_contexts(&contexts);
        }
        assert_eq!(target.act(40)?, 42);
        let points = [
            "1 send_request",
            "2 send_request",
            "2 receive_reply",
            "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
            "1 send_request",
            "2 send_request",
            "2 receive_reply",
            "1 receive_reply",
        ];
        assert_eq!(journal.take(), points);
    }
    Ok(())
}

/// Adds a service context to each request of that operation.
struct Tagging(&'static str);

const TAG: u32 = 0x4F52_4277;

impl ClientInterceptor for Tagging {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if request.operation() == self.0 {
            request.add_service_context(TAG, b"tagged".to_vec(), false)?;
        }
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let is_tagged = reply.service_context(TAG).is_ok();
        assert_eq!(is_tagged, reply.operation() == self.0);
        Ok(())
    }
}

/// Conformance: PI - service contexts of requests and replies
#[test]
fn a_request_with_contexts_of_interceptors_is_one_flow() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let received = Arc::<Mutex<Vec<bool>>>::default();
    let noted = Arc::clone(&received);
    server.state.on_act(move |call, number| {
        let is_tagged = call.service_context(TAG) == Some(&b"tagged"[..]);
        noted.lock().unwrap().push(is_tagged);
        Ok(number)
    });
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Recorder::new("1", &journal))?;
    interceptors.add_client(Tagging("act"))?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    for _ in 0..3 {
        assert_eq!(target.act(5)?, 5);
        target.noop()?;
        let call = ["1 send_request", "1 receive_reply"];
        assert_eq!(journal.take(), [call, call].concat());
    }
    assert_eq!(*received.lock().unwrap(), [true; 3]);
    Ok(())
}

/// Calls the object from within the point with the results.
#[derive(Clone, Default)]
struct Nesting(Arc<OnceLock<Target>>);

impl ClientInterceptor for Nesting {
    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        match self.0.get() {
            Some(target) if reply.operation() == "echo_long" => target.noop(),
            _ => Ok(()),
        }
    }
}

/// Conformance: PI - calls made by an interceptor are intercepted; slots guard against recursion
#[test]
fn a_call_at_receive_reply_has_the_connection_of_the_call() -> Tested {
    let (server, nesting) = (plain_server(), Nesting::default());
    let mut interceptors = Interceptors::new();
    interceptors.add_client(nesting.clone())?;
    let orb = Orb::new(Config {
        interceptors,
        limits: Limits {
            connections_per_server: 1,
            ..Limits::default()
        },
        ..Config::default()
    })?;
    let target = seen_by(&orb, &server.target);
    // With the connection in use, it would wait for another one.
    let within = target.with_timeout(Duration::from_secs(10));
    assert!(nesting.0.set(within).is_ok());
    assert_eq!(target.echo_long(7)?, 7);
    assert_eq!(server.state.calls(), 2);
    Ok(())
}
