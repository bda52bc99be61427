// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that must be refused: priorities, models, mappings and limits.

use std::sync::Arc;
use std::thread;

use orbium_core::{
    Completion, Config, ExceptionKind, Orb, PoaError, Priority, ServerStrategy, SystemException,
};
use orbium_giop::ReplyStatus;
use orbium_rt::{
    ContinuousMapping, NativePriority, PriorityBand, PriorityMapping, PriorityModelPolicy,
    RtObject, RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, eventually, request, within};

use crate::common::{Pooled, adapter, client, propagated, seen_by, server_with, teller};
use crate::measure::{Fault, Run};

const ALL: usize = usize::MAX;

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "a priority below all lanes",
        most: ALL,
        run: below_all_lanes,
    },
    Fault {
        name: "a band that the server does not serve",
        most: ALL,
        run: band_not_served,
    },
    Fault {
        name: "a priority for an object of another model",
        most: ALL,
        run: another_model,
    },
    Fault {
        name: "a priority that the server cannot map",
        most: ALL,
        run: server_cannot_map,
    },
    Fault {
        name: "a mapping that the kernel refuses",
        most: ALL,
        run: kernel_refuses,
    },
    Fault {
        name: "a pool without a thread or room",
        most: ALL,
        run: pool_is_full,
    },
    Fault {
        name: "a worker pool whose queue is full",
        most: ALL,
        run: queue_is_full,
    },
];

const DATA_CONVERSION_2: SystemException =
    SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);

/// A server with a pool. Another client calls another object of its, and one the
/// lane at 20.
fn pooled(run: &mut Run, config: ThreadpoolConfig) -> Pooled {
    let pooled = Pooled::new(config);
    let (orb, rt) = (&pooled.orb, &pooled.rt);
    let other = orb.root_poa().activate(teller()).unwrap();
    run.with_caller(seen_by(&orbium_testkit::client(), orb, &other));
    let lane = ThreadpoolLane::new(20, 1, 0);
    let declared = RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(20)),
        threadpool: Some(
            rt.create_threadpool(lane, ThreadpoolConfig::default())
                .unwrap(),
        ),
        ..RtPolicies::default()
    };
    let declared: Target = adapter(orb, rt, "declared", &declared)
        .activate(teller())
        .unwrap();
    run.with_caller(seen_by(&orbium_testkit::client(), orb, &declared));
    pooled
}

/// Calls at a priority that the pool does not serve.
fn no_such_lane(run: &mut Run, priority: i16, seen: impl FnOnce(Target) -> Target) {
    let pooled = pooled(run, ThreadpoolConfig::default());
    let (client_orb, client_rt) = client();
    let target = seen(seen_by(&client_orb, &pooled.orb, &pooled.object));
    thread::scope(|scope| {
        scope.spawn(|| {
            client_rt.current().set_the_priority(priority).unwrap();
            run.cycles(|_| {
                let refused = target.act(0).unwrap_err();
                assert_eq!(refused.kind, ExceptionKind::InvPolicy);
                assert_eq!(refused.completed, Completion::No);
            });
            client_rt.current().set_the_priority(5).unwrap();
            assert_eq!(target.act(0), Ok(5));
        });
    });
    pooled.end();
}

fn below_all_lanes(run: &mut Run) {
    no_such_lane(run, 4, |target| target);
}

fn band_not_served(run: &mut Run) {
    let bands = [(0, 9), (30, 49)].map(|(low, high)| PriorityBand { low, high });
    no_such_lane(run, 40, |target| {
        target.with_priority_bands(&bands).unwrap()
    });
}

