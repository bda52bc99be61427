// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the same ORB: a servant that is called without a message sees no
//! difference, nor does the caller, but for the time it takes.

mod adapters;
mod answered;
mod asynchronous;
mod intercepted;
mod lanes;
mod main_thread;
mod observed;
mod under_policies;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orbium::{
    Call, Completion, Config, ExceptionKind, Interface, ObjectRef, Orb, Servant, SystemException,
    config::Collocation,
    poa::{
        ForwardRequest, IdAssignment, ManagerState, Poa, Policies, RequestProcessing,
        ServantActivator, ServantError,
    },
    policy::TimePolicies,
};
use orbium_core::idl_interface;
use orbium_testkit::probe::{Pair, RefusedError, Target};
use orbium_testkit::{Served, eventually, within};

idl_interface! {
    /// Returns where its arguments lie.
    pub struct Places = "IDL:Places:1.0";
    operations by_octet(0, 99, &[2, 0, 4, 0, 6, 0, 0, 0, 5, 0, 0, 0, 0, 1, 0, 8, 0, 0, 7, 0, 3]);
    pub trait PlacesServant;

    fn many(size: u32) -> Result<Vec<u8>> = "many" { into many_into, };
    fn put(data: &[u8]) -> Result<u64> = "put";
    fn change(fails: bool, @inout value: Vec<u8> | &[u8]) -> Result<()> = "change" {
        out(value: Vec<u8>) gives (), };
    fn which(other: Option<&ObjectRef>) -> Result<u64> = "which";
    fn end() -> Result<bool> = "end";
    fn keep(others: &[Option<ObjectRef>]) -> Result<u64> = "keep";
    fn give() -> Result<Option<ObjectRef>> = "give";
    fn until_late(data: &[u8]) -> Result<u64> = "until_late";
    fn relay(data: &[u8], other: Option<&ObjectRef>) -> Result<u64> = "relay";
}

#[derive(Default)]
struct Recorder {
    /// What is given.
    own: Mutex<Option<ObjectRef>>,
    /// Where the last result lies.
    made: AtomicUsize,
    /// Set when it is dropped.
    dropped: Arc<AtomicBool>,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

impl PlacesServant for Recorder {
    fn many(&self, _: &Call<'_>, size: u32) -> Result<Vec<u8>, SystemException> {
        let many = vec![7; size as usize];
        self.made.store(many.as_ptr() as usize, Ordering::SeqCst);
        Ok(many)
    }

    fn put(&self, _: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        assert!(data.iter().all(|octet| *octet == 5));
        Ok(data.as_ptr() as u64)
    }

    fn change(
        &self,
        _: &Call<'_>,
        fails: bool,
        value: &mut Vec<u8>,
    ) -> Result<(), SystemException> {
        value.push(9);
        if fails {
            Err(ExceptionKind::NoResources.into())
        } else {
            Ok(())
        }
    }

    fn which(&self, call: &Call<'_>, other: Option<&ObjectRef>) -> Result<u64, SystemException> {
        let other = other.ok_or(ExceptionKind::BadParam)?;
        assert!(*other.orb() == call.orb());
        Ok(match other.time_policies().roundtrip_timeout {
            None => 0,
            Some(_) => 1,
        })
    }

    /// Deactivates its own object; whether the servant is gone.
    fn end(&self, call: &Call<'_>) -> Result<bool, SystemException> {
        let deactivated = call.poa().deactivate(call.object_id());
        deactivated.map_err(|_| ExceptionKind::ObjAdapter)?;
        Ok(self.dropped.load(Ordering::SeqCst))
    }

    fn keep(&self, call: &Call<'_>, others: &[Option<ObjectRef>]) -> Result<u64, SystemException> {
        let first = others.first().and_then(Option::as_ref);
        let first = first.ok_or(ExceptionKind::BadParam)?;
        assert!(*first.orb() == call.orb() && first.time_policies().is_none());
        *self.own.lock().unwrap() = Some(first.clone());
        Ok(place_of(first))
    }

