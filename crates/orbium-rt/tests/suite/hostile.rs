// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities that are none, clients that give up or die, and pools that come
//! and go.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::common::{Pooled, adapter, propagated, seen_by, server, teller};
use orbium_cdr::{ByteOrder, CdrReader};
use orbium_core::{ExceptionKind, Interface, Orb, SystemException};
use orbium_giop::real_time::priority_context;
use orbium_giop::{
    ReplyStatus, ResponseFlags, ServiceContext, SystemExceptionBody, service_context,
};
use orbium_rt::{RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, TargetState, eventually, in_own_process, request, threads,
};

/// An object that is also reached by the key `Target`.
fn object(orb: &Orb, rt: &RtOrb, policies: &RtPolicies) -> (Arc<TargetState>, Target) {
    let state = teller();
    let object: Target = adapter(orb, rt, "a", policies)
        .activate(Arc::clone(&state))
        .unwrap();
    orb.bind_key_in_place("Target", &object).unwrap();
    (state, object)
}

/// The object, as a client without priorities sees it.
fn target(pooled: &Pooled) -> Target {
    seen_by(&orbium_testkit::client(), &pooled.orb, &pooled.object)
}

/// Keeps the thread of the lower lane busy until the gate is opened.
fn occupy(pooled: &Pooled) -> JoinHandle<Result<(), SystemException>> {
    let other = target(pooled);
    let busy = thread::spawn(move || other.gate());
    pooled.state.gate.await_waiting(1);
    busy
}

/// What a request with that context is answered with: the result, or the
/// exception.
fn answer(peer: &mut Peer, id: u32, data: &[u8]) -> Result<i32, ExceptionKind> {
    let contexts = [ServiceContext {
        id: service_context::RT_CORBA_PRIORITY,
        data,
    }];
    let line = RequestLine {
        contexts: &contexts,
        ..RequestLine::new(id, "act")
    };
    peer.send(&request(line, |writer| writer.write_u32(0)));
    let message = peer.receive();
    let (_, status, mut body) = message.reply();
    let mut reader = CdrReader::at(&mut body, 24, message.header.format());
    match status {
        ReplyStatus::NoException => Ok(reader.read_u32().unwrap() as i32),
        ReplyStatus::SystemException => {
            let body = SystemExceptionBody::read(&mut reader).unwrap();
            Err(body.exception().kind)
        }
        other => panic!("{other:?}"),
    }
}

/// Conformance: RT 5.7.4 - PriorityTransform: what is no priority: BAD_PARAM, MARSHAL
#[test]
fn priorities_out_of_range_are_refused_and_other_clients_are_not_affected() {
    let (orb, rt) = server();
    let (_, _object) = object(&orb, &rt, &propagated(5));
    let mut peer = Peer::connect(orb.addresses().unwrap()[0].port);
    assert_eq!(answer(&mut peer, 2, &priority_context(7)), Ok(7));
    let foreign = match ByteOrder::NATIVE {
        ByteOrder::Big => [1, 0, 7, 0],
        ByteOrder::Little => [0, 0, 0, 7],
    };
    assert_eq!(answer(&mut peer, 4, &foreign), Ok(7));
    for negative in [-1, i16::MIN] {
        let answer = answer(&mut peer, 6, &priority_context(negative));
        assert_eq!(answer, Err(ExceptionKind::BadParam));
    }
    for malformed in [&[][..], &[0], &[1, 0, 7]] {
        let answer = answer(&mut peer, 8, malformed);
        assert_eq!(answer, Err(ExceptionKind::Marshal));
    }
    // Of more than there must be the rest means nothing.
    let mut longer = priority_context(9).to_vec();
    longer.extend_from_slice(&[0xff; 100]);
    assert_eq!(answer(&mut peer, 10, &longer), Ok(9));
}

/// Conformance: RT 5.7.4 - PriorityTransform: what is no priority: BAD_PARAM, MARSHAL
#[test]
fn the_same_with_a_pool() {
    let pooled = Pooled::new(ThreadpoolConfig::default());
    let mut peer = Peer::connect(pooled.port());
    assert_eq!(answer(&mut peer, 2, &priority_context(21)), Ok(20));
    let refused = answer(&mut peer, 4, &priority_context(-7));
    assert_eq!(refused, Err(ExceptionKind::BadParam));
    let refused = answer(&mut peer, 6, &[9]);
    assert_eq!(refused, Err(ExceptionKind::Marshal));
    let refused = answer(&mut peer, 8, &priority_context(4));
    assert_eq!(refused, Err(ExceptionKind::InvPolicy));
    assert_eq!(answer(&mut peer, 10, &priority_context(5)), Ok(5));
    drop(peer);
    pooled.end();
}

