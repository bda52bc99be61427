// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budgets of lanes: threads that exhaust them are demoted until they are replenished.

use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::budget::{Budget, remaining};
use orbium::stub::ServedBy;
use orbium::{
    Interface, Orb, OrbError, Servant,
    lane::{LaneConfig, Priority, Scheduling},
    poa::Policies,
};
use orbium_scheduler::{ScheduledLanes, SchedulerError};
use orbium_sys::NativeThread;
use orbium_testkit::probe::Target;
use orbium_testkit::{PATIENCE, TargetState, client, reach, skipped, within};

use crate::lanes::SCHEDULE;

const MS: Duration = Duration::from_millis(1);

/// Conformance: RT 6 - budgets of lanes: exhausted, threads are demoted until it is replenished - by the host's clocks
#[test]
fn a_lane_that_exhausts_its_budget_is_demoted_until_it_is_replenished() {
    let own = Scheduling::fifo(2);
    // The watching thread has the priority above.
    if Scheduling::fifo(3).try_out().is_err() {
        return skipped("no permission for real-time priorities");
    }
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    let lane = orb
        .add_lane(&LaneConfig {
            name: "control".into(),
            priority: Priority::new(5),
            scheduling: Some(own),
            budget: Some(Budget::new(2 * MS, 50 * MS)),
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            ..LaneConfig::default()
        })
        .unwrap();
    let state = Arc::new(TargetState::default());
    let scheduling = || NativeThread::current().scheduling().unwrap();
    state.on_act(move |_, _| {
        let begun = Instant::now();
        let mut seen = 0;
        // It works until it is demoted, and then until it is restored.
        for wanted in [own, Scheduling::OTHER, own] {
            while scheduling() != wanted && begun.elapsed() < PATIENCE {}
            seen += i32::from(scheduling() == wanted && remaining().is_some());
        }
        Ok(seen)
    });
    let policies = Policies {
        lanes: vec![lane.clone()],
        ..Policies::default()
    };
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let adapter = root.create_poa("control", Some(root.manager()), policies);
    let servant: Arc<dyn Servant> = Arc::new(Target::skeleton(state));
    let object = Target::from_object(adapter.unwrap().activate_servant(&servant).unwrap());
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&object));
    let seen = within("the call", move || target.act(0).unwrap());
    assert_eq!(seen, 3);
    let used = lane.snapshot().budget.unwrap();
    assert!(used.exhaustions >= 1 && used.demotions >= 1, "{used:?}");
    assert_eq!(remaining(), None, "this thread has no budget");
    orb.shutdown(true).unwrap();
}

/// Conformance: RT 6 - budgets of lanes: those that cannot be kept are refused by name - by an ORB
#[test]
fn a_lane_is_refused_if_its_budget_cannot_be_kept() {
    let orb = Orb::builder().build().unwrap();
    let error = orb
        .add_lane(&LaneConfig {
            budget: Some(Budget::new(MS, 10 * MS)),
            ..LaneConfig::default()
        })
        .unwrap_err();
    assert!(matches!(error, OrbError::Config(_)), "{error}");
    assert!(error.to_string().contains("set scheduling"), "{error}");
    orb.shutdown(true).unwrap();
}

#[test]
fn a_queue_of_a_schedule_has_the_budget_that_is_named() {
    let budget = Budget::new(2 * MS, 10 * MS);
    let lanes = ScheduledLanes::new(&SCHEDULE);
    let configs = lanes.clone().budget(0, budget).configs().unwrap();
    assert_eq!(configs[0].budget, Some(budget));
    assert_eq!(configs[1].budget, None);
    let refused = lanes.budget(99, budget).configs().unwrap_err();
    assert!(matches!(refused, SchedulerError::Sched(_)), "{refused}");
}

/// Conformance: RT 6 - lanes of a schedule: busy polling by queue
#[test]
fn a_queue_of_a_schedule_polls_as_long_as_is_named() {
    let time = Duration::from_micros(50);
    let lanes = ScheduledLanes::new(&SCHEDULE).soft(true);
    let configs = lanes.clone().busy_poll(0, time).configs().unwrap();
    assert_eq!(configs[0].busy_poll, time);
    assert_eq!(configs[1].busy_poll, Duration::ZERO);
    let refused = lanes.clone().busy_poll(99, time).configs().unwrap_err();
    assert!(matches!(refused, SchedulerError::Sched(_)), "{refused}");
    let orb = Orb::builder().build().unwrap();
    let started = lanes.busy_poll(0, time).start(&orb).unwrap();
    assert_eq!(started.len(), SCHEDULE.queues.len());
    orb.shutdown(true).unwrap();
}
