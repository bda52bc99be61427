// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests in the lanes of their operations, whatever their clients say; in virtual time.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use orbium::giop::riop::Riop;
use orbium::giop::{ReplyStatus, ServiceContext, service_context};
use orbium::{
    Completion, Config, ExceptionKind, Orb, Servant, SystemException,
    config::ServerStrategy,
    hook::Hook,
    lane::{Lane, Order, Priority, Reservation},
    poa::{
        IdAssignment, IdUniqueness, Poa, Policies, RequestProcessing, ServantActivator,
        ServantError, ServantLocator, ServantRetention, servant_of,
    },
    transport::HostPort,
};
use orbium_sched::{Dispatching, Entry, Queue, SchedError, Table};
use orbium_scheduler::{
    Overload, RequestCounts, ScheduleDispatch, ScheduleDispatchBuilder, ScheduledLanes,
    SchedulerError,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, TargetState, client, eventually, reach, request};

use crate::time::VirtualClock;

/// Ticks of a second.
const SECOND: u64 = 10_000_000;
const ECHO: usize = 0;
const NOOP: usize = 1;
const ACT: usize = 2;
const GATE: usize = 3;

/// Operations of which the second has the later deadline and the less laxity, all in the second
/// queue.
static ENTRIES: [Entry; 4] = [
    Entry::new("Probe::Target::echo_long", (1, 0, 10), 600 * SECOND, 0),
    Entry::new(
        "Probe::Target::noop",
        (1, 1, 10),
        900 * SECOND,
        500 * SECOND,
    ),
    Entry::new("Probe::Target::act", (1, 2, 10), 1200 * SECOND, 0),
    Entry::new("Probe::Target::gate", (1, 3, 10), 0, 0),
];

/// A table with that dispatching of its second queue.
fn table(dispatching: Dispatching) -> &'static Table {
    let queue = |priority, dispatching| Queue {
        priority,
        dispatching,
    };
    let queues = [queue(20, Dispatching::Static), queue(10, dispatching)];
    Box::leak(Box::new(Table {
        entries: &ENTRIES,
        queues: Box::leak(Box::new(queues)),
        ..Table::EMPTY
    }))
}

/// A server with lanes and a hook by a table.
struct Scheduled {
    orb: Orb,
    lanes: Vec<Lane>,
    state: Arc<TargetState>,
    hook: ScheduleDispatch,
    clock: VirtualClock,
}

impl Scheduled {
    fn new(
        table: &'static Table,
        with: impl FnOnce(ScheduleDispatchBuilder) -> ScheduleDispatchBuilder,
    ) -> Self {
        Self::by(&ScheduledLanes::new(table).soft(true), table, with)
    }

    fn by(
        lanes: &ScheduledLanes,
        table: &'static Table,
        with: impl FnOnce(ScheduleDispatchBuilder) -> ScheduleDispatchBuilder,
    ) -> Self {
        let orb = Orb::new(Config::default()).unwrap();
        let lanes = lanes.start(&orb).unwrap();
        let clock = VirtualClock::default();
        let hook = ScheduleDispatch::builder(table, &lanes).clock(clock.clone());
        let hook = with(hook).build().unwrap();
        let policies = Policies {
            lanes: lanes.clone(),
            dispatch: Some(Hook(Arc::new(hook.clone()))),
            ..Policies::default()
        };
        let root = orb.root_poa();
        root.manager().activate().unwrap();
        let adapter = root.create_poa("sensors", Some(root.manager()), policies);
        let state = Arc::new(TargetState::default());
        let object: Target = adapter.unwrap().activate(Arc::clone(&state)).unwrap();
        orb.bind_key_in_place("Target", &object).unwrap();
        Self {
            orb,
            lanes,
            state,
            hook,
            clock,
        }
    }

    /// A client of any ORB at the endpoint of a lane.
    fn peer(&self, lane: usize) -> Peer {
        let at: HostPort = self.lanes[lane].channels()[0].address.parse().unwrap();
        Peer::connect(at.port)
    }

    /// Has the one worker of the second lane wait at the gate.
    fn occupied(&self) -> Peer {
        let mut peer = self.peer(1);
        peer.send(&request(RequestLine::new(1, "gate"), |_| {}));
        self.state.gate.await_waiting(1);
        peer
    }

    fn await_waiting(&self, count: usize) {
        eventually("requests wait", || {
            self.lanes[1].waiting_requests() == count
        });
    }

    fn counts(&self, operation: usize) -> RequestCounts {
        self.hook.counts(operation).unwrap()
    }

