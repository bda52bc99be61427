// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that cross processes.

use orbium::ExceptionKind;
use orbium_distributable::{Ranked, SCHEDULING_INFO, SchedulingParameter, SegmentError};
use orbium_testkit::probe::RefusedError;
use orbium_testkit::{client, eventually, reach};

use crate::common::{Process, priority};

/// Conformance: RT 6 - distributable threads: two-way calls carry id, segment and parameters - across two servers and back
#[test]
fn a_thread_crosses_two_servers_and_keeps_id_and_parameters() {
    let [first, second, third] = [(); 3].map(|()| Process::new());
    let (to_second, to_third) = (first.target_of(&second), second.target_of(&third));
    let inner = second.threads.current();
    second.state.on_act(move |_, value| {
        inner.begin_scheduling_segment("nested", priority(9), None)?;
        let result = to_third.echo_long(value + 1)?;
        inner.end_scheduling_segment("nested")?;
        Ok(result)
    });
    let current = first.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), Some(priority(1)))
        .unwrap();
    let id = current.id();
    assert_eq!(to_second.act(41), Ok(42));
    assert_eq!(
        (current.id(), current.scheduling_parameter()),
        (id, Some(priority(5)))
    );
    current.end_scheduling_segment("scan").unwrap();
    assert_eq!(current.id(), None);
    for (process, parameter, segment) in [(&second, 5, "scan"), (&third, 9, "nested")] {
        let [upcall] = &process.upcalls()[..] else {
            panic!("one upcall");
        };
        assert_eq!(
            (upcall.id, upcall.parameter),
            (id, Some(priority(parameter)))
        );
        assert_eq!(upcall.segments, [segment]);
        assert!(process.threads.lookup(id.unwrap()).is_none());
    }
    [first, second, third].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: a oneway begins a thread with the implicit parameter
#[test]
fn a_oneway_begins_a_thread_with_the_implicit_parameter() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let target = client.target_of(&server);
    let current = client.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), Some(priority(1)))
        .unwrap();
    target.post(7).unwrap();
    eventually("it is served", || server.upcalls().len() == 1);
    let upcall = server.upcalls().remove(0);
    assert_eq!(upcall.parameter, Some(priority(1)));
    assert!(upcall.id.is_some_and(|id| current.id() != Some(id)));
    current.end_scheduling_segment("scan").unwrap();
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: requests without a context, or with a foreign one, are ordinary ones
#[test]
fn an_ordinary_request_is_no_part_of_a_thread() {
    let server = Process::new();
    let client = client();
    let target: orbium_testkit::probe::Target = reach(
        &client,
        &server.orb.object_to_string(&server.target_of(&server)),
    );
    target.noop().unwrap();
    let upcall = server.upcalls().remove(0);
    assert_eq!((upcall.id, upcall.parameter), (None, None));
    assert!(upcall.segments.is_empty());
    assert_eq!(SCHEDULING_INFO, 30);
    client.shutdown(true).unwrap();
    server.end();
}

/// Conformance: RT 6 - distributable threads: another discipline at the server: INV_POLICY, completed NO
#[test]
fn a_server_of_another_discipline_refuses_the_request() {
    let client = Process::new();
    let server = Process::scheduled_by(Ranked::earliest_deadline(1..=1));
    let target = client.target_of(&server);
    let current = client.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), None)
        .unwrap();
    let refused = target.noop().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    current.end_scheduling_segment("scan").unwrap();
    assert_eq!(target.noop(), Ok(()));
    [client, server].into_iter().for_each(Process::end);
}

