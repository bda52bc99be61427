// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points that all interceptors implement, after the ORB has detected that: it runs them by links,
//! and they end a call as before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium::SystemException;
use orbium::interceptor::Interrupt;

use crate::recorder::{
    Journal, REFUSED, Recorder, client_orb, forward_to, plain_server, raise, seen_by, server_orb,
};

const POINTS: [&str; 5] = [
    "send_request",
    "receive_reply",
    "receive_contexts",
    "receive_request",
    "send_reply",
];

type Act = Box<dyn Fn() -> Result<(), Interrupt> + Send + Sync>;

/// The result of a call, and its points, if the second one of three interceptors runs `act` at a
/// point after that number of calls.
fn ended(
    point: &'static str,
    act: Act,
    calls: usize,
) -> (Result<i32, SystemException>, Vec<String>) {
    let (journal, is_armed) = (Journal::default(), Arc::new(AtomicBool::new(false)));
    let armed = Arc::clone(&is_armed);
    let [one, two, three] = ["1", "2", "3"].map(|name| Recorder::new(name, &journal));
    let two = two.at(point, move || {
        if armed.swap(false, Ordering::SeqCst) {
            act()
        } else {
            Ok(())
        }
    });
    let all = vec![one, two, three];
    let (of_client, of_server) = match point {
        "send_request" | "receive_reply" => (all, Vec::new()),
        _ => (Vec::new(), all),
    };
    let (server, orb) = (server_orb(of_server), client_orb(of_client));
    let target = seen_by(&orb, &server.target);
    for _ in 0..calls {
        assert_eq!(target.echo_long(7), Ok(7));
    }
    journal.take();
    is_armed.store(true, Ordering::SeqCst);
    let ended = target.echo_long(8);
    let points = journal.take();
    assert_eq!(target.echo_long(9), Ok(9));
    (ended, points)
}

/// Conformance: PI - an exception in an ending point replaces the outcome for the rest
#[test]
fn an_exception_ends_linked_points_as_it_ends_others() {
    for point in POINTS {
        let (first, third) = (
            ended(point, Box::new(raise), 0),
            ended(point, Box::new(raise), 3),
        );
        assert_eq!(third, first, "{point}");
        assert_eq!(third.0, Err(REFUSED), "{point}");
    }
}

/// Conformance: PI - a panic becomes UNKNOWN and harms no other request
#[test]
fn a_panic_ends_linked_points_as_it_ends_others() {
    for point in POINTS {
        let panics = || -> Act { Box::new(|| panic!("on purpose")) };
        let (first, third) = (ended(point, panics(), 0), ended(point, panics(), 3));
        assert_eq!(third, first, "{point}");
        assert!(third.0.is_err(), "{point}");
    }
}

/// Conformance: PI - a starting point forwards: those before it see receive_other or send_other
#[test]
fn a_forward_ends_linked_points_as_it_ends_others() {
    let second = plain_server();
    for point in ["send_request", "receive_contexts", "receive_request"] {
        let forwards = || -> Act { Box::new(forward_to(&second)) };
        let before = second.state.calls();
        let (first, third) = (ended(point, forwards(), 0), ended(point, forwards(), 3));
        assert_eq!(third, first, "{point}");
        assert_eq!(third.0, Ok(8), "{point}");
        assert!(second.state.calls() > before, "{point}");
    }
}
