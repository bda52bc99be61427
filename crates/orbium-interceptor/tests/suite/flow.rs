// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules of the flow: the points called, and their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use orbium::interceptor::{ClientInterceptor, Interceptors, ServerInterceptor};
use orbium::{Completion, ExceptionKind, Orb};
use orbium_testkit::probe::RefusedError;

use crate::Tested;
use crate::recorder::{
    Journal, REFUSED, Recorder, client_orb, forward_to, plain_server, raise, recorders, seen_by,
    serve, server_orb,
};

/// Conformance: PI - starting points in order of registration, ending points in reverse
#[test]
fn starting_points_run_in_order_and_ending_points_in_reverse() -> Tested {
    let journal = Journal::default();
    let server = server_orb([Recorder::new("s1", &journal), Recorder::new("s2", &journal)]);
    let orb = client_orb([Recorder::new("c1", &journal), Recorder::new("c2", &journal)]);
    let target = seen_by(&orb, &server.target);
    target.noop()?;
    assert_eq!(
        journal.take(),
        [
            "c1 send_request",
            "c2 send_request",
            "s1 receive_contexts",
            "s2 receive_contexts",
            "s1 receive_request",
            "s2 receive_request",
            "s2 send_reply",
            "s1 send_reply",
            "c2 receive_reply",
            "c1 receive_reply",
        ]
    );
    Ok(())
}

