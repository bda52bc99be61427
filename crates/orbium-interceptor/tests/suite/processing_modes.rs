// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processing modes: interceptors of collocated calls, or of all others.

use std::error::Error;
use std::sync::Arc;

use orbium::interceptor::{Interceptors, ProcessingMode};
use orbium::{Config, asynchronous::Asynchronous, config::Collocation};
use orbium::{Interface, Orb};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Journal, Recorder, plain_server, seen_by};

const MODES: [(&str, ProcessingMode); 3] = [
    ("all", ProcessingMode::LocalAndRemote),
    ("remote", ProcessingMode::RemoteOnly),
    ("local", ProcessingMode::LocalOnly),
];

const COLLOCATIONS: [Collocation; 3] = [
    Collocation::ThroughPoa,
    Collocation::Direct,
    Collocation::Marshalled,
];

/// A recorder of each mode, at both sides.
fn recorders(journal: &Journal) -> Result<Interceptors, Box<dyn Error>> {
    let mut interceptors = Interceptors::new();
    for (name, mode) in MODES {
        let recorder = Recorder::new(name, journal);
        interceptors.add_client_with(recorder.clone(), mode)?;
        interceptors.add_server_with(recorder, mode)?;
    }
    Ok(interceptors)
}

/// An ORB with such recorders that serves an object.
fn recorded(journal: &Journal, collocation: Collocation) -> Result<(Orb, Target), Box<dyn Error>> {
    let config = Config {
        collocation,
        ..Config::default()
    };
    let orb = Orb::builder()
        .config(config)
        .endpoint("iiop://127.0.0.1:0")?
        .interceptors(recorders(journal)?)
        .build()?;
    let target = orb.serve("Target", Arc::new(TargetState::default()))?;
    Ok((orb, target))
}

/// The expected records of interceptors with these names for a call: its starting points in their
/// order, its ending points in reverse.
fn noted(client: &[&str], server: &[&str], ends: [&str; 2]) -> Vec<String> {
    let points = |names: &[&str], point: &str| -> Vec<String> {
        names.iter().map(|name| format!("{name} {point}")).collect()
    };
    let reversed = |names: &[&str], point: &str| -> Vec<String> {
        points(names, point).into_iter().rev().collect()
    };
    [
        points(client, "send_request"),
        points(server, "receive_contexts"),
        points(server, "receive_request"),
        reversed(server, ends[0]),
        reversed(client, ends[1]),
    ]
    .concat()
}

const RESULTS: [&str; 2] = ["send_reply", "receive_reply"];

const REFUSAL: [&str; 2] = [
    "send_exception IDL:Probe/Refused:1.0",
    "receive_exception IDL:Probe/Refused:1.0",
];

/// Conformance: PI - processing modes: calls within the ORB
#[test]
fn calls_within_the_orb_are_seen_by_interceptors_of_local_ones() -> Tested {
    for collocation in COLLOCATIONS {
        let journal = Journal::default();
        let (_orb, target) = recorded(&journal, collocation)?;
        let local = ["all", "local"];
        // Twice: unimplemented points are detected the first time.
        for _ in 0..2 {
            assert_eq!(target.echo_long(7)?, 7);
            assert_eq!(
                journal.take(),
                noted(&local, &local, RESULTS),
                "{collocation}"
            );
        }
        assert!(target.refuse(3).is_err());
        assert_eq!(
            journal.take(),
            noted(&local, &local, REFUSAL),
            "{collocation}"
        );
    }
    Ok(())
}

/// Conformance: PI - processing modes: calls that leave the ORB
#[test]
fn calls_that_leave_the_orb_are_seen_by_interceptors_of_remote_ones() -> Tested {
    let journal = Journal::default();
    let (orb, _target) = recorded(&journal, Collocation::default())?;
    let server = plain_server();
    let target = seen_by(&orb, &server.target);
    let remote = ["all", "remote"];
    for _ in 0..2 {
        assert_eq!(target.echo_long(7)?, 7);
        assert_eq!(journal.take(), noted(&remote, &[], RESULTS));
    }
    assert!(target.refuse(3).is_err());
    assert_eq!(journal.take(), noted(&remote, &[], REFUSAL));
    Ok(())
}

/// Conformance: PI - processing modes: requests that enter the ORB
#[test]
fn requests_that_enter_the_orb_are_seen_by_interceptors_of_remote_ones() -> Tested {
    let journal = Journal::default();
    let (_orb, target) = recorded(&journal, Collocation::default())?;
    let client = Orb::builder().build()?;
    let target = seen_by(&client, &target);
    let remote = ["all", "remote"];
    for _ in 0..2 {
        assert_eq!(target.echo_long(7)?, 7);
        assert_eq!(journal.take(), noted(&[], &remote, RESULTS));
    }
    assert!(target.refuse(3).is_err());
    assert_eq!(journal.take(), noted(&[], &remote, REFUSAL));
    Ok(())
}

/// Conformance: PI - processing modes: asynchronous calls within the ORB
#[test]
fn asynchronous_calls_within_the_orb_are_seen_by_interceptors_of_local_ones() -> Tested {
    static ECHO: Operation = Operation::new("echo_long");
    let journal = Journal::default();
    let (_orb, target) = recorded(&journal, Collocation::default())?;
    let object = target.as_object();
    let answer: Asynchronous<i32> = object.call_async(&ECHO, 7, Encode::encode, i32::decode);
    assert_eq!(answer.wait()?, 7);
    let noted = journal.take();
    assert!(
        noted.iter().any(|it| it == "local send_request"),
        "{noted:?}"
    );
    assert!(noted.iter().any(|it| it == "all send_reply"), "{noted:?}");
    assert!(
        noted.iter().all(|it| !it.starts_with("remote")),
        "{noted:?}"
    );
    Ok(())
}
