// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools that cannot be, and how pools end.

use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_rt::{InvalidThreadpool, ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::eventually;

use super::Pooled;
use crate::common::server;

/// Conformance: RT 5.8 - pools that cannot be: BAD_PARAM, DATA_CONVERSION 2, NO_RESOURCES,
/// BAD_INV_ORDER 4
#[test]
fn pools_that_cannot_be_are_refused() {
    let (orb, rt) = server();
    let config = ThreadpoolConfig::default;
    let kind = |lane: ThreadpoolLane| {
        let refused = rt.create_threadpool(lane, config()).unwrap_err();
        (refused.kind, refused.minor)
    };
    let bad_param = (ExceptionKind::BadParam, 0);
    assert_eq!(kind(ThreadpoolLane::new(5, 0, 3)), bad_param);
    assert_eq!(kind(ThreadpoolLane::new(-1, 1, 0)), bad_param);
    let no_native = rt.create_threadpool(ThreadpoolLane::new(99, 1, 0), config());
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(no_native, Err(expected));
    let nowhere = ThreadpoolLane {
        processors: vec![100_000],
        ..ThreadpoolLane::new(5, 1, 0)
    };
    assert_eq!(kind(nowhere).0, ExceptionKind::NoResources);
    let twice = [5, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    for lanes in [&[][..], &twice] {
        let refused = rt.create_threadpool_with_lanes(lanes, config());
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    }
    let huge = ThreadpoolConfig {
        stack_size: usize::MAX / 4,
        ..config()
    };
    let refused = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), huge);
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::NoResources);
    orb.shutdown(true).unwrap();
    let late = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), config());
    let expected = SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No);
    assert_eq!(late, Err(expected));
}

/// Conformance: RT 5.8 - `destroy_threadpool`: InvalidThreadpool; BAD_INV_ORDER while an adapter is
/// served
#[test]
fn a_pool_that_is_served_from_is_not_destroyed() {
    let threads = ThreadpoolLane::new(5, 1, 0);
    let pooled = Pooled::without_lanes(threads, ThreadpoolConfig::default());
    let in_use = pooled.rt.destroy_threadpool(pooled.pool).unwrap();
    assert_eq!(in_use.unwrap_err().kind, ExceptionKind::BadInvOrder);
    assert_eq!(pooled.served_at(5), Ok(5));
    let poa = pooled.orb.root_poa().find_poa("pooled").unwrap();
    poa.destroy(true).unwrap();
    drop(poa);
    // Its thread may hold the last object of the adapter for a moment.
    eventually("the pool is destroyed", || {
        pooled.rt.destroy_threadpool(pooled.pool) == Ok(Ok(()))
    });
    let unknown = pooled.rt.destroy_threadpool(pooled.pool);
    assert_eq!(unknown, Err(InvalidThreadpool(pooled.pool)));
    pooled.end();
}

/// Conformance: RT 5.8 - the end of the ORB is that of its pools
#[test]
fn the_end_of_the_orb_completes_what_was_begun_and_refuses_what_waits() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let begun = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    let waits = pooled.at_the_gate(5);
    pooled.await_waiting(1);
    pooled.orb.shutdown(false).unwrap();
    // Refused at once, or with the end of the connection.
    let refused = waits.join().unwrap().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Transient);
    assert_eq!(refused.completed, Completion::No);
    pooled.state.gate.open();
    begun.join().unwrap().unwrap();
    pooled.end();
}
