// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time ORBs for tests.

use std::sync::Arc;

use orbium_core::{Completion, Config, ExceptionKind, Orb, Policies, SystemException};
use orbium_giop::minor;
use orbium_rt::{
    ContinuousMapping, PriorityModelPolicy, RtOrb, RtOrbBuilder, RtPoa, RtPolicies,
    ThreadpoolConfig, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, within};

/// What calls through a binding raise that has ended.
pub(crate) const LOST: SystemException =
    SystemException::orbium(ExceptionKind::Rebind, minor::BINDING_LOST, Completion::No);

/// A builder of soft ORBs with a mapping of CORBA priorities 0 to 98 to native 1 to 99.
pub(crate) fn soft() -> RtOrbBuilder {
    RtOrb::builder()
        .mapping(ContinuousMapping::over(1..=99))
        .soft()
}

/// An ORB that serves at a free port.
pub(crate) fn server() -> (Orb, RtOrb) {
    server_with(Config::default(), soft())
}

pub(crate) fn server_with(mut config: Config, builder: RtOrbBuilder) -> (Orb, RtOrb) {
    config.endpoints.push("iiop://127.0.0.1:0".parse().unwrap());
    let orb = Orb::new(config).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let rt = builder.install(&orb).unwrap();
    (orb, rt)
}

/// An ORB that only calls.
pub(crate) fn client() -> (Orb, RtOrb) {
    client_with(soft())
}

pub(crate) fn client_with(builder: RtOrbBuilder) -> (Orb, RtOrb) {
    let orb = Orb::builder().build().unwrap();
    let rt = builder.install(&orb).unwrap();
    (orb, rt)
}

/// An adapter below the root, under its manager.
pub(crate) fn adapter(orb: &Orb, rt: &RtOrb, name: &str, policies: &RtPolicies) -> RtPoa {
    let manager = orb.root_poa().manager();
    let root = orb.root_poa();
    rt.create_poa(&root, name, Some(manager), Policies::default(), policies)
        .unwrap()
}

/// The client says at which priority it is served.
pub(crate) fn propagated(server_priority: i16) -> RtPolicies {
    RtPolicies {
        priority_model: Some(PriorityModelPolicy::client_propagated(server_priority)),
        ..RtPolicies::default()
    }
}

/// A server with a pool of lanes at 5 and 20, one thread each, and an object that
/// they serve.
pub(crate) struct Pooled {
    pub(crate) orb: Orb,
    #[allow(dead_code, reason = "the soak reads it, the suite does not")]
    pub(crate) rt: RtOrb,
    pub(crate) state: Arc<TargetState>,
    pub(crate) object: Target,
}

impl Pooled {
    pub(crate) fn new(config: ThreadpoolConfig) -> Self {
        let (orb, rt) = server();
        let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
        let pool = rt.create_threadpool_with_lanes(&lanes, config).unwrap();
        let policies = RtPolicies {
            threadpool: Some(pool),
            ..propagated(5)
        };
        let state = teller();
        let object = adapter(&orb, &rt, "pooled", &policies)
            .activate(Arc::clone(&state))
            .unwrap();
        orb.bind_key_in_place("Target", &object).unwrap();
        Self {
            orb,
            rt,
            state,
            object,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.orb.addresses().unwrap()[0].port
    }

    pub(crate) fn end(self) {
        let orb = self.orb.clone();
        drop(self);
        within("the server's shutdown", move || orb.shutdown(true)).unwrap();
    }
}

/// A servant with an `act` that returns the priority at which it runs, −1 for none.
pub(crate) fn teller() -> Arc<TargetState> {
    let state = Arc::new(TargetState::default());
    state.on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    state
}

/// The object as another ORB sees it.
pub(crate) fn seen_by(client: &Orb, server: &Orb, object: &Target) -> Target {
    orbium_testkit::reach(client, &server.object_to_string(object))
}

/// Runs a test on a thread of its own: priorities belong to threads.
pub(crate) fn on_a_thread<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::spawn(test).join().unwrap()
}