/// Conformance: PI - a starting point raises: those before it see an ending point, no others
#[test]
fn after_an_exception_in_send_request_only_those_before_it_see_an_ending_point() {
    let (journal, server) = (Journal::default(), plain_server());
    let [one, two] = recorders(&journal);
    let three = Recorder::new("3", &journal);
    let orb = client_orb([one, two.at("send_request", raise), three]);
    assert_eq!(seen_by(&orb, &server.target).noop(), Err(REFUSED));
    assert_eq!(
        journal.take(),
        [
            "1 send_request",
            "2 send_request",
            "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!(server.state.calls(), 0);
}

/// Conformance: PI - a starting point forwards: those before it see receive_other or send_other
#[test]
fn a_forward_in_send_request_begins_a_new_flow_at_the_other_object() -> Tested {
    let (journal, first, second) = (Journal::default(), plain_server(), plain_server());
    let [one, two] = recorders(&journal);
    let orb = client_orb([one, two.at("send_request", forward_to(&second))]);
    seen_by(&orb, &first.target).noop()?;
    assert_eq!((first.state.calls(), second.state.calls()), (0, 1));
    assert_eq!(
        journal.take(),
        [
            "1 send_request",
            "2 send_request",
            "1 receive_other LocationForward",
            "1 send_request",
            "2 send_request",
            "2 receive_reply",
            "1 receive_reply",
        ]
    );
    Ok(())
}

/// Conformance: PI - an exception in an ending point replaces the outcome for the rest
#[test]
fn an_exception_in_receive_reply_replaces_the_results_for_the_rest() {
    let (journal, server) = (Journal::default(), plain_server());
    let [one, two] = recorders(&journal);
    let orb = client_orb([one, two.at("receive_reply", raise)]);
    assert_eq!(seen_by(&orb, &server.target).echo_long(1), Err(REFUSED));
    assert_eq!(
        journal.take()[2..],
        [
            "2 receive_reply",
            "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!(server.state.calls(), 1);
}

/// Conformance: PI - user and system exceptions: receive_exception and send_exception
#[test]
fn exceptions_of_servants_are_seen_by_both_sides() {
    let journal = Journal::default();
    let server = server_orb([Recorder::new("s", &journal)]);
    let orb = client_orb([Recorder::new("c", &journal)]);
    let target = seen_by(&orb, &server.target);
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    assert_eq!(
        journal.take()[3..],
        [
            "s send_exception IDL:Probe/Refused:1.0",
            "c receive_exception IDL:Probe/Refused:1.0",
        ]
    );
    assert!(target.raise_system("BAD_OPERATION").is_err());
    assert_eq!(
        journal.take()[3..],
        [
            "s send_exception IDL:omg.org/CORBA/BAD_OPERATION:1.0",
            "c receive_exception IDL:omg.org/CORBA/BAD_OPERATION:1.0",
        ]
    );
}

/// Conformance: PI - receive_exception: another exception, or a forward
#[test]
fn receive_exception_changes_the_exception() {
    let (journal, server) = (Journal::default(), plain_server());
    let [one, two] = recorders(&journal);
    let orb = client_orb([one, two.at("receive_exception", raise)]);
    let refused = seen_by(&orb, &server.target).refuse(3);
    assert!(matches!(refused, Err(RefusedError::System(REFUSED))));
    assert_eq!(
        journal.take()[2..],
        [
            "2 receive_exception IDL:Probe/Refused:1.0",
            "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
}

/// Conformance: PI - receive_exception: another exception, or a forward
#[test]
fn a_forward_in_receive_exception_sends_the_request_to_the_other_object() {
    let (journal, first, second) = (Journal::default(), plain_server(), plain_server());
    let [one, two] = recorders(&journal);
    let orb = client_orb([one, two.at("receive_exception", forward_to(&second))]);
    let refused = seen_by(&orb, &first.target).refuse(3);
    assert!(matches!(refused, Err(RefusedError::Refused(_))));
    assert_eq!((first.state.calls(), second.state.calls()), (1, 1));
    assert_eq!(
        journal.take()[2..6],
        [
            "2 receive_exception IDL:Probe/Refused:1.0",
            "1 receive_other LocationForward",
            "1 send_request",
            "2 send_request",
        ]
    );
}

/// Conformance: PI - a server forwards: receive_other, then a new flow
#[test]
fn a_forward_of_the_server_is_seen_by_receive_other_which_may_raise() {
    let (journal, second) = (Journal::default(), plain_server());
    let first = server_orb([
        Recorder::new("s", &Journal::default()).at("receive_request", forward_to(&second))
    ]);
    let [one, two] = recorders(&journal);
    let orb = client_orb([one, two.at("receive_other", raise)]);
    assert_eq!(seen_by(&orb, &first.target).noop(), Err(REFUSED));
    assert_eq!(
        journal.take()[2..],
        [
            "2 receive_other LocationForward",
            "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!((first.state.calls(), second.state.calls()), (0, 0));
}

/// Conformance: PI - oneways: receive_other and send_other, SUCCESSFUL
#[test]
fn a_oneway_ends_with_receive_other_and_send_other() -> Tested {
    let (client, served) = (Journal::default(), Journal::default());
    let server = server_orb([Recorder::new("s", &served)]);
    let orb = client_orb([Recorder::new("c", &client)]);
    let target = seen_by(&orb, &server.target);
    target.post(1)?;
    assert_eq!(
        client.take(),
        ["c send_request", "c receive_other Successful"]
    );
    // After the oneway on the same connection.
    target.noop()?;
    assert_eq!(
        served.take()[..3],
        [
            "s receive_contexts",
            "s receive_request",
            "s send_other Successful",
        ]
    );
    assert_eq!(server.state.posted(), [1]);
    Ok(())
}

/// Conformance: PI - a starting point raises: those before it see an ending point, no others
#[test]
fn after_an_exception_in_receive_contexts_only_those_before_it_see_an_ending_point() {
    let journal = Journal::default();
    let [one, two] = recorders(&journal);
    let server = server_orb([one, two.at("receive_contexts", raise)]);
    let orb = client_orb([]);
    assert_eq!(seen_by(&orb, &server.target).noop(), Err(REFUSED));
    assert_eq!(
        journal.take(),
        [
            "1 receive_contexts",
            "2 receive_contexts",
            "1 send_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!(server.state.calls(), 0);
}

/// Conformance: PI - receive_request raises: all that have started see an ending point
#[test]
fn after_an_exception_in_receive_request_all_see_an_ending_point() {
    let journal = Journal::default();
    let [one, two] = recorders(&journal);
    let server = server_orb([one.at("receive_request", raise), two]);
    let orb = client_orb([]);
    assert_eq!(seen_by(&orb, &server.target).noop(), Err(REFUSED));
    assert_eq!(
        journal.take()[2..],
        [
            "1 receive_request",
            "2 send_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
            "1 send_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!(server.state.calls(), 0);
}

/// Conformance: PI - a starting point forwards: those before it see receive_other or send_other
#[test]
fn forwards_of_a_server_send_the_client_to_the_other_object() -> Tested {
    for point in ["receive_contexts", "receive_request"] {
        let (journal, second) = (Journal::default(), plain_server());
        let [one, two] = recorders(&journal);
        let first = server_orb([one, two.at(point, forward_to(&second))]);
        let orb = client_orb([]);
        seen_by(&orb, &first.target).noop()?;
        assert_eq!((first.state.calls(), second.state.calls()), (0, 1));
        let seen = journal.take();
        assert_eq!(seen.last().unwrap(), "1 send_other LocationForward");
        let both = seen.contains(&"2 send_other LocationForward".to_owned());
        assert_eq!(both, point == "receive_request");
    }
    Ok(())
}

/// Conformance: PI - an exception in an ending point replaces the outcome for the rest
#[test]
fn an_exception_in_send_reply_replaces_the_results_for_the_rest() {
    let journal = Journal::default();
    let [one, two] = recorders(&journal);
    let server = server_orb([one, two.at("send_reply", raise)]);
    let orb = client_orb([]);
    let target = seen_by(&orb, &server.target);
    assert_eq!(target.echo_long(1), Err(REFUSED));
    assert_eq!(
        journal.take()[4..],
        [
            "2 send_reply",
            "1 send_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0",
        ]
    );
    assert_eq!(server.state.calls(), 1);
}

/// Conformance: PI - send_exception: another exception, or a forward
#[test]
fn send_exception_changes_the_exception_or_forwards() {
    let (journal, second) = (Journal::default(), plain_server());
    let orb = client_orb([]);
    let [one, two] = recorders(&journal);
    let server = server_orb([one, two.at("send_exception", raise)]);
    let refused = seen_by(&orb, &server.target).refuse(1);
    assert!(matches!(refused, Err(RefusedError::System(REFUSED))));
    let [one, two] = recorders(&journal);
    let server = server_orb([one, two.at("send_exception", forward_to(&second))]);
    journal.take();
    let refused = seen_by(&orb, &server.target).refuse(1);
    assert!(matches!(refused, Err(RefusedError::Refused(_))));
    assert_eq!((server.state.calls(), second.state.calls()), (1, 1));
    assert_eq!(
        journal.take()[4..],
        [
            "2 send_exception IDL:Probe/Refused:1.0",
            "1 send_other LocationForward",
        ]
    );
}

/// Conformance: PI - collocated calls: the points of both sides on one thread
#[test]
fn a_collocated_call_is_seen_by_both_sides() -> Tested {
    let journal = Journal::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Recorder::new("c", &journal))?;
    interceptors.add_server(Recorder::new("s", &journal))?;
    let server = serve(interceptors);
    server.target.noop()?;
    assert_eq!(
        journal.take(),
        [
            "c send_request",
            "s receive_contexts",
            "s receive_request",
            "s send_reply",
            "c receive_reply",
        ]
    );
    Ok(())
}

/// Conformance: PI - names are unique for each kind of interceptor
#[test]
fn a_second_interceptor_of_a_name_is_refused_unless_it_has_none() -> Tested {
    let journal = Journal::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Recorder::new("a", &journal))?;
    let twice = interceptors.add_client(Recorder::new("a", &journal));
    assert_eq!(
        twice.unwrap_err().to_string(),
        "an interceptor named \"a\" is registered already"
    );
    interceptors.add_server(Recorder::new("a", &journal))?;
    interceptors.add_client(Recorder::new("", &journal))?;
    interceptors.add_client(Recorder::new("", &journal))?;
    Ok(())
}

/// Conformance: PI - a panic becomes UNKNOWN and harms no other request
#[test]
fn a_panic_at_any_point_of_a_call_is_unknown_to_its_caller_alone() -> Tested {
    let points = [
        ("send_request", Completion::No),
        ("receive_reply", Completion::Yes),
        ("receive_exception", Completion::Maybe),
        ("receive_other", Completion::Maybe),
    ];
    let server = plain_server();
    for (point, completed) in points {
        let journal = Journal::default();
        let armed = Arc::new(AtomicBool::new(true));
        let is_armed = Arc::clone(&armed);
        let [one, two] = recorders(&journal);
        let two = two.at(point, move || {
            assert!(!is_armed.load(Ordering::SeqCst), "on purpose");
            Ok(())
        });
        let orb = client_orb([one, two]);
        let target = seen_by(&orb, &server.target);
        let failed = match point {
            "receive_exception" => target.raise_system("NO_MEMORY"),
            "receive_other" => target.post(1),
            _ => target.noop(),
        };
        let failed = failed.unwrap_err();
        assert_eq!(
            (failed.kind, failed.completed),
            (ExceptionKind::Unknown, completed)
        );
        let seen = journal.take();
        let last = "1 receive_exception IDL:omg.org/CORBA/UNKNOWN:1.0";
        assert_eq!(seen.last().unwrap(), last);
        armed.store(false, Ordering::SeqCst);
        target.noop()?;
    }
    Ok(())
}

/// Conformance: PI - a panic becomes UNKNOWN and harms no other request
#[test]
fn a_panic_at_any_point_of_a_request_is_unknown_to_its_caller_alone() -> Tested {
    let points = [
        ("receive_contexts", Completion::No),
        ("receive_request", Completion::No),
        ("send_reply", Completion::Yes),
        ("send_exception", Completion::Maybe),
    ];
    let orb = client_orb([]);
    for (point, completed) in points {
        let journal = Journal::default();
        let armed = Arc::new(AtomicBool::new(true));
        let is_armed = Arc::clone(&armed);
        let [one, two] = recorders(&journal);
        let two = two.at(point, move || {
            assert!(!is_armed.load(Ordering::SeqCst), "on purpose");
            Ok(())
        });
        let server = server_orb([one, two]);
        let target = seen_by(&orb, &server.target);
        let failed = match point {
            "send_exception" => target.raise_system("NO_MEMORY"),
            _ => target.noop(),
        };
        let failed = failed.unwrap_err();
        assert_eq!(
            (failed.kind, failed.completed),
            (ExceptionKind::Unknown, completed)
        );
        let seen = journal.take();
        let last = "1 send_exception IDL:omg.org/CORBA/UNKNOWN:1.0";
        assert_eq!(seen.last().unwrap(), last);
        armed.store(false, Ordering::SeqCst);
        target.noop()?;
    }
    Ok(())
}

/// Conformance: PI - a servant that panics: send_exception, UNKNOWN
#[test]
fn a_servant_that_panics_is_seen_by_send_exception() -> Tested {
    let journal = Journal::default();
    let server = server_orb([Recorder::new("s", &journal)]);
    let orb = client_orb([]);
    let target = seen_by(&orb, &server.target);
    server.state.on_act(|_, _| panic!("on purpose"));
    let failed = target.act(1).unwrap_err();
    assert_eq!(failed.kind, ExceptionKind::Unknown);
    assert_eq!(
        journal.take().last().unwrap(),
        "s send_exception IDL:omg.org/CORBA/UNKNOWN:1.0"
    );
    target.noop()?;
    Ok(())
}

/// Counts the ends that it sees.
struct Ending(Arc<AtomicU32>);

impl ClientInterceptor for Ending {
    fn destroy(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ServerInterceptor for Ending {
    fn destroy(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("at the end of the ORB");
    }
}

/// Conformance: PI - `destroy`: once, at the end of the ORB; a panic is ignored
#[test]
fn interceptors_are_destroyed_with_their_orb() -> Tested {
    let ends = Arc::new(AtomicU32::new(0));
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Ending(Arc::clone(&ends)))?;
    interceptors.add_server(Ending(Arc::clone(&ends)))?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    assert_eq!(ends.load(Ordering::Relaxed), 0);
    for _ in 0..2 {
        orb.shutdown(true)?;
        assert_eq!(ends.load(Ordering::Relaxed), 2);
    }
    Ok(())
}
