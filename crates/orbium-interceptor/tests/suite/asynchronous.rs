// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous calls: two sequences of points, when a request is sent and when its reply has
//! arrived.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveReply, SendPoll, SendRequest, SlotId,
};
use orbium::{
    Any, Completion, ExceptionKind, Interface, Orb, SystemException, asynchronous::Asynchronous,
    policy::TimePolicies,
};
use orbium_cdr::{Decode, Encode, Type};
use orbium_core::Operation;
use orbium_dynamic::Request;
use orbium_testkit::probe::{Refused, RefusedError, Target};
use orbium_testkit::{
    Gate, PATIENCE, block_on, dead_port, eventually, reach, with_time_enough, within,
};

use crate::Tested;
use crate::recorder::{Journal, Recorder, client_orb, forward_to, raise, recorders, seen_by};
use crate::recorder::{REFUSED, plain_server, serve, server_orb};

static NOOP: Operation = Operation::new("noop");
static ECHO: Operation = Operation::new("echo_long");
static GATE: Operation = Operation::new("gate");
static REFUSE: Operation = Operation::new("refuse");

fn noop(target: &Target) -> Asynchronous<()> {
    target
        .as_object()
        .call_async(&NOOP, (), |(), _| {}, |_| Ok(()))
}

fn gate(target: &Target) -> Asynchronous<()> {
    target
        .as_object()
        .call_async(&GATE, (), |(), _| {}, |_| Ok(()))
}

fn echo(target: &Target, number: i32) -> Asynchronous<i32> {
    let object = target.as_object();
    object.call_async(&ECHO, number, Encode::encode, i32::decode)
}

fn refuse(target: &Target) -> Asynchronous<i32, RefusedError> {
    let object = target.as_object();
    object.call_async(&REFUSE, 3, Encode::encode, i32::decode)
}

const SENT: [&str; 4] = [
    "1 send_request",
    "2 send_request",
    "2 receive_other Unknown",
    "1 receive_other Unknown",
];
const ANSWERED: [&str; 4] = [
    "1 send_poll",
    "2 send_poll",
    "2 receive_reply",
    "1 receive_reply",
];

/// Conformance: PI - asynchronous calls: send_request and receive_other, then send_poll and receive_reply
#[test]
fn an_asynchronous_call_has_two_sequences_whatever_the_form_of_its_answer() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let target = seen_by(&orb, &server.target);
    let (send, answers) = channel();
    for form in 0..3 {
        let pending = echo(&target, form);
        match form {
            0 => send.send(pending.wait())?,
            1 => send.send(block_on(pending))?,
            _ => {
                let send = send.clone();
                pending.on_reply(move |answer| send.send(answer).unwrap());
            }
        }
        assert_eq!(answers.recv_timeout(PATIENCE)?, Ok(form));
        assert_eq!(journal.take(), [SENT, ANSWERED].concat());
    }
    Ok(())
}