    fn give(&self, _: &Call<'_>) -> Result<Option<ObjectRef>, SystemException> {
        Ok(self.own.lock().unwrap().clone())
    }

    /// Where the data are; the other object has no policies of the caller.
    fn relay(
        &self,
        _: &Call<'_>,
        data: &[u8],
        other: Option<&ObjectRef>,
    ) -> Result<u64, SystemException> {
        assert!(other.is_none_or(|other| other.time_policies().is_none()));
        Ok(data.as_ptr() as u64)
    }

    /// Returns when the deadline of the caller has passed, and where the data are.
    fn until_late(&self, call: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        let deadline = call.deadline().ok_or(ExceptionKind::BadParam)?;
        self.made.store(data.as_ptr() as usize, Ordering::SeqCst);
        while Instant::now() <= deadline {
            thread::yield_now();
        }
        Ok(0)
    }
}

/// Where a reference has its IOR: a copy has its own.
fn place_of(object: &ObjectRef) -> u64 {
    std::ptr::from_ref(object.ior()).addr() as u64
}

impl Places {
    fn served_by(orb: &Orb) -> Self {
        orb.root_poa().activate(Recorder::default()).unwrap()
    }
}

const ALL: [Collocation; 3] = [
    Collocation::ThroughPoa,
    Collocation::Direct,
    Collocation::Marshalled,
];

fn config(collocation: Collocation) -> Config {
    Config {
        collocation,
        ..Config::default()
    }
}

/// Runs a test for each way of collocated calls.
fn each_way(test: impl Fn(Collocation, Served)) {
    for way in ALL {
        let served = Served::with(config(way));
        let orb = served.orb.clone();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(way, served))) {
            eprintln!("with collocation {way}");
            resume_unwind(panic);
        }
        orb.shutdown(true).unwrap();
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - arguments are lent, results
/// are moved
#[test]
fn arguments_are_lent_and_results_are_moved() {
    each_way(|way, served| {
        let recorder = Arc::new(Recorder::default());
        let root = served.orb.root_poa();
        let places: Places = root.activate(Arc::clone(&recorder)).unwrap();
        let data = vec![5; 64 * 1024];
        let lent = places.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        let many = places.many(64 * 1024).unwrap();
        assert_eq!(many, [7; 64 * 1024]);
        // A marshalled one may have got the freed memory of the servant's.
        let moved = many.as_ptr() as usize == recorder.made.load(Ordering::SeqCst);
        assert!(moved || way == Collocation::Marshalled);
    });
}

/// A stub that reads into a value that is there.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - results are moved into what is
/// there
#[test]
fn results_are_moved_into_a_value_that_is_there() {
    each_way(|way, served| {
        let recorder = Arc::new(Recorder::default());
        let root = served.orb.root_poa();
        let places: Places = root.activate(Arc::clone(&recorder)).unwrap();
        let mut many = vec![1; 8];
        for size in [64 * 1024, 3] {
            places.many_into(size, &mut many).unwrap();
            assert_eq!(many, vec![7; size as usize]);
            let moved = many.as_ptr() as usize == recorder.made.load(Ordering::SeqCst);
            assert!(moved || way == Collocation::Marshalled);
        }
        places.end().unwrap();
        let gone = places.many_into(8, &mut many).unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);
    });
}

/// References within arguments, results and the caller's copy of both, if they have no policies.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - references are lent
#[test]
fn references_are_lent_and_moved() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let other = served.target.as_object();
        let before = place_of(other);
        let lent = places.keep(&[Some(other.clone()), None]).unwrap() == before;
        assert_eq!(lent, way != Collocation::Marshalled);
        let given = places.give().unwrap().unwrap();
        assert_eq!(given, *other);
        assert_eq!(place_of(&given) == before, way != Collocation::Marshalled);
        // What must not reach the servant is left behind by a message.
        let hasty = other.with_timeout(Duration::from_secs(60));
        let copy = places.keep(&[Some(hasty.clone())]).unwrap();
        assert_ne!(copy, place_of(&hasty));
        assert!(places.give().unwrap().unwrap().time_policies().is_none());
    });
}

