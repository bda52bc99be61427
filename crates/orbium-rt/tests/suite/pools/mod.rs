// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread pools: which thread serves which request, and what is refused.

mod borrowing;
mod buffering;
mod collocated;
mod endpoints;
mod life;
mod native;
mod reserved;
mod serving;

use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;

use orbium_core::{Completion, ExceptionKind, Lane, Orb, SystemException};
use orbium_rt::{
    PriorityModelPolicy, RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolId, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, eventually, within};

use crate::common::{adapter, client, on_a_thread, seen_by, server, teller};

const BUSY: SystemException = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);

fn with_pool(pool: ThreadpoolId, model: Option<PriorityModelPolicy>) -> RtPolicies {
    RtPolicies {
        priority_model: model,
        threadpool: Some(pool),
        ..RtPolicies::default()
    }
}

const fn propagated(server_priority: i16) -> Option<PriorityModelPolicy> {
    Some(PriorityModelPolicy::client_propagated(server_priority))
}

fn with_endpoint(priority: i16) -> ThreadpoolLane {
    ThreadpoolLane {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..ThreadpoolLane::new(priority, 1, 0)
    }
}

/// A server with one pool, an object served by it, and that object's servant.
struct Pooled {
    orb: Orb,
    rt: RtOrb,
    pool: ThreadpoolId,
    state: Arc<TargetState>,
    object: Target,
}

impl Pooled {
    fn without_lanes(threads: ThreadpoolLane, config: ThreadpoolConfig) -> Self {
        let (orb, rt) = server();
        let pool = rt.create_threadpool(threads, config).unwrap();
        Self::new(orb, rt, pool, None)
    }

    fn with_lanes(lanes: &[ThreadpoolLane], config: ThreadpoolConfig) -> Self {
        let (orb, rt) = server();
        let pool = rt.create_threadpool_with_lanes(lanes, config).unwrap();
        Self::new(orb, rt, pool, propagated(5))
    }

    fn new(orb: Orb, rt: RtOrb, pool: ThreadpoolId, model: Option<PriorityModelPolicy>) -> Self {
        let poa = adapter(&orb, &rt, "pooled", &with_pool(pool, model));
        let state = teller();
        let object = poa.activate(Arc::clone(&state)).unwrap();
        Self {
            orb,
            rt,
            pool,
            state,
            object,
        }
    }

    /// Calls `gate` at a priority, which ends when the gate is opened.
    fn at_the_gate(&self, priority: i16) -> JoinHandle<Result<(), SystemException>> {
        let (orb, rt) = client();
        let target = seen_by(&orb, &self.orb, &self.object);
        thread::spawn(move || {
            rt.current().set_the_priority(priority)?;
            target.gate()
        })
    }

    /// Calls `act` at a priority: the one it is served at.
    fn served_at(&self, priority: i16) -> Result<i32, SystemException> {
        let (orb, rt) = client();
        let target = seen_by(&orb, &self.orb, &self.object);
        on_a_thread(move || {
            rt.current().set_the_priority(priority)?;
            target.act(0)
        })
    }

    /// Waits until so many requests wait in the lanes.
    #[track_caller]
    fn await_waiting(&self, count: usize) {
        let waiting = || self.orb.lanes().iter().map(Lane::waiting_requests).sum();
        eventually("requests wait", || count == waiting());
    }

    fn end(self) {
        let orb = self.orb.clone();
        drop(self);
        within("the server's shutdown", move || orb.shutdown(true)).unwrap();
    }
}

fn wait_for(calls: Vec<JoinHandle<Result<(), SystemException>>>) {
    for call in calls {
        call.join().unwrap().unwrap();
    }
}