    fn await_counts(&self, operation: usize, expected: RequestCounts) {
        // The reply is there before the last of them.
        eventually("the counts", || {
            self.counts(operation).served == expected.served
        });
        assert_eq!(self.counts(operation), expected);
    }

    fn end(self) {
        self.orb.shutdown(true).unwrap();
    }
}

fn call(peer: &mut Peer, id: u32, operation: &str) {
    peer.send(&request(RequestLine::new(id, operation), |w| {
        w.write_u32(id);
    }));
}

/// A call of `noop` with a deadline by RIOP.
fn noop_within(peer: &mut Peer, id: u32, seconds: u64) {
    let data = Riop {
        deadline: seconds * SECOND,
        ..Riop::NONE
    };
    let data = data.encode();
    let context = ServiceContext {
        id: service_context::ORBIUM_RIOP,
        data: &data,
    };
    let line = RequestLine {
        contexts: &[context],
        ..RequestLine::new(id, "noop")
    };
    peer.send(&request(line, |_| {}));
}

fn numbers<const N: usize>(peer: &mut Peer) -> [u32; N] {
    [0; N].map(|_| {
        let (id, status, _) = peer.receive().reply();
        assert_eq!(status, ReplyStatus::NoException);
        id
    })
}

/// The next answer is TIMEOUT.
#[track_caller]
fn expect_timeout(peer: &mut Peer, expected: u32) {
    let (id, status, body) = peer.receive().reply();
    assert_eq!((id, status), (expected, ReplyStatus::SystemException));
    let kind = b"IDL:omg.org/CORBA/TIMEOUT:1.0";
    assert_eq!(&body[4..4 + kind.len()], kind);
}

/// Conformance: RT 6 - requests by schedule: the lane of the operation, whatever the client says
#[test]
fn a_client_of_any_orb_is_served_by_the_lane_of_the_operation() {
    for dispatching in [Dispatching::Static, Dispatching::Deadline] {
        let served = Scheduled::new(table(dispatching), |it| it);
        let (ran, runs) = channel();
        served.state.on_act(move |call, v| {
            let thread = thread::current().name().map(str::to_owned);
            ran.send((call.priority(), thread, call.deadline()))
                .unwrap();
            Ok(v)
        });
        // At the endpoint of the other lane, with no priority at all.
        for lane in [0, 1] {
            let mut peer = served.peer(lane);
            call(&mut peer, 1, "act");
            assert_eq!(numbers(&mut peer), [1]);
            let expected = (Priority::new(10), Some("queue-1".to_owned()), None);
            assert_eq!(runs.recv().unwrap(), expected);
            // An operation that the table does not have.
            peer.send(&request(RequestLine::new(2, "echo_octet"), |w| {
                w.write_u8(7);
            }));
            assert_eq!(numbers(&mut peer), [2]);
        }
        let expected = RequestCounts {
            arrived: 2,
            served: 2,
            ..RequestCounts::default()
        };
        served.await_counts(ACT, expected);
        assert_eq!(served.hook.counts(ENTRIES.len()), None);
        served.end();
    }
}

/// Conformance: RT 6 - requests by schedule: dynamic queues dispatch by deadline or laxity
#[test]
fn a_dynamic_queue_serves_by_deadline_or_laxity() {
    for (dispatching, expected) in [
        (Dispatching::Deadline, [5, 2, 3, 6, 4]),
        (Dispatching::Laxity, [5, 3, 6, 2, 4]),
    ] {
        let served = Scheduled::new(table(dispatching), |it| it);
        let mut busy = served.occupied();
        let mut peer = served.peer(1);
        call(&mut peer, 2, "echo_long");
        call(&mut peer, 3, "noop");
        call(&mut peer, 4, "act");
        // A client may ask for an earlier deadline, and not for a later one.
        noop_within(&mut peer, 5, 550);
        noop_within(&mut peer, 6, 5000);
        served.await_waiting(5);
        served.state.gate.open();
        assert_eq!(numbers(&mut busy), [1]);
        assert_eq!(numbers(&mut peer), expected, "{dispatching:?}");
        served.end();
    }
}

