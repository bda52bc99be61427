// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers and clients that end, crash and restart.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium::giop::MessageKind;
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{ClientStrategy, Limits, ServerStrategy},
    poa::{IdAssignment, IdUniqueness, Lifespan, Policies},
};
use orbium_transport::Endpoint;

use super::live::Live;
use super::wire::Wire;
use crate::probe::Target;
use crate::target::TargetState;
use crate::transport_suite::Subject;
use crate::transport_suite::child::{Process, linger, say};
use crate::{
    PATIENCE, RequestLine, Served, each_strategy, eventually, pause_calls, reach, request, within,
};

/// A server that shuts down completes requests in progress, and sends CloseConnection to idle
/// clients.
///
/// Conformance: streams - servers and clients that end, die and come back
pub fn a_call_in_flight_is_answered_before_the_end(subject: &Subject) {
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        let mut idle = Wire::new(subject, &served.orb);
        idle.send(&request(RequestLine::new(2, "noop"), |_| {}));
        assert_eq!(idle.receive().expect("a reply").reply().0, 2);
        let state = Arc::clone(&served.state);
        let gate = Arc::clone(&served.state);
        state.on_act(move |_, v| {
            gate.gate.pass();
            Ok(v)
        });
        let call = {
            let target = target.clone();
            thread::spawn(move || target.act(7))
        };
        state.gate.await_waiting(1);
        served.orb.shutdown(false).expect("shutdown");
        state.gate.open();
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(7));
        let last = idle.receive().expect("a last message");
        assert_eq!(last.kind(), MessageKind::CloseConnection);
        idle.expect_end();
        served.end();
        client.shutdown(true).expect("shutdown");
    });
}

/// A server with one object that outlives it.
fn durable(subject: &Subject, at: Endpoint, strategy: ServerStrategy) -> (Orb, Target) {
    let orb = Orb::new(Config {
        ..subject.server_config(at, strategy)
    })
    .expect("an ORB");
    let root = orb.root_poa();
    root.manager().activate().expect("a new manager");
    let policies = Policies {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        id_uniqueness: IdUniqueness::Unique,
        ..Policies::default()
    };
    let poa = root
        .create_poa("durable", Some(root.manager()), policies)
        .expect("an adapter");
    let target = poa
        .activate_with_id(b"target", Arc::new(TargetState::default()))
        .expect("activation");
    (orb, target)
}

/// Calls without a server raise TRANSIENT; once it listens at the same address again, the same
/// reference works.
///
/// Conformance: streams - servers and clients that end, die and come back
/// Conformance: complaint 16 - no network at the start, or it changes: only 127.0.0.1 is published,
/// or the ORB ends
pub fn a_server_that_is_gone_is_transient_and_one_that_came_back_is_found(subject: &Subject) {
    each_strategy(|strategy| {
        let endpoint = subject.endpoint();
        let (first, object) = durable(subject, endpoint.clone(), strategy);
        let published = first.channels().expect("a listening ORB");
        let at = subject.same_place(endpoint, &published[0].address);
        let client = subject.client_orb();
        let target = reach(&client, &first.object_to_string(&object));
        let target = target.with_timeout(PATIENCE);
        assert_eq!(target.echo_long(1), Ok(1));
        drop(object);
        within("the first end", move || first.shutdown(true)).expect("shutdown");
        for _ in 0..3 {
            let exception = target.echo_long(2).expect_err("nobody is there");
            assert_eq!(exception.kind, ExceptionKind::Transient);
            assert_eq!(exception.completed, Completion::No);
        }
        for number in 0..3 {
            let (again, _object) = durable(subject, at.clone(), strategy);
            // At most the one that is lost with its connection gets no reply.
            eventually("the server is found again", || {
                target.echo_long(number) == Ok(number)
            });
            for v in 0..20 {
                assert_eq!(target.echo_long(v), Ok(v));
            }
            within("the next end", move || again.shutdown(true)).expect("shutdown");
        }
        client.shutdown(true).expect("shutdown");
    });
}

/// The exceptions for a connection that was lost or not established.
pub(super) fn is_lost(result: &Result<impl Sized, SystemException>) -> bool {
    result.as_ref().is_err_and(|exception| {
        matches!(
            exception.kind,
            ExceptionKind::CommFailure | ExceptionKind::Transient
        )
    })
}

/// A process that is killed during its calls is detected by its server, and does not affect other
/// clients.
///
/// Conformance: streams - servers and clients that end, die and come back
/// Conformance: faults - a client that dies once it is connected, within a header, within a
/// request, before its reply, within a large reply
pub fn a_client_that_dies_does_not_affect_others(subject: &Subject) {
    each_strategy(|strategy| {
        let live = Live::new(subject, strategy, Limits::default());
        let text = live.served.orb.object_to_string(&live.served.target);
        for _ in 0..2 {
            let Some(mut client) = Process::start(subject, &format!("call {text}")) else {
                break;
            };
            assert_eq!(client.said(), "calling");
            client.kill();
        }
        live.end();
    });
}