/// A reference that the servant must not get is copied, and nothing else.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - references with policies are
/// copied, what goes with them is lent
#[test]
fn a_reference_with_policies_has_nothing_else_copied() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 64 * 1024];
        let hasty = served.target.with_timeout(Duration::from_secs(60));
        let other = Some(hasty.as_object());
        let lent = places.relay(&data, other).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - deadlines
#[test]
fn calls_with_deadlines_are_lent_their_arguments() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 64 * 1024];
        let patient = places.with_timeout(Duration::from_secs(60));
        let lent = patient.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        let past = places.with_time_policies(TimePolicies {
            request_end: Some(SystemTime::UNIX_EPOCH),
            ..TimePolicies::NONE
        });
        let late = past.put(&data).unwrap_err();
        assert_eq!(
            (late.kind, late.completed),
            (ExceptionKind::Timeout, Completion::No)
        );
    });
}

/// The servant sees the deadline, and what it returns behind it is discarded.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - deadlines
#[test]
fn a_result_behind_the_deadline_is_discarded() {
    each_way(|way, served| {
        let recorder = Arc::new(Recorder::default());
        let places: Places = served
            .orb
            .root_poa()
            .activate(Arc::clone(&recorder))
            .unwrap();
        let data = vec![5; 1024];
        let hasty = places.with_timeout(Duration::from_millis(50));
        let late = hasty.until_late(&data).unwrap_err();
        assert_eq!(
            (late.kind, late.completed),
            (ExceptionKind::Timeout, Completion::Maybe)
        );
        let lent = recorder.made.load(Ordering::SeqCst) == data.as_ptr() as usize;
        assert_eq!(lent, way != Collocation::Marshalled);
        assert!(places.put(&data).is_ok());
    });
}

/// A policy of the thread once had each of its later calls marshalled, and those of all threads.
#[test]
fn policies_of_the_thread_do_not_keep_calls_from_the_servant() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 1024];
        let lent = || places.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent(), way != Collocation::Marshalled);
        let policies = |timeout| TimePolicies {
            roundtrip_timeout: timeout,
            ..TimePolicies::NONE
        };
        let minute = Some(Duration::from_secs(60));
        served.orb.set_thread_time_policies(policies(minute));
        assert_eq!(lent(), way != Collocation::Marshalled);
        served.orb.set_thread_time_policies(policies(None));
        assert_eq!(lent(), way != Collocation::Marshalled);
    });
}

struct Elsewhere(ObjectRef);

impl ServantActivator for Elsewhere {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        Err(ForwardRequest::to(&self.0).into())
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - forwarded references
#[test]
fn forwarded_calls_are_lent_their_arguments() {
    each_way(|way, served| {
        let root = served.orb.root_poa();
        let policies = Policies {
            id_assignment: IdAssignment::User,
            request_processing: RequestProcessing::ServantManager,
            ..Policies::default()
        };
        let poa = root
            .create_poa("forwarding", Some(root.manager()), policies)
            .unwrap();
        let places = Places::served_by(&served.orb);
        let elsewhere = Elsewhere(places.as_object().clone());
        poa.set_servant_activator(elsewhere).unwrap();
        let forwarded: Places = poa.create_reference_with_id(b"gone").unwrap();
        let data = vec![5; 1024];
        // The first call learns where the object is.
        forwarded.put(&data).unwrap();
        let lent = forwarded.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        // What it was forwarded to goes, and the call is forwarded anew.
        assert_eq!(places.end(), Ok(false));
        let gone = forwarded.put(&data).unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);
    });
}

#[test]
fn an_inout_parameter_keeps_its_value_when_the_call_fails() {
    each_way(|_, served| {
        let root = served.orb.root_poa();
        let places: Places = root.activate(Recorder::default()).unwrap();
        let mut value = vec![1];
        let refused = places.change(true, &mut value).unwrap_err();
        assert_eq!(
            (refused.kind, &*value),
            (ExceptionKind::NoResources, &[1][..])
        );
        places.change(false, &mut value).unwrap();
        assert_eq!(value, [1, 9]);
    });
}