/// Conformance: RT 6 - requests by schedule: worker pools of static queues serve by subpriority
#[test]
fn a_worker_pool_of_a_static_queue_serves_by_subpriority() {
    let table = table(Dispatching::Static);
    let one_worker = ServerStrategy::WorkerPool {
        workers: 1,
        queue: 8,
    };
    let lanes = ScheduledLanes::new(table).soft(true).strategy(one_worker);
    let served = Scheduled::by(&lanes, table, |it| it);
    let mut busy = served.occupied();
    let mut peer = served.peer(1);
    let requests = [
        (2, "act"),
        (3, "noop"),
        (4, "echo_long"),
        (5, "act"),
        (6, "noop"),
    ];
    for (id, operation) in requests {
        call(&mut peer, id, operation);
    }
    served.await_waiting(5);
    served.state.gate.open();
    assert_eq!(numbers(&mut busy), [1]);
    assert_eq!(numbers(&mut peer), [4, 3, 6, 2, 5]);
    served.end();
}

/// Finds the one servant of all objects.
struct Found(Arc<dyn Servant>);

impl ServantLocator for Found {
    type Cookie = ();

    fn preinvoke(
        &self,
        _: &[u8],
        _: &Poa,
        _: &[u8],
    ) -> Result<(Arc<dyn Servant>, ()), ServantError> {
        Ok((Arc::clone(&self.0), ()))
    }
}

impl ServantActivator for Found {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        Ok(Arc::clone(&self.0))
    }
}

/// Conformance: RT 6 - requests by schedule: the lane of the operation, whatever the client says - default servants and servant managers
#[test]
fn objects_without_servants_of_their_own_are_served_by_schedule() {
    let served = Scheduled::new(table(Dispatching::Static), |it| {
        it.objects::<Target>("RootPOA/found")
            .objects::<Target>("RootPOA/made")
    });
    served.state.on_act(|call, _| {
        let thread = thread::current().name().map(str::to_owned);
        assert_eq!(thread.as_deref(), Some("queue-1"));
        Ok(call.priority().map_or(-1, |it| it.number().into()))
    });
    let servant = servant_of::<Target, _>(Arc::clone(&served.state));
    let root = served.orb.root_poa();
    let adapter = |name: &str, request_processing, servant_retention| {
        let policies = Policies {
            lanes: served.lanes.clone(),
            dispatch: Some(Hook(Arc::new(served.hook.clone()))),
            id_assignment: IdAssignment::User,
            id_uniqueness: IdUniqueness::Multiple,
            request_processing,
            servant_retention,
            ..Policies::default()
        };
        root.create_poa(name, Some(root.manager()), policies)
            .unwrap()
    };
    let (retain, not) = (ServantRetention::Retain, ServantRetention::NonRetain);
    let default = adapter("default", RequestProcessing::DefaultServant, not);
    default.set_servant(Arc::clone(&servant)).unwrap();
    let found = adapter("found", RequestProcessing::ServantManager, not);
    found
        .set_servant_locator(Found(Arc::clone(&servant)))
        .unwrap();
    let made = adapter("made", RequestProcessing::ServantManager, retain);
    made.set_servant_activator(Found(Arc::clone(&servant)))
        .unwrap();
    let unknown = adapter("unknown", RequestProcessing::ServantManager, not);
    unknown.set_servant_locator(Found(servant)).unwrap();
    let client = client();
    let target = |adapter: &Poa| {
        let made: Target = adapter.create_reference_with_id(b"it").unwrap();
        reach(&client, &served.orb.object_to_string(&made))
    };
    let mut expected = RequestCounts::default();
    for adapter in [&default, &found, &made, &made] {
        assert_eq!(target(adapter).act(0), Ok(10));
        expected.arrived += 1;
        expected.served += 1;
        served.await_counts(ACT, expected);
    }
    // Nothing says what its objects are.
    assert_eq!(target(&unknown).echo_long(0), Ok(0));
    assert_eq!(served.counts(ECHO), RequestCounts::default());
    served.end();
}

/// Conformance: RT 6 - requests by schedule: run late, skip and cancel, counted by operation
#[test]
fn requests_beyond_their_deadlines_run_late_are_skipped_or_cancelled() {
    let served = Scheduled::new(table(Dispatching::Deadline), |it| {
        it.overload(ECHO, Overload::Skip)
            .overload(ACT, Overload::Cancel)
            .overload(GATE, Overload::Skip)
    });
    let mut busy = served.occupied();
    let mut peer = served.peer(1);
    for (id, operation) in [(2, "echo_long"), (3, "noop"), (4, "act")] {
        call(&mut peer, id, operation);
    }
    served.await_waiting(3);
    served.clock.advance(Duration::from_secs(1201));
    served.state.gate.open();
    // It has no deadline.
    assert_eq!(numbers(&mut busy), [1]);
    expect_timeout(&mut peer, 2);
    assert_eq!(numbers(&mut peer), [3]);
    expect_timeout(&mut peer, 4);
    let skipped = RequestCounts {
        arrived: 1,
        skipped: 1,
        ..RequestCounts::default()
    };
    assert_eq!(
        (served.counts(ECHO), served.counts(ACT)),
        (skipped, skipped)
    );
    let late = RequestCounts {
        arrived: 1,
        served: 1,
        late: 1,
        ..RequestCounts::default()
    };
    served.await_counts(NOOP, late);
    // In time.
    call(&mut peer, 5, "echo_long");
    assert_eq!(numbers(&mut peer), [5]);
    let once = RequestCounts {
        arrived: 2,
        served: 1,
        ..skipped
    };
    served.await_counts(ECHO, once);
    served.end();
}