/// Conformance: PI - asynchronous calls: send_request and receive_other, then send_poll and receive_reply
#[test]
fn nothing_is_polled_before_the_reply_is_there() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let pending = gate(&seen_by(&orb, &server.target));
    server.state.gate.await_waiting(1);
    assert_eq!(journal.take(), SENT);
    server.state.gate.open();
    pending.wait()?;
    assert_eq!(journal.take(), ANSWERED);
    Ok(())
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn exceptions_of_the_servant_are_seen_when_the_reply_is_there() {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let target = seen_by(&orb, &server.target);
    let refused = refuse(&target).wait();
    assert!(matches!(
        refused,
        Err(RefusedError::Refused(Refused { code: 3, .. }))
    ));
    assert_eq!(
        journal.take()[4..],
        [
            "1 send_poll",
            "2 send_poll",
            "2 receive_exception IDL:Probe/Refused:1.0",
            "1 receive_exception IDL:Probe/Refused:1.0",
        ]
    );
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn a_starting_point_that_raises_ends_the_call_before_it_is_sent() {
    for point in ["send_request", "receive_other"] {
        let (journal, server) = (Journal::default(), plain_server());
        let [one, two] = recorders(&journal);
        let orb = client_orb([one, two.at(point, raise)]);
        assert_eq!(noop(&seen_by(&orb, &server.target)).wait(), Err(REFUSED));
        let last = "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0";
        assert_eq!(journal.take().last().unwrap(), last, "{point}");
        assert_eq!(server.state.calls(), 0);
    }
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn points_at_the_reply_change_what_the_call_comes_to() {
    for point in ["send_poll", "receive_reply"] {
        let (journal, server) = (Journal::default(), plain_server());
        let [one, two] = recorders(&journal);
        let orb = client_orb([one, two.at(point, raise)]);
        let target = seen_by(&orb, &server.target);
        assert_eq!(echo(&target, 1).wait(), Err(REFUSED));
        let last = "1 receive_exception IDL:omg.org/CORBA/NO_PERMISSION:1.0";
        assert_eq!(journal.take().last().unwrap(), last, "{point}");
        assert_eq!(server.state.calls(), 1);
    }
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn interceptors_forward_at_each_point_that_may() -> Tested {
    for point in ["send_request", "receive_other", "receive_exception"] {
        let (journal, first, second) = (Journal::default(), plain_server(), plain_server());
        let [one, two] = recorders(&journal);
        let orb = client_orb([one, two.at(point, forward_to(&second))]);
        let target = seen_by(&orb, &first.target);
        assert!(refuse(&target).wait().is_err());
        let at_first = u64::from(point == "receive_exception");
        assert_eq!(
            (first.state.calls(), second.state.calls()),
            (at_first, 1),
            "{point}"
        );
        let seen = journal.take();
        let forwards = seen
            .iter()
            .filter(|it| *it == "1 receive_other LocationForward");
        assert_eq!(forwards.count(), 1, "{point}: {seen:?}");
        assert_eq!(seen[seen.len() - 8..][..4], SENT, "{point}");
    }
    Ok(())
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn a_forward_of_the_server_ends_the_attempt_and_begins_another() -> Tested {
    let (journal, second) = (Journal::default(), plain_server());
    let forwarding = Recorder::new("s", &Journal::default());
    let first = server_orb([forwarding.at("receive_request", forward_to(&second))]);
    let orb = client_orb(recorders(&journal));
    noop(&seen_by(&orb, &first.target)).wait()?;
    let forwarded = [
        "1 send_poll",
        "2 send_poll",
        "2 receive_other LocationForward",
        "1 receive_other LocationForward",
    ];
    assert_eq!(journal.take(), [SENT, forwarded, SENT, ANSWERED].concat());
    Ok(())
}

/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn failures_of_the_call_are_seen_by_receive_exception() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let last = || journal.take().last().cloned().unwrap_or_default();
    let nowhere = format!("corbaloc::127.0.0.1:{}/Target", dead_port());
    let nowhere = reach(&orb, &nowhere);
    assert!(noop(&nowhere).wait().is_err());
    assert_eq!(
        last(),
        "1 receive_exception IDL:omg.org/CORBA/TRANSIENT:1.0"
    );

    let target = seen_by(&orb, &server.target);
    let late = gate(&target.with_timeout(Duration::from_millis(50))).wait();
    assert_eq!(late.unwrap_err().kind, ExceptionKind::Timeout);
    assert_eq!(last(), "1 receive_exception IDL:omg.org/CORBA/TIMEOUT:1.0");

    let pending = gate(&target);
    eventually("it is sent", || journal.len() == SENT.len());
    orb.shutdown(false)?;
    assert_eq!(pending.wait().unwrap_err().kind, ExceptionKind::BadInvOrder);
    assert_eq!(
        last(),
        "1 receive_exception IDL:omg.org/CORBA/BAD_INV_ORDER:1.0"
    );
    server.state.gate.open();
    Ok(())
}

/// Regression: a call that timed out during a point of its request had no ending point.
///
/// Conformance: PI - asynchronous calls: exceptions, forwards and what interceptors change
#[test]
fn a_call_that_times_out_during_a_point_has_an_ending_point() {
    let polled = ["1 send_poll", "2 send_poll"];
    let ended = [
        "2 receive_exception IDL:omg.org/CORBA/TIMEOUT:1.0",
        "1 receive_exception IDL:omg.org/CORBA/TIMEOUT:1.0",
    ];
    for (point, expected) in [
        ("send_request", [&SENT[..2], &ended].concat()),
        ("receive_other", [&SENT[..], &polled, &ended].concat()),
    ] {
        with_time_enough(Duration::from_millis(50), |time| {
            let (journal, server) = (Journal::default(), plain_server());
            let (gate, caller) = (Arc::new(Gate::default()), thread::current().id());
            let point_gate = Arc::clone(&gate);
            let [one, two] = recorders(&journal);
            let two = two.at(point, move || {
                // This thread opens the gate.
                if thread::current().id() != caller {
                    point_gate.pass();
                }
                Ok(())
            });
            let orb = client_orb([one, two]);
            let target = seen_by(&orb, &server.target);
            let target = target.with_time_policies(TimePolicies {
                request_start: SystemTime::now().checked_add(time),
                roundtrip_timeout: Some(2 * time),
                ..TimePolicies::NONE
            });
            let outcome = noop(&target).wait();
            let is_at_point = gate.waiting() == 1;
            gate.open();
            if !is_at_point {
                return false;
            }
            assert_eq!(outcome.unwrap_err().kind, ExceptionKind::Timeout);
            eventually("the sequence ends", || journal.len() == expected.len());
            assert_eq!(journal.take(), expected);
            assert_eq!(server.state.calls(), 0);
            true
        });
    }
}

/// Conformance: PI - asynchronous calls within an ORB: the points of both sides
#[test]
fn a_collocated_asynchronous_call_is_seen_by_both_sides() -> Tested {
    let journal = Journal::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Recorder::new("c", &journal))?;
    interceptors.add_server(Recorder::new("s", &journal))?;
    let server = serve(interceptors);
    assert_eq!(echo(&server.target, 5).wait(), Ok(5));
    assert_eq!(
        journal.take(),
        [
            "c send_request",
            "c receive_other Unknown",
            "s receive_contexts",
            "s receive_request",
            "s send_reply",
            "c send_poll",
            "c receive_reply",
        ]
    );
    Ok(())
}

/// Conformance: PI - asynchronous calls: a panic becomes UNKNOWN and harms no other call
#[test]
fn a_panic_at_any_point_of_an_asynchronous_call_is_unknown_to_its_caller_alone() -> Tested {
    let points = [
        ("send_request", Completion::No),
        ("receive_other", Completion::Maybe),
        ("send_poll", Completion::No),
        ("receive_reply", Completion::Yes),
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
        let failed = noop(&target).wait().unwrap_err();
        assert_eq!(
            (failed.kind, failed.completed),
            (ExceptionKind::Unknown, completed)
        );
        let last = "1 receive_exception IDL:omg.org/CORBA/UNKNOWN:1.0";
        assert_eq!(journal.take().last().unwrap(), last, "{point}");
        armed.store(false, Ordering::SeqCst);
        noop(&target).wait()?;
    }
    Ok(())
}

const TAG: u32 = 0x4F52_4272;

/// Sends the value of a slot, and records the request information of the reply's sequence.
struct Remembering {
    slot: SlotId,
    noted: Arc<Mutex<Vec<(u32, i32)>>>,
    own: Arc<Mutex<Option<Target>>>,
}

impl ClientInterceptor for Remembering {
    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if let Ok(number) = it.get_slot(self.slot)?.extract::<i32>() {
            it.add_service_context(TAG, number.to_be_bytes(), false)?;
            self.noted.lock().unwrap().push((it.request_id(), number));
        }
        Ok(())
    }

    fn send_poll(&self, it: &mut SendPoll<'_>) -> Result<(), SystemException> {
        // A nested call, which has to be received while this point runs.
        let own = self.own.lock().unwrap().take();
        match own {
            Some(target) if it.operation() == "noop" => echo(&target, 1).wait().map(drop),
            _ => Ok(()),
        }
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        if let Ok(number) = it.get_slot(self.slot)?.extract::<i32>() {
            assert_eq!(it.service_context(TAG)?, number.to_be_bytes());
            self.noted.lock().unwrap().push((it.request_id(), number));
        }
        Ok(())
    }
}

/// Conformance: PI - asynchronous calls: the reply's sequence has id, slots and contexts of the request
#[test]
fn the_sequence_of_the_reply_has_the_slots_and_contexts_of_the_request() -> Tested {
    let (server, noted) = (plain_server(), Arc::new(Mutex::default()));
    let mut interceptors = Interceptors::new();
    let slot = interceptors.allocate_slot();
    let current = interceptors.current();
    let own = Arc::new(Mutex::default());
    interceptors.add_client(Remembering {
        slot,
        noted: Arc::clone(&noted),
        own: Arc::clone(&own),
    })?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    *own.lock().unwrap() = Some(target.clone());
    current.set_slot(slot, Any::from(7))?;
    let pending = noop(&target);
    current.set_slot(slot, Any::default())?;
    within("the reply", move || pending.wait())?;
    let noted = noted.lock().unwrap();
    assert_eq!(noted.len(), 2);
    assert_eq!(noted[0], noted[1]);
    assert_eq!(noted[0].1, 7);
    Ok(())
}

/// Conformance: PI - asynchronous calls: a call that is dropped has its first sequence alone
#[test]
fn a_call_that_is_dropped_is_not_polled() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let target = seen_by(&orb, &server.target);
    let pending = gate(&target);
    server.state.gate.await_waiting(1);
    drop(pending);
    server.state.gate.open();
    noop(&target).wait()?;
    assert_eq!(journal.take(), [SENT, SENT, ANSWERED].concat());
    Ok(())
}

/// Conformance: PI - deferred requests: the sequences of asynchronous calls
#[test]
fn a_deferred_request_has_two_sequences() -> Tested {
    let (journal, server) = (Journal::default(), plain_server());
    let orb = client_orb(recorders(&journal));
    let target = seen_by(&orb, &server.target);
    let mut request = Request::new(target.as_object(), "echo_long")?;
    request.add_in("v", Any::from(5))?;
    request.set_return_type(Type::LONG)?;
    request.send()?;
    request.get_response()?;
    assert_eq!(request.return_value().extract::<i32>()?, 5);
    assert_eq!(journal.take(), [SENT, ANSWERED].concat());
    Ok(())
}