/// The servant calls back by the policies of its own ORB, not by those of its caller.
#[test]
fn a_reference_reaches_the_servant_without_the_policies_of_the_caller() {
    each_way(|_, served| {
        let root = served.orb.root_poa();
        let places: Places = root.activate(Recorder::default()).unwrap();
        let hasty = served.target.with_timeout(Duration::from_secs(60));
        assert_eq!(places.which(Some(hasty.as_object())), Ok(0));
        let other = Orb::builder().build().unwrap();
        let text = served.orb.object_to_string(&served.target);
        let foreign = other.string_to_object(&text).unwrap();
        assert_eq!(places.which(foreign.as_ref()), Ok(0));
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - exceptions and oneways
#[test]
fn exceptions_and_oneways_are_as_over_the_wire() {
    each_way(|_, served| {
        let Served { target, state, .. } = &served;
        target.noop().unwrap();
        assert_eq!(target.echo_long(-7), Ok(-7));
        let pair = Pair { o: 3, l: -4 };
        assert_eq!(target.echo_pair(&pair), Ok(pair));
        match target.refuse(5) {
            Err(RefusedError::Refused(refused)) => {
                assert_eq!((refused.code, &*refused.why), (5, "told to"));
            }
            other => panic!("{other:?}"),
        }
        let raised = SystemException::new(ExceptionKind::NoResources, 77, Completion::No);
        assert_eq!(target.raise_system("NO_RESOURCES"), Err(raised));
        // TRANSIENT of the servant is the caller's: the call is not repeated.
        let calls = state.calls();
        let raised = SystemException::new(ExceptionKind::Transient, 77, Completion::No);
        assert_eq!(target.raise_system("TRANSIENT"), Err(raised));
        assert_eq!(state.calls(), calls + 1);
        let story = orbium::diagnostics::last_failure().expect("the story of the call");
        assert_eq!(story.operation, "raise_system");
        target.post(1).unwrap();
        target.post(2).unwrap();
        eventually("oneways have arrived", || state.posted() == [1, 2]);
        let nul = target.raise_system("a\0b").unwrap_err();
        assert_eq!(nul.kind, ExceptionKind::BadParam);
        assert_eq!(nul.completed, Completion::No);
    });
}

#[test]
fn a_panic_of_the_servant_is_unknown() {
    each_way(|_, served| {
        served.state.on_act(|_, _| panic!("in the servant"));
        let unknown = served.target.act(1).unwrap_err();
        let panicked = SystemException::orbium(
            ExceptionKind::Unknown,
            orbium::giop::minor::SERVANT_PANICKED,
            Completion::Maybe,
        );
        assert_eq!(unknown, panicked);
        served.state.on_act(|_, v| Ok(v));
        assert_eq!(served.target.act(1), Ok(1));
        let manager = served.orb.root_poa().manager();
        assert_eq!(manager.requests_in_progress(), 0);
    });
}

#[test]
fn a_servant_sees_the_same_request() {
    each_way(|way, served| {
        let id = served.target.as_object().ior().profiles.len();
        assert!(id > 0);
        let orb = served.orb.clone();
        served.state.on_act(move |call, v| {
            assert_eq!(call.operation(), b"act");
            assert!(!call.object_id().is_empty() && call.peer().is_none());
            assert!(call.response_expected() && call.deadline().is_none());
            assert!(call.orb() == orb && call.poa().name() == orb.root_poa().name());
            assert_eq!(call.service_contexts().len(), 0);
            assert_eq!((call.priority(), call.object_priority()), (None, None));
            let this: Target = call.this()?;
            assert_eq!(this.echo_long(v), Ok(v));
            // A request does not wait for its own end.
            let manager = orb.root_poa().manager();
            assert!(manager.hold_requests(true).is_err());
            let counted = usize::from(way != Collocation::Direct);
            assert_eq!(manager.requests_in_progress(), counted);
            Ok(v + 1)
        });
        assert_eq!(served.target.act(1), Ok(2));
    });
}

/// Conformance: POA - manager states apply to collocated calls
#[test]
fn the_state_of_the_manager_applies() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(config(way));
        let manager = served.orb.root_poa().manager();
        served.target.noop().unwrap();
        manager.hold_requests(false).unwrap();
        let target = served.target.clone();
        let held = thread::spawn(move || target.echo_long(3));
        eventually("the call is held", || manager.held_requests() == 1);
        manager.activate().unwrap();
        let held = within("the held call", move || held.join().unwrap());
        assert_eq!(held, Ok(3));
        manager.discard_requests(false).unwrap();
        let discarded = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
        assert_eq!(served.target.noop(), Err(discarded));
        manager.activate().unwrap();
        assert_eq!(served.target.noop(), Ok(()));
        manager.deactivate(false).unwrap();
        let inactive = SystemException::omg(ExceptionKind::ObjectNotExist, 4, Completion::No);
        assert_eq!(served.target.noop(), Err(inactive));
        assert_eq!(manager.state(), ManagerState::Inactive);
        served.orb.shutdown(true).unwrap();
    }
}

#[test]
fn a_direct_call_passes_over_the_manager() {
    let served = Served::with(config(Collocation::Direct));
    served
        .orb
        .root_poa()
        .manager()
        .hold_requests(false)
        .unwrap();
    let target = served.target.clone();
    let called = within("a direct call", move || target.echo_long(3));
    assert_eq!(called, Ok(3));
}

/// Conformance: POA - deactivated objects and destroyed adapters, collocated
#[test]
fn removed_objects_cannot_be_called() {
    each_way(|_, served| {
        let root = served.orb.root_poa();
        let policies = Policies {
            id_assignment: IdAssignment::User,
            ..Policies::default()
        };
        let poa = root
            .create_poa("users", Some(root.manager()), policies)
            .unwrap();
        let state = Arc::clone(&served.state);
        let one: Target = poa.activate_with_id(b"one", Arc::clone(&state)).unwrap();
        assert_eq!(one.echo_long(1), Ok(1));
        poa.deactivate(b"one").unwrap();
        assert_eq!(one.noop().unwrap_err().kind, ExceptionKind::ObjectNotExist);
        let again: Target = poa.activate_with_id(b"one", state).unwrap();
        assert_eq!((one.noop(), again.noop()), (Ok(()), Ok(())));
        poa.destroy(true).unwrap();
        for gone in [&one, &again] {
            assert_eq!(gone.noop().unwrap_err().kind, ExceptionKind::ObjectNotExist);
        }
    });
}

/// Conformance: POA - `deactivate_object` waits for the requests in progress, collocated
#[test]
fn an_object_is_called_to_the_end_though_it_was_deactivated() {
    each_way(|_, served| {
        let dropped = Arc::new(AtomicBool::new(false));
        let mut recorder = Recorder::default();
        recorder.dropped = Arc::clone(&dropped);
        let places: Places = served.orb.root_poa().activate(recorder).unwrap();
        // The second call finds what the first one has looked up.
        places.many(1).unwrap();
        assert_eq!(places.end(), Ok(false));
        assert!(dropped.load(Ordering::SeqCst));
        assert_eq!(
            places.many(1).unwrap_err().kind,
            ExceptionKind::ObjectNotExist
        );
        // Its place is taken by another object, which the reference does not lead to.
        let other: Places = served.orb.root_poa().activate(Recorder::default()).unwrap();
        assert_eq!(other.many(1), Ok(vec![7]));
        assert_eq!(
            places.many(1).unwrap_err().kind,
            ExceptionKind::ObjectNotExist
        );
    });
}

/// A servant may be called by an unchecked reference of another interface.
#[test]
fn an_unchecked_reference_fails_as_over_the_wire() {
    each_way(|_, served| {
        let places = Places::from_object(served.target.as_object().clone());
        let refused = places.many(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadOperation);
    });
}

#[test]
fn calls_after_the_end_of_the_orb_are_refused() {
    for way in ALL {
        let served = Served::with(config(way));
        served.target.noop().unwrap();
        served.orb.shutdown(true).unwrap();
        let refused = served.target.noop().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadInvOrder, "{way}");
    }
}