/// Outstanding calls to a killed process end, and later ones fail to connect.
///
/// Conformance: streams - servers and clients that end, die and come back
/// Conformance: faults - no server; one that dies before it reads, with the request, within the
/// header of its reply, within its reply, after it: TRANSIENT, COMM_FAILURE
pub fn a_server_that_is_killed_ends_its_calls(subject: &Subject) {
    for strategy in [
        "thread-per-connection",
        "reactive",
        "leader-followers:2",
        "worker-pool:2/8",
    ] {
        let Some(mut server) = Process::start(subject, &format!("serve {strategy}")) else {
            return;
        };
        let client = subject.client_orb();
        let at: Endpoint = server.said().parse().expect("an endpoint");
        let target = reach(&client, &server.said());
        assert_eq!(target.echo_long(1), Ok(1));
        let calls: Vec<_> = (0..4)
            .map(|_| {
                let target = target.clone();
                thread::spawn(move || target.gate())
            })
            .collect();
        // The reactive strategy serves only one at a time.
        assert_eq!(server.said(), "waiting");
        server.kill();
        for call in calls {
            let ended = within("a call to a killed server", move || call.join().unwrap());
            assert!(is_lost(&ended), "{ended:?}");
        }
        let later = within("a later call", move || target.echo_long(2));
        assert!(is_lost(&later), "{later:?}");
        within("the client's end", move || client.shutdown(true)).expect("shutdown");
        // Remove the remains of the process. If the address was a port, another process may use it
        // by now.
        drop(subject.try_listen(&at));
    }
}

/// A call after a pause is not sent over a connection to a server that was killed while it was
/// idle. Regression: it was, and raised COMM_FAILURE.
///
/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO - in each
/// transport
/// Conformance: streams - servers and clients that end, die and come back
/// Conformance: complaint 8 - the server's orderly close is read too late, and the caller sees
/// COMM_FAILURE - a server that crashed in the pause is noticed before the call is sent
pub fn a_server_that_is_killed_while_idle_has_not_begun(subject: &Subject) {
    let role = "serve thread-per-connection";
    let Some(mut server) = Process::start(subject, role) else {
        return;
    };
    let at: Endpoint = server.said().parse().expect("an endpoint");
    let text = server.said();
    let clients = [(); 2].map(|()| subject.client_orb());
    let targets = clients.each_ref().map(|client| reach(client, &text));
    for target in &targets {
        assert_eq!(target.echo_long(1), Ok(1));
    }
    server.kill();
    pause_calls();
    for target in targets {
        let exception = within("a later call", move || target.echo_long(2).unwrap_err());
        assert_eq!(exception.kind, ExceptionKind::Transient, "{exception}");
        assert_eq!(exception.completed, Completion::No, "{exception}");
    }
    for client in clients {
        within("the client's end", move || client.shutdown(true)).expect("shutdown");
    }
    // As above.
    drop(subject.try_listen(&at));
}

/// Data that arrive on a connection before its first call or after its last, such as tickets of TLS
/// or wake-ups of shared memory, are not mistaken for its end.
///
/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO - in each
/// transport
pub fn a_connection_is_kept_over_a_pause(subject: &Subject) {
    let served = subject.serve(ServerStrategy::ThreadPerConnection);
    let clients = [
        ClientStrategy::ExclusivePool,
        ClientStrategy::LeaderFollowers,
        ClientStrategy::IoThread,
    ];
    let clients = clients.map(|client_strategy| {
        let client = Orb::new(Config {
            client_strategy,
            ..subject.client_config()
        });
        let client = client.expect("an ORB");
        let target = served.seen_by(&client);
        target.as_object().connect().expect("a connection");
        (client, target)
    });
    let before = clients.each_ref().map(|(client, _)| open(client));
    for _ in 0..2 {
        pause_calls();
        for (_, target) in &clients {
            assert_eq!(target.echo_long(1), Ok(1));
        }
    }
    assert_eq!(clients.each_ref().map(|(client, _)| open(client)), before);
    for (client, _) in clients {
        within("the client's end", move || client.shutdown(true)).expect("shutdown");
    }
    served.end();
}

/// The ids of an ORB's client connections.
fn open(client: &Orb) -> Vec<u64> {
    let connections = client.connections().entries;
    connections.iter().map(|connection| connection.id).collect()
}

/// The same between oneways, which check for the end of their connection themselves: with another
/// connection the second oneway could overtake the first.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn a_connection_is_kept_between_oneways(subject: &Subject) {
    let served = subject.serve(ServerStrategy::ThreadPerConnection);
    let client = subject.client_orb();
    let target = served.seen_by(&client);
    target.post(0).expect("the first");
    let before = open(&client);
    assert_eq!(before.len(), 1);
    for v in 1..5 {
        // Messages of the server after a handshake arrive in this time.
        thread::sleep(Duration::from_millis(5));
        target.post(v).expect("another");
        target.as_object().connect().expect("a connection");
    }
    assert_eq!(open(&client), before);
    target.noop().expect("an answer");
    assert_eq!(served.state.posted(), [0, 1, 2, 3, 4]);
    client.shutdown(true).expect("shutdown");
    served.end();
}

/// The actions of the server before it is killed.
pub(in crate::transport_suite) fn serve_until_killed(subject: &Subject, strategy: &str) {
    let strategy = strategy.parse().expect("a strategy");
    let endpoint = subject.endpoint();
    let served = Served::with(subject.server_config(endpoint.clone(), strategy));
    let published = served.orb.channels().expect("a listening ORB");
    say(&subject
        .same_place(endpoint, &published[0].address)
        .to_string());
    say(&served.orb.object_to_string(&served.target));
    eventually("calls wait", || served.state.gate.waiting() > 0);
    say("waiting");
    linger();
}

/// The actions of the client before it is killed.
pub(in crate::transport_suite) fn call_for_ever(subject: &Subject, reference: &str) {
    let client = subject.client_orb();
    let target = reach(&client, reference);
    target.noop().expect("a server");
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let target = target.clone();
            thread::spawn(move || while target.echo_octets(&[1; 300_000]).is_ok() {})
        })
        .collect();
    say("calling");
    linger();
    drop(callers);
}
