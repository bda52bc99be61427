// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects that lanes serve: asynchronous calls run on the threads of the lane, all others on
//! the calling thread at the lane's priority; both lend the servant their arguments.

mod queueing;

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use orbium::{
    Call, Completion, Config, ExceptionKind, Interface, ObjectRef, SystemException,
    asynchronous::Poller,
    config::{Collocation, ServerStrategy},
    lane::{Lane, LaneConfig, Priority, priority},
    poa::{Poa, Policies},
    policy::{BufferingConstraint, SyncScope},
};
use orbium_core::{ServedBy as _, idl_interface};
use orbium_testkit::probe::{Refused, RefusedError};
use orbium_testkit::{Gate, Served, block_on, eventually, within};

use super::observed::counted;
use super::{config, each_way, place_of};

idl_interface! {
    /// Notes which threads serve it, and returns where its arguments lie.
    pub struct Seen = "IDL:Seen:1.0";
    operations by_octet(0, 103, &[6, 0, 0, 0, 0, 0, 0, 2, 4, 1, 0, 5, 3, 0, 0, 0, 7]);
    pub trait SeenServant;

    fn keep(others: &[Option<ObjectRef>]) -> Result<u64> = "keep" { async keep_async, };
    fn put(data: &[u8]) -> Result<u64> = "put";
    oneway post(data: &[u8]) -> Result<()> = "note";
    fn swap(@inout value: String | &str) -> Result<()> = "swap" { async swap_async -> String,
        out(value: String) gives (), };
    fn order(number: u32) -> Result<u32> = "order" { async order_async, };
    fn refuse(code: i32) -> Result<i32, RefusedError> = "refuse" { async refuse_async, };
    fn gate() -> Result<()> = "gate" { async gate_async, };
    fn relay(other: Option<&ObjectRef>) -> Result<u32> = "wait" { async relay_async, };
}

/// Of a call: the thread that served it, and at which priority.
type ServedBy = (String, Option<Priority>);

#[derive(Default)]
struct Watch {
    calls: Mutex<Vec<ServedBy>>,
    /// The numbers of `order`.
    numbers: Mutex<Vec<u32>>,
    /// Where the data of the last oneway were.
    place: Mutex<u64>,
    gate: Gate,
}

impl Watch {
    fn note(&self, call: &Call<'_>) {
        self.calls
            .lock()
            .unwrap()
            .push((name_of_thread(), call.priority()));
    }

    /// What was noted since.
    fn take(&self) -> Vec<ServedBy> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn numbers(&self) -> Vec<u32> {
        self.numbers.lock().unwrap().clone()
    }
}

fn place(data: &[u8]) -> u64 {
    data.as_ptr().addr() as u64
}

impl SeenServant for Watch {
    fn keep(&self, call: &Call<'_>, others: &[Option<ObjectRef>]) -> Result<u64, SystemException> {
        self.note(call);
        assert!(call.peer().is_none() && call.response_expected());
        let first = others.first().and_then(Option::as_ref);
        let first = first.ok_or(ExceptionKind::BadParam)?;
        assert!(first.time_policies().is_none());
        Ok(place_of(first))
    }

    fn put(&self, call: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        self.note(call);
        Ok(place(data))
    }

    fn post(&self, call: &Call<'_>, data: &[u8]) -> Result<(), SystemException> {
        self.note(call);
        *self.place.lock().unwrap() = place(data);
        Ok(())
    }

    fn swap(&self, _: &Call<'_>, value: &mut String) -> Result<(), SystemException> {
        value.push('!');
        Ok(())
    }

    fn order(&self, call: &Call<'_>, number: u32) -> Result<u32, SystemException> {
        self.note(call);
        self.numbers.lock().unwrap().push(number);
        Ok(number)
    }

    fn refuse(&self, _: &Call<'_>, code: i32) -> Result<i32, RefusedError> {
        match code {
            0 => Ok(0),
            1 => panic!("in the servant"),
            2 => Err(SystemException::from(ExceptionKind::NoResources).into()),
            _ => Err(Refused {
                code,
                why: "asked to".into(),
            }
            .into()),
        }
    }

    fn gate(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.gate.pass();
        Ok(())
    }

