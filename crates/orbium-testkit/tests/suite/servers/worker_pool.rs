// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worker pool: its order, its bounds, and what it does at them.

use std::sync::{Arc, Mutex};

use orbium::giop::{
    CancelRequest, MessageKind, ReplyStatus, ResponseFlags, ServiceContext, Target as Addressed,
    Version, encode_encapsulation, minor, service_context, write_locate_request,
};
use orbium::{
    Completion, Config, ExceptionKind, SystemException,
    config::{Limits, ServerStrategy},
};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_testkit::{Peer, RequestLine, Served, eventually, request, within};

fn pool(workers: usize, queue: usize) -> Served {
    Served::new(ServerStrategy::WorkerPool { workers, queue })
}

/// Keeps a worker busy until the gate is opened.
fn occupy(served: &Served) -> Peer {
    let before = served.state.gate.waiting();
    let mut peer = Peer::connect(served.port());
    peer.send(&request(RequestLine::new(1, "gate"), |_| {}));
    served.state.gate.await_waiting(before + 1);
    peer
}

/// Waits until all that the peer has sent was read. The thread that reads
/// answers this itself.
fn was_read(peer: &mut Peer) {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let target = Addressed::Key(b"Target");
    write_locate_request(&mut writer, Version::V1_2, 77, &target);
    peer.send(&writer.finish().unwrap());
    peer.expect(MessageKind::LocateReply);
}

fn act(id: u32, priority: Option<i16>) -> Vec<u8> {
    let data = priority.map(|priority| {
        encode_encapsulation(|writer| writer.write_u16(priority.cast_unsigned())).unwrap()
    });
    let context = data.as_ref().map(|data| ServiceContext {
        id: service_context::RT_CORBA_PRIORITY,
        data,
    });
    let line = RequestLine {
        contexts: context.as_slice(),
        ..RequestLine::new(id, "act")
    };
    request(line, |w| w.write_u32(id))
}

