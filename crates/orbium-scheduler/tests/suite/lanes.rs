// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of a schedule as lanes of an ORB.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use orbium::stub::ServedBy;
use orbium::{
    Config, Interface, Orb, OrbError,
    config::ServerStrategy,
    lane::{Lane, Priority, Scheduling},
    poa::Policies,
};
use orbium_sched::{Dispatching, Entry, Queue, SchedError, Strategy, Table};
use orbium_scheduler::{ScheduledLanes, SchedulerError, at_priority_of};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, reach, within};

/// Rates of 50, 100 and 200 ms.
pub(crate) static SCHEDULE: Table = Table {
    strategy: Strategy::Rms,
    hash: 0,
    entries: &[
        Entry::new("INS::update", (0, 0, 20), 500_000, 100_000),
        Entry::new("ADC::update", (1, 0, 10), 1_000_000, 200_000),
        Entry::new("BIT::run", (2, 0, 5), 10_000_000, 1_000_000),
    ],
    queues: &[
        Queue {
            priority: 20,
            dispatching: Dispatching::Static,
        },
        Queue {
            priority: 10,
            dispatching: Dispatching::Static,
        },
        Queue {
            priority: 5,
            dispatching: Dispatching::TimeSliced,
        },
    ],
};

/// A table of queues with these native priorities.
fn with_priorities(priorities: [i32; 2]) -> &'static Table {
    let queues = priorities.map(|priority| Queue {
        priority,
        dispatching: Dispatching::Static,
    });
    Box::leak(Box::new(Table {
        queues: Box::leak(Box::new(queues)),
        ..SCHEDULE
    }))
}

/// Conformance: RT 6 - each queue of the schedule is a lane: reactive, with native priority and endpoint
#[test]
fn a_lane_has_what_its_queue_says() {
    let endpoint = "iiop://127.0.0.1:10005";
    let lanes = ScheduledLanes::new(&SCHEDULE)
        .endpoint(2, endpoint.parse().unwrap())
        .processors(vec![0]);
    let configs = lanes.configs().unwrap();
    let found: Vec<_> = configs
        .iter()
        .map(|it| (it.priority, it.scheduling, it.strategy))
        .collect();
    let reactive = ServerStrategy::Reactive;
    let expected = [
        (Priority::new(20), Some(Scheduling::fifo(20)), reactive),
        (Priority::new(10), Some(Scheduling::fifo(10)), reactive),
        (Priority::new(5), Some(Scheduling::round_robin(5)), reactive),
    ];
    assert_eq!(found, expected);
    assert_eq!(configs[2].endpoints, [endpoint.parse().unwrap()]);
    assert!(configs.iter().all(|it| it.endpoints.len() == 1 && !it.soft));
    assert!(configs.iter().all(|it| it.processors == Some(vec![0])));
}

/// Conformance: RT 6 - clients carry the priority of an operation by its index
#[test]
fn calls_reach_the_lane_of_their_operation() {
    let orb = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    });
    let orb = orb.unwrap();
    let lanes = ScheduledLanes::new(&SCHEDULE)
        .soft(true)
        .start(&orb)
        .unwrap();
    let names: Vec<_> = lanes.iter().map(Lane::name).collect();
    assert_eq!(names, ["queue-0", "queue-1", "queue-2"]);
    let policies = Policies {
        lanes,
        ..Policies::default()
    };
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let adapter = root
        .create_poa("sensors", Some(root.manager()), policies)
        .unwrap();
    let state = Arc::new(TargetState::default());
    let (ran, served) = channel();
    state.on_act(move |call, v| {
        let thread = thread::current().name().map(str::to_owned);
        ran.send((call.priority(), thread)).unwrap();
        Ok(v)
    });
    let servant: Arc<dyn orbium::Servant> = Arc::new(Target::skeleton(state));
    let object = Target::from_object(adapter.activate_servant(&servant).unwrap());
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&object));
    within("calls", move || {
        for (operation, priority) in [20, 10, 5].into_iter().enumerate().cycle().take(9) {
            let called = at_priority_of(&SCHEDULE, operation, || target.act(7));
            assert_eq!(called.unwrap(), Ok(7));
            let expected = (Priority::new(priority), Some(format!("queue-{operation}")));
            assert_eq!(served.recv().unwrap(), expected);
        }
    });
    orb.shutdown(true).unwrap();
}

#[test]
fn an_operation_beyond_the_table_has_no_priority() {
    let refused = at_priority_of(&SCHEDULE, 3, || panic!("it runs"));
    let expected = SchedError::UnknownTask("3".to_owned());
    assert!(matches!(refused, Err(SchedulerError::Sched(error)) if error == expected));
}

#[test]
fn an_endpoint_of_no_queue_is_refused() {
    let lanes = ScheduledLanes::new(&SCHEDULE).endpoint(3, "iiop://:0".parse().unwrap());
    let error = lanes.configs().unwrap_err().to_string();
    assert_eq!(error, "no operation `queue 3` is registered");
}

#[test]
fn priorities_of_lanes_are_corba_priorities_in_order() {
    for (priorities, wrong) in [
        ([40_000, 10], 40_000),
        ([10, -1], -1),
        ([10, 10], 10),
        ([10, 11], 11),
    ] {
        let refused = ScheduledLanes::new(with_priorities(priorities)).configs();
        assert!(
            matches!(refused, Err(SchedulerError::Priority(number)) if number == wrong),
            "{priorities:?}"
        );
    }
}

/// A port that is taken, at the second of three lanes.
#[test]
fn lanes_start_all_or_none() {
    let orb = Orb::new(Config::default()).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let endpoint = format!("iiop://127.0.0.1:{port}").parse().unwrap();
    let lanes = ScheduledLanes::new(&SCHEDULE)
        .soft(true)
        .endpoint(1, endpoint);
    let refused = lanes.start(&orb);
    assert!(
        matches!(&refused, Err(SchedulerError::Lane(error)) if matches!(**error, OrbError::Listen(..))),
        "{refused:?}"
    );
    assert!(orb.lanes().is_empty());
    orb.shutdown(true).unwrap();
}
