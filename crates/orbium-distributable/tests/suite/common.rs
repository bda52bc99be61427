// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORBs with distributable threads, and what their servants see.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{Interceptors, Interrupt, ReceiveRequest, ServerInterceptor};
use orbium::stub::ServedBy;
use orbium::{Config, Interface, Orb, Servant};
use orbium_distributable::{
    Current, DistributableThreads, FixedPriority, Scheduler, SchedulingParameter, SegmentError,
    ThreadId,
};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

/// What an upcall is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upcall {
    pub(crate) operation: String,
    pub(crate) id: Option<ThreadId>,
    pub(crate) parameter: Option<SchedulingParameter>,
    pub(crate) segments: Vec<String>,
}

/// An ORB that serves a target, with distributable threads of its own.
pub(crate) struct Process {
    pub(crate) orb: Orb,
    pub(crate) threads: DistributableThreads,
    pub(crate) state: Arc<TargetState>,
    target: Target,
    upcalls: Arc<Mutex<Vec<Upcall>>>,
}

/// Records upcalls.
struct Observer(Current, Arc<Mutex<Vec<Upcall>>>);

impl ServerInterceptor for Observer {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let upcall = Upcall {
            operation: request.operation().into_owned(),
            id: self.0.id(),
            parameter: self.0.scheduling_parameter(),
            segments: self.0.current_scheduling_segment_names(),
        };
        self.1.lock().unwrap().push(upcall);
        Ok(())
    }
}

impl Process {
    /// Priorities do not become native ones: that is for a host with permissions.
    pub(crate) fn new() -> Self {
        Self::scheduled_by(FixedPriority::new(|_| None))
    }

    pub(crate) fn scheduled_by(scheduler: impl Scheduler) -> Self {
        let threads = DistributableThreads::new(scheduler);
        let upcalls = Arc::<Mutex<Vec<Upcall>>>::default();
        let mut interceptors = Interceptors::new();
        threads.install(&mut interceptors).unwrap();
        assert!(threads.install(&mut interceptors).is_err());
        let observer = Observer(threads.current(), Arc::clone(&upcalls));
        interceptors.add_server(observer).unwrap();
        let orb = Orb::new(Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            interceptors,
            ..Config::default()
        });
        let orb = orb.unwrap();
        threads.serve(&orb).unwrap();
        let state = Arc::new(TargetState::default());
        let servant: Arc<dyn Servant> = Arc::new(Target::skeleton(Arc::clone(&state)));
        let target = orb.root_poa().activate_servant(&servant).unwrap();
        Self {
            target: Target::from_object(target),
            orb,
            threads,
            state,
            upcalls,
        }
    }

    /// The target of that process, for calls of this one.
    pub(crate) fn target_of(&self, other: &Self) -> Target {
        let text = other.orb.object_to_string(&other.target);
        self.orb.resolve(&text).unwrap()
    }

    /// Sets the parameter of the target of this process.
    pub(crate) fn schedule_target(
        &self,
        name: &str,
        parameter: impl Into<Option<SchedulingParameter>>,
    ) -> Result<(), SegmentError> {
        let poa = self.orb.root_poa();
        let id = poa.reference_to_id(&self.target).unwrap();
        let object = (&poa, &id[..]);
        self.threads
            .set_scheduling_parameter(object, name, parameter)
    }

    pub(crate) fn upcalls(&self) -> Vec<Upcall> {
        self.upcalls.lock().unwrap().clone()
    }

    pub(crate) fn end(self) {
        self.orb.shutdown(true).unwrap();
    }
}

pub(crate) const fn priority(priority: i16) -> SchedulingParameter {
    SchedulingParameter::FixedPriority { priority }
}
