// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time ORBs for tests.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each file of tests is a program of its own, and uses some of this"
)]

use std::sync::Arc;

use orbium_core::{Config, Orb, Policies};
use orbium_rt::{ContinuousMapping, RtOrb, RtOrbBuilder, RtPoa, RtPolicies};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

/// A builder of soft ORBs whose CORBA priorities 0 to 98 are native 1 to 99.
pub fn soft() -> RtOrbBuilder {
    RtOrb::builder()
        .mapping(ContinuousMapping::over(1..=99))
        .soft()
}

/// An ORB that serves at a free port.
pub fn server() -> (Orb, RtOrb) {
    server_with(Config::default(), soft())
}

pub fn server_with(mut config: Config, builder: RtOrbBuilder) -> (Orb, RtOrb) {
    config.endpoints.push("iiop://127.0.0.1:0".parse().unwrap());
    let orb = Orb::new(config).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let rt = builder.install(&orb).unwrap();
    (orb, rt)
}

/// An ORB that only calls.
pub fn client() -> (Orb, RtOrb) {
    client_with(soft())
}

pub fn client_with(builder: RtOrbBuilder) -> (Orb, RtOrb) {
    let orb = Orb::builder().build().unwrap();
    let rt = builder.install(&orb).unwrap();
    (orb, rt)
}

/// An adapter below the root, under its manager.
pub fn adapter(orb: &Orb, rt: &RtOrb, name: &str, policies: &RtPolicies) -> RtPoa {
    let manager = orb.root_poa().manager();
    let root = orb.root_poa();
    rt.create_poa(&root, name, Some(manager), Policies::default(), policies)
        .unwrap()
}

/// A servant whose `act` says at which priority it runs, −1 for none.
pub fn teller() -> Arc<TargetState> {
    let state = Arc::new(TargetState::default());
    state.on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    state
}

/// The object as another ORB sees it.
pub fn seen_by(client: &Orb, server: &Orb, object: &Target) -> Target {
    orbium_testkit::reach(client, &server.object_to_string(object))
}

/// Runs a test on a thread of its own: priorities belong to threads.
pub fn on_a_thread<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::spawn(test).join().unwrap()
}