/// Conformance: RT 6 - requests by schedule: run late, skip and cancel, counted by operation
#[test]
fn a_servant_finds_the_deadline_and_ends_early() {
    let served = Scheduled::new(table(Dispatching::Laxity), |it| {
        it.overload(ACT, Overload::Cancel)
    });
    let (clock, end) = (served.clock.clone(), Duration::from_secs(1201));
    let (seen, deadlines) = channel();
    let late = SystemException::omg(ExceptionKind::Timeout, 2, Completion::Maybe);
    served.state.on_act(move |call, id| {
        seen.send(call.deadline()).unwrap();
        clock.advance(if id == 1 { Duration::ZERO } else { end });
        if id == 3 { Err(late) } else { Ok(id) }
    });
    let mut peer = served.peer(1);
    for id in [1, 2, 3] {
        call(&mut peer, id, "act");
        let (_, status, _) = peer.receive().reply();
        assert_eq!(status == ReplyStatus::SystemException, id == 3);
        assert!(deadlines.recv().unwrap().is_some());
    }
    let expected = RequestCounts {
        arrived: 3,
        served: 3,
        late: 1,
        cancelled: 1,
        skipped: 0,
    };
    served.await_counts(ACT, expected);
    served.end();
}

/// Conformance: RT 6 - requests by schedule: dynamic queues dispatch by deadline or laxity
#[test]
fn lanes_of_dynamic_queues_have_a_queue_in_their_order() {
    let one_worker = ServerStrategy::WorkerPool {
        workers: 1,
        queue: 256,
    };
    for (dispatching, strategy, order) in [
        (
            Dispatching::Static,
            ServerStrategy::Reactive,
            Order::Priority,
        ),
        (
            Dispatching::TimeSliced,
            ServerStrategy::Reactive,
            Order::Priority,
        ),
        (Dispatching::Deadline, one_worker, Order::EarliestDeadline),
        (Dispatching::Laxity, one_worker, Order::LeastLaxity),
    ] {
        let lanes = ScheduledLanes::new(table(dispatching));
        let of = |lanes: &ScheduledLanes| {
            let lane = &lanes.configs().unwrap()[1];
            (lane.strategy, lane.order)
        };
        assert_eq!(of(&lanes), (strategy, order));
        let reactive = (ServerStrategy::Reactive, Order::Priority);
        let time = Duration::from_millis(1);
        let reserved = lanes.clone().reserve(1, Reservation::new(time, 2 * time));
        assert_eq!(of(&reserved), reactive);
        assert_eq!(of(&lanes.clone().busy_poll(1, time)), reactive);
        assert_eq!(of(&lanes.clone().strategy(reactive.0)), reactive);
        let pool = ServerStrategy::WorkerPool {
            workers: 2,
            queue: 8,
        };
        let in_pool = match dispatching {
            Dispatching::Static => Order::Subpriority,
            _ => order,
        };
        assert_eq!(of(&lanes.strategy(pool)), (pool, in_pool));
    }
}

#[test]
fn a_hook_needs_a_lane_for_each_queue_and_operations_that_are_there() {
    let table = table(Dispatching::Deadline);
    let orb = Orb::new(Config::default()).unwrap();
    let lanes = ScheduledLanes::new(table).soft(true).start(&orb).unwrap();
    let refused = ScheduleDispatch::builder(table, &lanes[..1]).build();
    assert_eq!(
        refused.unwrap_err().to_string(),
        "there are 1 lanes for the 2 queues of the schedule"
    );
    let refused = ScheduleDispatch::builder(table, &lanes).overload(4, Overload::Skip);
    let unknown = SchedError::UnknownTask("4".to_owned());
    assert!(matches!(refused.build(), Err(SchedulerError::Sched(it)) if it == unknown));
    orb.shutdown(true).unwrap();
}
