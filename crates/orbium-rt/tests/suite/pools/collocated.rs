// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools that serve calls of their own ORB: arguments are lent, and asynchronous calls run on
//! the threads of the lane that their priority names.

use std::sync::{Arc, Mutex};
use std::thread;

use orbium_core::{
    Call, ExceptionKind, Interface, ObjectRef, Priority, SystemException, idl_interface,
};
use orbium_rt::{ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::{Gate, within};

use super::{BUSY, Pooled, propagated, with_pool};
use crate::common::{adapter, on_a_thread};

idl_interface! {
    /// Returns where its arguments lie.
    pub struct Places = "IDL:Places:1.0";
    operations by_octet(0, 103, &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    pub trait PlacesServant;

    fn put(data: &[u8]) -> Result<u64> = "put";
    fn keep(other: Option<&ObjectRef>) -> Result<u64> = "keep" { async keep_async, };
    fn gate() -> Result<()> = "gate" { async gate_async, };
}

/// Notes by which thread it was called, and at which priority.
#[derive(Default)]
struct Noted {
    calls: Mutex<Vec<(String, i16)>>,
    gate: Gate,
}

impl Noted {
    fn note(&self, call: &Call<'_>) {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let lane = name.rsplit('-').next().unwrap_or_default().to_owned();
        let priority = call.priority().map_or(-1, Priority::number);
        self.calls.lock().unwrap().push((lane, priority));
    }

    fn take(&self) -> Vec<(String, i16)> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl PlacesServant for Noted {
    fn put(&self, call: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        self.note(call);
        Ok(data.as_ptr().addr() as u64)
    }

    fn keep(&self, call: &Call<'_>, other: Option<&ObjectRef>) -> Result<u64, SystemException> {
        self.note(call);
        let other = other.ok_or(ExceptionKind::BadParam)?;
        Ok(place_of(other))
    }

    fn gate(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.gate.pass();
        Ok(())
    }
}

fn place_of(object: &ObjectRef) -> u64 {
    std::ptr::from_ref(object.ior()).addr() as u64
}

/// An object of the pool.
fn places(pooled: &Pooled) -> (Places, Arc<Noted>) {
    let noted = Arc::new(Noted::default());
    let model = propagated(5);
    let poa = adapter(
        &pooled.orb,
        &pooled.rt,
        "own",
        &with_pool(pooled.pool, model),
    );
    (poa.activate(Arc::clone(&noted)).unwrap(), noted)
}

/// Conformance: RT 5.8 - calls within the process: on the calling thread at the lane's priority
#[test]
fn calls_are_lent_their_arguments_at_the_priority_of_their_lane() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let (places, noted) = places(&pooled);
    let rt = pooled.rt.clone();
    on_a_thread(move || {
        let data = vec![5; 64 * 1024];
        for (priority, at) in [(30, 20), (5, 5)] {
            rt.current().set_the_priority(priority).unwrap();
            assert_eq!(places.put(&data), Ok(data.as_ptr().addr() as u64));
            assert_eq!(noted.take(), [(String::new(), at)]);
            assert_eq!(rt.current().the_priority().unwrap().number(), priority);
        }
        // Below all lanes.
        rt.current().set_the_priority(4).unwrap();
        let refused = places.put(&data).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::InvPolicy);
        assert_eq!(noted.take(), []);
    });
    pooled.end();
}

/// Conformance: RT 5.8 - asynchronous calls within the process: on the threads of the lane
#[test]
fn asynchronous_calls_run_on_the_threads_of_their_lane() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let (places, noted) = places(&pooled);
    let rt = pooled.rt.clone();
    let other = pooled.object.as_object().clone();
    on_a_thread(move || {
        for (priority, at) in [(30, 20), (5, 5)] {
            rt.current().set_the_priority(priority).unwrap();
            let kept = places.keep_async(Some(&other)).wait();
            assert_eq!(kept, Ok(place_of(&other)));
            assert_eq!(noted.take(), [(at.to_string(), at)]);
        }
        rt.current().set_the_priority(4).unwrap();
        let refused = places.keep_async(Some(&other)).wait().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::InvPolicy);
        assert_eq!(noted.take(), []);
    });
    pooled.end();
}

/// The more urgent call is served first, at its own priority.
///
/// Conformance: RT 5.8 - asynchronous calls within the process: on the threads of the lane
#[test]
fn a_pool_without_lanes_serves_calls_of_its_orb_by_their_priorities() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_buffered_requests: 2,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let (places, noted) = places(&pooled);
    let (rt, seen) = (pooled.rt.clone(), Arc::clone(&noted));
    let other = pooled.object.as_object().clone();
    on_a_thread(move || {
        rt.current().set_the_priority(7).unwrap();
        let busy = places.gate_async();
        seen.gate.await_waiting(1);
        let calls = [9, 40].map(|priority| {
            rt.current().set_the_priority(priority).unwrap();
            places.keep_async(Some(&other))
        });
        assert_eq!(places.keep_async(Some(&other)).wait(), Err(BUSY));
        seen.gate.open();
        within("the calls", move || {
            busy.wait().unwrap();
            for call in calls {
                assert_eq!(call.wait(), Ok(place_of(&other)));
            }
        });
    });
    let priorities: Vec<_> = noted.take().into_iter().map(|(_, at)| at).collect();
    assert_eq!(priorities, [40, 9]);
    pooled.end();
}

/// A pool that buffers nothing takes what it has threads for.
///
/// Conformance: RT 5.8 - asynchronous calls within the process: on the threads of the lane
#[test]
fn a_busy_lane_without_a_buffer_refuses_calls_of_its_orb() {
    let lanes = [ThreadpoolLane::new(5, 1, 0)];
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let (places, noted) = places(&pooled);
    let (rt, other) = (pooled.rt.clone(), pooled.object.as_object().clone());
    on_a_thread(move || {
        rt.current().set_the_priority(5).unwrap();
        let busy = places.gate_async();
        noted.gate.await_waiting(1);
        assert_eq!(places.keep_async(Some(&other)).wait(), Err(BUSY));
        noted.gate.open();
        within("the call", move || busy.wait()).unwrap();
        assert_eq!(places.keep_async(Some(&other)).wait(), Ok(place_of(&other)));
    });
    pooled.end();
}