    /// Waits for an asynchronous call of its own.
    fn relay(&self, call: &Call<'_>, other: Option<&ObjectRef>) -> Result<u32, SystemException> {
        self.note(call);
        let other = other.ok_or(ExceptionKind::BadParam)?;
        let other = Seen::from_object(other.clone());
        other.order_async(7).wait()
    }
}

fn name_of_thread() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

fn lane_config(number: i16, workers: usize, queue: usize) -> LaneConfig {
    LaneConfig {
        name: format!("lane-{number}"),
        priority: Priority::new(number),
        strategy: ServerStrategy::WorkerPool { workers, queue },
        ..LaneConfig::default()
    }
}

/// An adapter that lanes serve, with one object.
struct Behind {
    lanes: Vec<Lane>,
    poa: Poa,
    seen: Seen,
    watch: Arc<Watch>,
}

impl Behind {
    fn new(served: &Served, lanes: &[LaneConfig]) -> Self {
        let lanes = lanes.iter().map(|it| served.orb.add_lane(it).unwrap());
        let lanes: Vec<_> = lanes.collect();
        let policies = Policies {
            lanes: lanes.clone(),
            ..Policies::default()
        };
        let root = served.orb.root_poa();
        let poa = root.create_poa("Behind", Some(root.manager()), policies);
        let (poa, watch) = (poa.unwrap(), Arc::new(Watch::default()));
        let seen = poa.activate(Arc::clone(&watch)).unwrap();
        Self {
            lanes,
            poa,
            seen,
            watch,
        }
    }

    /// What the servant notes of a call that a thread of the first lane serves.
    fn of_lane(&self) -> ServedBy {
        (self.lanes[0].name().to_owned(), self.lanes[0].priority())
    }
}

const TRANSIENT: SystemException =
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No);

