// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ORB with interceptors, which serves a target.

use std::sync::Arc;

use orbium::interceptor::Interceptors;
use orbium::stub::ServedBy;
use orbium::{Config, Interface, Orb, Servant};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

/// The ORB and its target.
pub(crate) struct InterceptedProcess {
    pub(crate) orb: Orb,
    pub(crate) state: Arc<TargetState>,
    pub(crate) target: Target,
}

impl InterceptedProcess {
    pub(crate) fn new(interceptors: Interceptors) -> Self {
        let orb = Orb::new(Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            interceptors,
            ..Config::default()
        });
        let orb = orb.unwrap();
        orb.root_poa().manager().activate().unwrap();
        let state = Arc::new(TargetState::default());
        let servant: Arc<dyn Servant> = Arc::new(Target::skeleton(Arc::clone(&state)));
        let object = orb.root_poa().activate_servant(&servant).unwrap();
        let target = Target::from_object(object);
        Self { orb, state, target }
    }
}
