// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings of clients to a scheduled server.

use std::sync::Arc;
use std::time::Duration;

use orbium::rt::binding::ReasonCode;
use orbium::rt::{BindError, Offer, RtObject, RtOrb};
use orbium::{Orb, lane::Priority};
use orbium_sched::{Options, Repository, Time, Timing};
use orbium_scheduler::ScheduleAdmission;
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

/// Conformance: RT GOPI 5.2 - bindings: admission by response times, together with the server's schedule
#[test]
fn a_binding_is_admitted_if_its_deadline_and_the_schedule_hold() {
    let mut repository = Repository::new();
    let timing = Timing {
        period: Time::from_millis(50),
        worst_case_execution_time: Time::from_millis(20),
        ..Timing::default()
    };
    repository.register("Rudder::steer", timing).unwrap();
    let schedule = repository.compute_scheduling(&Options::default()).unwrap();

    let server = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let server = server.build().unwrap();
    let rt = RtOrb::builder().soft().install(&server).unwrap();
    let admission = ScheduleAdmission::new(&schedule).cost(Duration::from_millis(10));
    let bindings = rt.serve_bindings(admission.clone()).unwrap();
    let state = Arc::new(TargetState::default());
    let object: Target = server.root_poa().activate(state).unwrap();
    server.root_poa().manager().activate().unwrap();

    let orb = Orb::builder().build().unwrap();
    let target: Target = orb.resolve(&server.object_to_string(&object)).unwrap();
    let offer = Offer::new(Priority::new(1).unwrap(), 10);
    let late = target.bind(&offer.clone().deadline(Duration::from_millis(29)));
    assert!(matches!(late, Err(BindError::Refused(it)) if it.code == ReasonCode::Deadline));
    let bound = target
        .bind(&offer.deadline(Duration::from_millis(30)))
        .unwrap();
    assert_eq!((bindings.active(), admission.active()), (1, 1));
    bound.unbind().unwrap();
    assert_eq!(admission.active(), 0);
    server.shutdown(true).unwrap();
}
