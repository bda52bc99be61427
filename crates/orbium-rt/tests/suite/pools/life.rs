// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools that cannot be, and how pools end.

use std::sync::{Arc, Mutex};

use orbium_core::{Completion, Config, ExceptionKind, Orb, Policies, Priority, SystemException};
use orbium_rt::{
    InvalidThreadpool, NativePriority, PriorityMapping, PriorityModelPolicy, RtOrb,
    ThreadpoolConfig, ThreadpoolId, ThreadpoolLane,
};
use orbium_testkit::eventually;
use orbium_testkit::probe::Target;

use super::{Pooled, with_pool};
use crate::common::{server, server_with, teller};

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

/// A mapping that destroys a pool when it is asked next: what another thread may do at that time.
#[derive(Clone, Default)]
struct Destroying(Arc<Mutex<Option<(RtOrb, ThreadpoolId)>>>);

impl PriorityMapping for Destroying {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        let to_destroy = self.0.lock().unwrap().take();
        if let Some((rt, pool)) = to_destroy {
            let destroyed = rt.destroy_threadpool(pool).unwrap();
            assert_eq!(destroyed.unwrap_err().kind, ExceptionKind::BadInvOrder);
        }
        Some(corba.number() + 1)
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        Priority::new(native.checked_sub(1)?)
    }
}

/// The pool of an adapter was in use only from the end of the checks of its policies on: one that was
/// destroyed before that served no request of the adapter, ever.
///
/// Conformance: RT 5.8 - `destroy_threadpool`: InvalidThreadpool; BAD_INV_ORDER while an adapter is
/// served
#[test]
fn a_pool_of_an_adapter_that_is_being_made_is_not_destroyed() {
    let mapping = Destroying::default();
    let builder = RtOrb::builder().mapping(mapping.clone()).soft();
    let (orb, rt) = server_with(Config::default(), builder);
    let threads = ThreadpoolLane::new(5, 1, 0);
    let pool = rt.create_threadpool(threads, ThreadpoolConfig::default());
    let pool = pool.unwrap();
    let (root, model) = (orb.root_poa(), PriorityModelPolicy::server_declared(5));
    *mapping.0.lock().unwrap() = Some((rt.clone(), pool));
    let manager = Some(root.manager());
    let policies = with_pool(pool, Some(model));
    let poa = rt.create_poa(&root, "pooled", manager, Policies::default(), &policies);
    assert!(mapping.0.lock().unwrap().is_none());
    let object: Target = poa.unwrap().activate(teller()).unwrap();
    let client = Orb::builder().build().unwrap();
    let object = crate::common::seen_by(&client, &orb, &object);
    assert_eq!(object.noop(), Ok(()));
    // One that comes to nothing keeps none.
    let nowhere = with_pool(pool, Some(PriorityModelPolicy::server_declared(-1)));
    let refused = rt.create_poa(&root, "none", None, Policies::default(), &nowhere);
    assert!(refused.is_err());
    root.find_poa("pooled").unwrap().destroy(true).unwrap();
    eventually("the pool is destroyed", || {
        rt.destroy_threadpool(pool) == Ok(Ok(()))
    });
    client.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
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