/// What `act` is called with, in order.
fn recorded(served: &Served) -> Arc<Mutex<Vec<i32>>> {
    let record = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&record);
    served.state.on_act(move |_, v| {
        kept.lock().unwrap().push(v);
        Ok(v)
    });
    record
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
/// Conformance: TAO 47 - queueing dispatch, dynamic thread pools
#[test]
fn higher_priorities_go_first_and_equal_ones_in_order() {
    let served = pool(1, 64);
    let record = recorded(&served);
    let mut busy = occupy(&served);
    let mut peer = Peer::connect(served.port());
    let asked = [
        (2, None),
        (4, Some(5)),
        (6, Some(-1)),
        (8, Some(32767)),
        (10, Some(5)),
        (12, Some(0)),
    ];
    for (id, priority) in asked {
        peer.send(&act(id, priority));
    }
    was_read(&mut peer);
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    let answered: Vec<u32> = asked.iter().map(|_| peer.receive().reply().0).collect();
    assert_eq!(answered, [8, 4, 10, 2, 6, 12]);
    assert_eq!(*record.lock().unwrap(), [8, 4, 10, 2, 6, 12]);
    served.end();
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
/// Conformance: faults - a full pool, a full queue: TRANSIENT 1, completed NO
#[test]
fn beyond_the_bound_a_request_is_transient_and_a_oneway_dropped() {
    let served = pool(1, 2);
    let record = recorded(&served);
    let mut busy = occupy(&served);
    let mut peer = Peer::connect(served.port());
    peer.send(&act(2, None));
    peer.send(&act(4, None));
    // Not even the highest priority makes room.
    peer.send(&act(6, Some(32767)));
    let oneway = RequestLine {
        response: ResponseFlags::None,
        ..RequestLine::new(8, "post")
    };
    peer.send(&request(oneway, |w| w.write_u32(8)));
    let (id, status, body) = peer.receive().reply();
    assert_eq!((id, status), (6, ReplyStatus::SystemException));
    let name = b"IDL:omg.org/CORBA/TRANSIENT:1.0\0";
    assert_eq!(&body[4..4 + name.len()], name);
    let numbers: Vec<u32> = body[4 + name.len()..]
        .chunks(4)
        .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    let code = minor::OMG_VMCID | 1;
    assert_eq!(numbers, [code, Completion::No as u32]);
    was_read(&mut peer);
    assert_eq!(served.orb.refused_requests(), 2);
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    for id in [2, 4] {
        assert_eq!(peer.receive().reply().0, id);
    }
    // There is room again.
    peer.send(&act(10, None));
    assert_eq!(peer.receive().reply().0, 10);
    assert_eq!(*record.lock().unwrap(), [2, 4, 10]);
    assert!(served.state.posted().is_empty());
    served.end();
}

/// Conformance: GIOP 2: 9.4.4 - CancelRequest - while it waits in a queue
#[test]
fn requests_cancelled_while_they_wait_are_not_begun() {
    let served = pool(1, 8);
    let record = recorded(&served);
    let mut busy = occupy(&served);
    let mut peer = Peer::connect(served.port());
    let mut other = Peer::connect(served.port());
    other.send(&act(4, None));
    was_read(&mut other);
    for id in [2, 4, 6] {
        peer.send(&act(id, None));
    }
    // The other connection's request of the same id is not meant.
    for id in [4, 4, 1000] {
        let cancel = CancelRequest { request_id: id };
        peer.send(&cancel.message(Version::V1_2, ByteOrder::NATIVE));
    }
    was_read(&mut peer);
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    assert_eq!(other.receive().reply().0, 4);
    for id in [2, 6] {
        assert_eq!(peer.receive().reply().0, id);
    }
    // An id that was cancelled, known or not, can be used.
    for id in [4, 1000] {
        peer.send(&act(id, None));
        assert_eq!(peer.receive().reply().0, id);
    }
    assert_eq!(*record.lock().unwrap(), [4, 2, 6, 4, 1000]);
    served.end();
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
/// Conformance: TAO 47 - queueing dispatch, dynamic thread pools
#[test]
fn at_the_end_waiting_requests_are_not_begun_and_running_ones_are_answered() {
    let served = pool(1, 8);
    let record = recorded(&served);
    let mut busy = occupy(&served);
    let mut peer = Peer::connect(served.port());
    let mut idle = Peer::connect(served.port());
    peer.send(&act(2, None));
    was_read(&mut peer);
    was_read(&mut idle);
    let orb = served.orb.clone();
    let ending = orbium_testkit::spawn(move || orb.shutdown(true));
    idle.expect(MessageKind::CloseConnection);
    peer.expect(MessageKind::CloseConnection);
    peer.expect_end();
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    busy.expect(MessageKind::CloseConnection);
    within("the end", move || ending.join().unwrap()).unwrap();
    assert!(record.lock().unwrap().is_empty());
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
#[test]
fn workers_are_as_many_as_was_said_unless_they_wait_in_calls() {
    let served = pool(2, 64);
    let gated = Served::new(ServerStrategy::ThreadPerConnection);
    let behind = gated.seen_by(&served.orb);
    served.state.on_act(move |_, v| behind.gate().map(|()| v));
    let mut peer = Peer::connect(served.port());
    for id in 0..6 {
        peer.send(&act(id, None));
    }
    // They wait in calls, so others begin.
    gated.state.gate.await_waiting(6);
    gated.state.gate.open();
    for _ in 0..6 {
        peer.receive();
    }
    // Afterwards there are two again: two at the gate, and nobody for more.
    let mut busy = [occupy(&served), occupy(&served)];
    let calls = served.state.calls();
    peer.send(&request(RequestLine::new(100, "noop"), |_| {}));
    was_read(&mut peer);
    assert_eq!(served.state.calls(), calls);
    served.state.gate.open();
    for peer in &mut busy {
        assert_eq!(peer.receive().reply().0, 1);
    }
    assert_eq!(peer.receive().reply().0, 100);
    served.end();
    gated.end();
}

/// Two ORBs that call each other deeper than their threads allow.
fn beyond_all_threads(strategy: ServerStrategy) {
    let config = Config {
        strategy,
        limits: Limits {
            serving_threads: 4,
            ..Limits::default()
        },
        ..Config::default()
    };
    let (a, b) = (Served::with(config.clone()), Served::with(config));
    let b_in_a = b.seen_by(&a.orb);
    let from_a = a.target.clone();
    let again = b_in_a.clone();
    let deep: Result<i32, SystemException> = within("a chain that is too deep", move || {
        b_in_a.nest(Some(&from_a), 50)
    });
    let exception = deep.unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Transient);
    let refused = || a.orb.refused_requests() + b.orb.refused_requests();
    assert!(refused() > 0);
    // Threads that have answered are counted in again a moment later.
    let from_a = a.target.clone();
    eventually("threads come back", || {
        (0..10).all(|_| again.nest(Some(&from_a), 4) == Ok(4))
    });
    a.end();
    b.end();
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
/// Conformance: complaint 2 - a pool starves: no thread can be had, or all wait in nested calls
#[test]
fn when_no_worker_is_left_nested_calls_fail_and_do_not_hang() {
    for workers in [1, 2, 4] {
        beyond_all_threads(ServerStrategy::WorkerPool { workers, queue: 8 });
    }
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
/// Conformance: complaint 2 - a pool starves: no thread can be had, or all wait in nested calls
#[test]
fn when_no_thread_is_left_to_lead_nested_calls_fail_and_do_not_hang() {
    for threads in [1, 2, 4] {
        beyond_all_threads(ServerStrategy::LeaderFollowers { threads });
    }
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority)
#[test]
fn senseless_numbers_are_refused() {
    for (strategy, reason) in [
        ("leader-followers:0", "no thread would serve"),
        ("worker-pool:0", "no thread would serve"),
        ("worker-pool:1/0", "no request would get to a worker"),
        ("worker-pool:100000/1", "raise serving_threads"),
    ] {
        let config = Config {
            strategy: strategy.parse().unwrap(),
            ..Config::default()
        };
        let refused = orbium::Orb::new(config).unwrap_err().to_string();
        assert!(refused.contains(reason), "{strategy}: {refused}");
    }
}