fn another_model(run: &mut Run) {
    let pooled = pooled(run, ThreadpoolConfig::default());
    let poa = adapter(&pooled.orb, &pooled.rt, "propagated", &propagated(5));
    let state = teller();
    run.cycles(|_| {
        let refused = poa.activate_object_with_priority::<Target, _>(Arc::clone(&state), 5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
        let refused = poa.create_reference_with_priority::<Target>(5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
    });
    drop(poa);
    pooled.end();
}

fn server_cannot_map(run: &mut Run) {
    let narrow = RtOrb::builder()
        .mapping(ContinuousMapping::over(1..=5))
        .soft();
    let (orb, rt) = server_with(Config::default(), narrow);
    let object: Target = adapter(&orb, &rt, "narrow", &propagated(3))
        .activate(teller())
        .unwrap();
    let other = orb.root_poa().activate(teller()).unwrap();
    run.with_caller(seen_by(&orbium_testkit::client(), &orb, &other));
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &orb, &object);
    thread::scope(|scope| {
        scope.spawn(|| {
            client_rt.current().set_the_priority(40).unwrap();
            run.cycles(|_| {
                assert_eq!(target.act(0), Err(DATA_CONVERSION_2));
                let lanes = [ThreadpoolLane::new(40, 1, 0)];
                let refused = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
                assert!(refused.is_err());
            });
            client_rt.current().set_the_priority(4).unwrap();
            assert_eq!(target.act(0), Ok(4));
        });
    });
    within("the server's shutdown", move || orb.shutdown(true)).unwrap();
}

/// Native priorities that no kernel has, from 50 on.
struct Beyond;

impl PriorityMapping for Beyond {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        Some(if corba.number() < 50 { 1 } else { 1000 })
    }

    fn to_corba(&self, _: NativePriority) -> Option<Priority> {
        Priority::new(1)
    }
}

fn kernel_refuses(run: &mut Run) {
    let orb = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    })
    .unwrap();
    // Of a host that permits no native priority nothing can be learnt.
    let Ok(rt) = RtOrb::builder().mapping(Beyond).install(&orb) else {
        return;
    };
    orb.root_poa().manager().activate().unwrap();
    let object: Target = adapter(&orb, &rt, "beyond", &propagated(3))
        .activate(teller())
        .unwrap();
    let other = orb.root_poa().activate(teller()).unwrap();
    run.with_caller(seen_by(&orbium_testkit::client(), &orb, &other));
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &orb, &object);
    thread::scope(|scope| {
        scope.spawn(|| {
            run.cycles(|_| {
                // BindingRequest for by this thread itself, and by a request.
                assert_eq!(rt.current().set_the_priority(60), Err(DATA_CONVERSION_2));
                client_rt.current().set_the_priority(60).unwrap();
                assert_eq!(target.act(0), Err(DATA_CONVERSION_2));
            });
            client_rt.current().set_the_priority(4).unwrap();
            assert_eq!(target.act(0), Ok(4));
        });
    });
    within("the server's shutdown", move || orb.shutdown(true)).unwrap();
}

/// The thread of the lane is busy, and no request may wait, or one does.
fn pool_is_full(run: &mut Run) {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_buffered_requests: 1,
        ..ThreadpoolConfig::default()
    };
    let pooled = pooled(run, config);
    // One is served, one waits, and once the third is refused both are there.
    let mut peer = Peer::connect(pooled.port());
    for id in [2, 4, 6] {
        peer.send(&request(RequestLine::new(id, "gate"), |_| {}));
    }
    let (refused, status, _) = peer.receive().reply();
    assert_eq!((refused, status), (6, ReplyStatus::SystemException));
    let busy = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
    thread::scope(|scope| {
        scope.spawn(|| {
            client_rt.current().set_the_priority(5).unwrap();
            run.cycles(|_| assert_eq!(target.act(0), Err(busy)));
        });
    });
    pooled.state.gate.open();
    for id in [2, 4] {
        assert_eq!(peer.receive().reply().0, id);
    }
    pooled.end();
}

fn queue_is_full(run: &mut Run) {
    let served = Served::new(ServerStrategy::WorkerPool {
        workers: 1,
        queue: 1,
    });
    let waiting = [(); 2].map(|()| {
        let (_orb, target) = served.client();
        thread::spawn(move || target.gate())
    });
    let lane = served.orb.own_lane().unwrap();
    eventually("the queue is full", || {
        served.state.gate.waiting() == 1 && lane.waiting_requests() == 1
    });
    // The only worker is taken: no other client can be served by this ORB, but
    // another of the process is.
    let another = Served::new(ServerStrategy::Reactive);
    run.with_caller(another.client().1);
    let (_client, target) = served.client();
    run.cycles(|_| {
        let refused = target.echo_long(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
        assert_eq!(refused.completed, Completion::No);
        target.post(1).unwrap();
    });
    served.state.gate.open();
    for call in waiting {
        call.join().unwrap().unwrap();
    }
    assert_eq!(served.state.posted(), []);
    assert_eq!(target.echo_long(1), Ok(1));
    served.end();
    another.end();
}