/// A user exception is an ending of the call as any other.
#[test]
fn a_thread_goes_on_after_an_exception() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let target = client.target_of(&server);
    let current = client.threads.current();
    current
        .begin_scheduling_segment("", priority(5), None)
        .unwrap();
    let id = current.id();
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    assert_eq!(target.noop(), Ok(()));
    assert!(server.upcalls().iter().all(|it| it.id == id));
    current.end_scheduling_segment("").unwrap();
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: spawned with parameters of its own, or the implicit ones
#[test]
fn a_spawned_thread_has_its_parameters_and_an_id_of_its_own() {
    use orbium_distributable::Spawn;

    let [client, server] = [(); 2].map(|()| Process::new());
    let current = client.threads.current();
    current
        .begin_scheduling_segment("scan", priority(5), Some(priority(2)))
        .unwrap();
    for (parameter, expected) in [(Some(priority(8)), 8), (None, 2)] {
        let target = client.target_of(&server);
        let spawn = Spawn {
            name: "worker".to_owned(),
            parameter,
            ..Spawn::default()
        };
        let spawned = current
            .spawn(spawn, move || target.noop().unwrap())
            .unwrap();
        spawned.native.join().unwrap();
        let upcall = server.upcalls().pop().unwrap();
        assert_eq!(upcall.parameter, Some(priority(expected)));
        assert_eq!(upcall.id, Some(spawned.thread.id()));
        assert_ne!(upcall.id, current.id());
        assert!(client.threads.lookup(spawned.thread.id()).is_none());
    }
    let foreign = SchedulingParameter::EarliestDeadline {
        deadline: 1,
        importance: 0,
    };
    let spawn = Spawn {
        parameter: Some(foreign),
        ..Spawn::default()
    };
    assert!(current.spawn(spawn, || ()).is_err());
    current.end_scheduling_segment("scan").unwrap();
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: `set_scheduling_parameter`: the upcalls of an object run at least at its parameter
#[test]
fn an_object_has_a_segment_of_its_own() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let (target, current) = (client.target_of(&server), client.threads.current());
    server.schedule_target("display", priority(20)).unwrap();
    let in_segment = |of: i16| {
        current
            .begin_scheduling_segment("scan", priority(of), None)
            .unwrap();
        let id = current.id();
        target.act(0).unwrap();
        current.end_scheduling_segment("scan").unwrap();
        id
    };
    let callers = [in_segment(3), in_segment(30)];
    // The caller is no distributable thread: the upcall is one of its own.
    target.act(0).unwrap();
    target.act(0).unwrap();
    let before = server.threads.current().id();
    server.schedule_target("display", None).unwrap();
    target.act(0).unwrap();
    let upcalls = server.upcalls();
    let [below, above, own, other, removed] = &upcalls[..] else {
        panic!("{upcalls:?}");
    };
    assert_eq!([below.id, above.id], callers);
    assert_eq!(below.parameter, Some(priority(20)));
    assert_eq!(above.parameter, Some(priority(30)));
    assert_eq!(below.segments, ["display", "scan"]);
    assert_eq!(own.parameter, Some(priority(20)));
    assert_eq!(own.segments, ["display"]);
    assert!(own.id.is_some() && own.id != other.id);
    // It has ended with its upcall.
    assert!(server.threads.lookup(own.id.unwrap()).is_none());
    assert_eq!((removed.id, removed.parameter, before), (None, None, None));
    [client, server].into_iter().for_each(Process::end);
}

#[test]
fn the_segment_of_an_object_does_not_end_in_its_upcall() {
    let [client, server] = [(); 2].map(|()| Process::new());
    let target = client.target_of(&server);
    let foreign = SchedulingParameter::EarliestDeadline {
        deadline: 1,
        importance: 0,
    };
    let refused = server.schedule_target("display", foreign).unwrap_err();
    assert!(matches!(
        refused,
        SegmentError::UnsupportedDiscipline { .. }
    ));
    server.schedule_target("display", priority(20)).unwrap();
    let current = server.threads.current();
    server.state.on_act(move |_, _| {
        let ended = current.end_scheduling_segment("display");
        assert_eq!(ended, Err(SegmentError::NotInnermost));
        current.begin_scheduling_segment("fill", priority(5), None)?;
        let own = current.scheduling_parameter();
        current.end_scheduling_segment("fill")?;
        assert_eq!(own, Some(priority(5)));
        Ok(7)
    });
    assert_eq!(target.act(0), Ok(7));
    [client, server].into_iter().for_each(Process::end);
}