/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls of objects
/// that lanes serve
#[test]
fn asynchronous_calls_run_on_the_threads_of_the_lane_and_are_lent_what_they_own() {
    each_way(|way, served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let (seen, other) = (&behind.seen, served.target.as_object());
        let others = [Some(other.clone())];
        let check = |place: u64| {
            assert_eq!(place == place_of(other), way != Collocation::Marshalled);
            let calls = behind.watch.take();
            match way {
                // Policies are passed over.
                Collocation::Direct => assert_eq!(calls[0].0, "orbium-handler"),
                _ => assert_eq!(calls, [behind.of_lane()]),
            }
        };
        check(seen.keep_async(&others).wait().unwrap());
        check(block_on(seen.keep_async(&others)).unwrap());
        let (sender, places) = mpsc::channel();
        let call = seen.keep_async(&others);
        call.on_reply(move |place| sender.send((place, name_of_thread())).unwrap());
        let (place, handler) = within("the handler", move || places.recv().unwrap());
        check(place.unwrap());
        assert_eq!(handler, "orbium-handler");
        let mut poller = Poller::new(seen.clone(), "keep", seen.keep_async(&others));
        let polled: Result<u64, SystemException> = poller.response("keep", None);
        check(polled.unwrap());
        assert_eq!(seen.swap_async("a").wait().unwrap(), "a!");
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - references with policies, to a
/// lane
#[test]
fn a_reference_with_policies_reaches_the_lane_without_them() {
    each_way(|_, served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let hasty = served.target.with_timeout(Duration::from_secs(60));
        let hasty = hasty.as_object();
        let others = [Some(hasty.clone())];
        let place = behind.seen.keep_async(&others).wait();
        assert_ne!(place.unwrap(), place_of(hasty));
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - calls and oneways of objects
/// that lanes serve
#[test]
fn other_calls_run_on_the_calling_thread_at_the_priority_of_the_lane() {
    each_way(|way, served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let data = vec![5; 64 * 1024];
        let lent = way != Collocation::Marshalled;
        let here = |watch: &Watch| {
            let priority = match way {
                Collocation::Direct => None,
                _ => Priority::new(10),
            };
            assert_eq!(watch.take(), [(name_of_thread(), priority)]);
            assert_eq!(priority::current(), None);
        };
        let Behind { seen, watch, .. } = &behind;
        assert_eq!(seen.put(&data).unwrap() == place(&data), lent);
        here(watch);
        let patient = seen.with_timeout(Duration::from_secs(60));
        assert_eq!(patient.put(&data).unwrap() == place(&data), lent);
        here(watch);
        for scope in [SyncScope::None, SyncScope::WithTarget] {
            let buffered = seen.with_buffering(BufferingConstraint::default());
            buffered.with_sync_scope(scope).post(&data).unwrap();
            assert_eq!(*watch.place.lock().unwrap() == place(&data), lent);
            here(watch);
        }
    });
}

/// Of several lanes that of the object's own priority serves, or the lowest.
#[test]
fn the_lane_is_that_of_the_objects_priority() {
    each_way(|way, served| {
        let configs = [10, 20, 30].map(|number| lane_config(number, 1, 8));
        let behind = Behind::new(&served, &configs);
        let servant: Arc<dyn orbium::Servant> = Arc::new(Seen::skeleton(Arc::clone(&behind.watch)));
        let own = behind
            .poa
            .activate_servant_at(None, &servant, Priority::new(25).unwrap());
        let own = Seen::from_object(own.unwrap());
        for (seen, number) in [(&behind.seen, 10), (&own, 20)] {
            let data = [5; 16];
            let lent = seen.put(&data).unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled);
            seen.order_async(1).wait().unwrap();
            if way != Collocation::Direct {
                let at = Priority::new(number);
                let lane = (format!("lane-{number}"), at);
                assert_eq!(behind.watch.take(), [(name_of_thread(), at), lane]);
            }
        }
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - asynchronous calls that raise,
/// in a lane
#[test]
fn exceptions_of_the_lanes_servant_come_out_of_the_result() {
    each_way(|_, served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 0)]);
        let refuse = |code| behind.seen.refuse_async(code).wait();
        match refuse(5) {
            Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
            other => panic!("{other:?}"),
        }
        let system = |code| match refuse(code) {
            Err(RefusedError::System(exception)) => exception.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(system(1), ExceptionKind::Unknown);
        assert_eq!(system(2), ExceptionKind::NoResources);
        let story = orbium::diagnostics::last_failure().expect("the story of the call");
        assert_eq!(story.operation, "refuse");
        assert_eq!(refuse(0).unwrap(), 0);
    });
}

/// A thread of the lane that waits is replaced, as if the call were one of another process.
#[test]
fn a_servant_may_wait_for_a_call_of_its_own_lane() {
    each_way(|_, served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let own = Some(behind.seen.as_object().clone());
        let relayed = behind.seen.relay_async(own.as_ref());
        assert_eq!(within("the call", move || relayed.wait()), Ok(7));
    });
}

#[test]
fn calls_that_lanes_serve_are_counted_on_both_sides() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(Config {
            metrics: true,
            ..config(way)
        });
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let data = [5; 16];
        for _ in 0..2 {
            let lent = behind.seen.put(&data).unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled);
            behind.seen.order_async(1).wait().unwrap();
        }
        behind.seen.refuse_async(5).wait().unwrap_err();
        for operation in ["Seen/put", "Seen/order"] {
            for it in counted(&served.orb, operation) {
                assert_eq!((it.ok, it.ended(), it.in_flight), (2, 2, 0), "{way}");
            }
        }
        for it in counted(&served.orb, "Seen/refuse") {
            assert_eq!((it.user_exceptions, it.ended()), (1, 1), "{way}");
        }
        served.orb.shutdown(true).unwrap();
    }
}

/// A call that the manager holds keeps its place among the lane's requests in progress.
#[test]
fn the_state_of_the_manager_applies_to_calls_in_lanes() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(config(way));
        let behind = Behind::new(&served, &[lane_config(10, 1, 8)]);
        let manager = behind.poa.manager();
        manager.hold_requests(false).unwrap();
        let held = behind.seen.order_async(3);
        eventually("the call is held", || manager.held_requests() == 1);
        manager.discard_requests(false).unwrap();
        let discarded = within("the call", move || held.wait());
        assert_eq!(discarded, Err(TRANSIENT), "{way}");
        manager.activate().unwrap();
        assert_eq!(behind.seen.order_async(4).wait(), Ok(4), "{way}");
        assert_eq!(behind.watch.take(), [behind.of_lane()]);
        served.orb.shutdown(true).unwrap();
    }
}