/// Conformance: RT 5.8 - clients that die or give up; oneways; nothing is left
/// Conformance: faults - a client that dies once it is connected, within a header, within a
/// request, before its reply, within a large reply
#[test]
fn a_client_that_dies_while_it_waits_affects_no_other_client() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_buffered_requests: 3,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::new(config);
    let mut dying: Vec<_> = (0..4).map(|_| Peer::connect(pooled.port())).collect();
    for peer in &mut dying {
        peer.send(&request(RequestLine::new(2, "gate"), |_| {}));
    }
    pooled.state.gate.await_waiting(1);
    drop(dying);
    pooled.state.gate.open();
    let target = target(&pooled);
    eventually("those who are gone are done with", || {
        target.act(0) == Ok(5)
    });
    pooled.end();
}

/// Conformance: RT 5.8 - clients that die or give up; oneways; nothing is left
#[test]
fn a_caller_that_gives_up_has_a_timeout_and_its_thread_goes_on() {
    let pooled = Pooled::new(ThreadpoolConfig::default());
    let target = target(&pooled);
    let impatient = target.with_timeout(Duration::from_millis(20));
    let given_up = impatient.gate().unwrap_err();
    assert_eq!(given_up.kind, ExceptionKind::Timeout);
    pooled.state.gate.open();
    eventually("the thread is free again", || target.act(0) == Ok(5));
    pooled.end();
}

/// Conformance: RT 5.8 - clients that die or give up; oneways; nothing is left
#[test]
fn oneways_are_served_or_dropped() {
    let pooled = Pooled::new(ThreadpoolConfig::default());
    let (target, busy) = (target(&pooled), occupy(&pooled));
    // No thread, no room in the queue, and no reply to a oneway.
    target.post(1).unwrap();
    // Behind it on its connection: it has been dropped by now.
    assert!(target.act(0).is_err());
    let mut peer = Peer::connect(pooled.port());
    let line = RequestLine {
        response: ResponseFlags::SyncWithServer,
        ..RequestLine::new(2, "post")
    };
    peer.send(&request(line, |writer| writer.write_u32(2)));
    let (_, status, _) = peer.receive().reply();
    // It was confirmed, and dropped.
    assert_eq!(status, ReplyStatus::SystemException);
    pooled.state.gate.open();
    busy.join().unwrap().unwrap();
    eventually("the thread is free again", || target.act(0) == Ok(5));
    target.post(3).unwrap();
    eventually("it is served", || pooled.state.posted() == [3]);
    pooled.end();
}

/// Conformance: RT 5.8 - clients that die or give up; oneways; nothing is left
#[test]
fn pools_and_their_threads_come_and_go() {
    in_own_process!(|| {
        let (orb, rt) = server();
        let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 2, 1));
        let cycle = || {
            let pool = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
            let pool = pool.unwrap();
            let policies = RtPolicies {
                threadpool: Some(pool),
                ..propagated(5)
            };
            let poa = adapter(&orb, &rt, "cycle", &policies);
            let object: Target = poa.activate(teller()).unwrap();
            assert!(object.as_object().is_a(Target::REPOSITORY_ID).unwrap());
            poa.destroy(true).unwrap();
            drop((poa, object));
            eventually("the pool ends", || {
                rt.destroy_threadpool(pool) == Ok(Ok(()))
            });
        };
        cycle();
        let before = threads();
        for _ in 0..200 {
            cycle();
        }
        // Other tests of this file run at the same time.
        eventually("their threads are gone", || threads() <= before);
        orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT 5.8 - clients that die or give up; oneways; nothing is left
/// Conformance: faults - a full pool, a full queue: TRANSIENT 1, completed NO
#[test]
fn thousands_of_refusals_leave_nothing() {
    let pooled = Pooled::new(ThreadpoolConfig::default());
    let (target, busy) = (target(&pooled), occupy(&pooled));
    for _ in 0..5000 {
        let refused: Result<i32, SystemException> = target.act(0);
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::Transient);
    }
    pooled.state.gate.open();
    busy.join().unwrap().unwrap();
    eventually("the thread is free again", || target.act(0) == Ok(5));
    pooled.end();
}
