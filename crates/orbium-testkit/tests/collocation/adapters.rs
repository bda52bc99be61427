// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects of adapters with dispatch hooks, and of those with thread models.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use orbium::{
    Call, Completion, Config, ExceptionKind, Interface, SystemException,
    config::Collocation,
    hook::{Dispatch, DispatchHook, Hook, RequestInfo},
    lane::Priority,
    poa::{
        AdapterActivator, ForwardRequest, IdAssignment, Lifespan, Poa, PoaCurrent, Policies,
        ThreadModel, servant_of,
    },
};
use orbium_core::idl_interface;
use orbium_testkit::{Served, eventually, within};

use super::{ALL, Places, config, each_way, place_of};

/// Decides as the test says, and notes what it was asked.
#[derive(Debug, Default)]
struct Decider {
    answer: Mutex<Option<Dispatch>>,
    /// What a failed request ends with instead.
    instead: Mutex<Option<SystemException>>,
    asked: Mutex<Vec<String>>,
}

impl Decider {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl DispatchHook for Decider {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let operation = request.operation().escape_ascii();
        self.asked.lock().unwrap().push(format!("{operation}"));
        self.answer
            .lock()
            .unwrap()
            .clone()
            .unwrap_or(Dispatch::Here)
    }

    fn leaves(
        &self,
        request: &RequestInfo<'_>,
        failed: Option<SystemException>,
    ) -> Option<SystemException> {
        let operation = request.operation().escape_ascii();
        let how = failed.map(|it| it.kind);
        self.asked
            .lock()
            .unwrap()
            .push(format!("{operation} {how:?}"));
        failed.map(|failed| self.instead.lock().unwrap().unwrap_or(failed))
    }
}

const REFUSED: SystemException =
    SystemException::new(ExceptionKind::NoPermission, 7, Completion::No);

/// Conformance: ORB - dispatch hooks: calls of the ORB itself are asked about once, and lent their
/// arguments
#[test]
fn calls_that_a_hook_is_asked_about_are_lent_their_arguments() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let decider = Arc::new(Decider::default());
        let hook: Arc<dyn DispatchHook> = Arc::clone(&decider) as _;
        let served = Served::with(Config {
            dispatch: Some(Hook(hook)),
            ..config(way)
        });
        let places = Places::served_by(&served.orb);
        let data = vec![5; 1024];
        let lent = places.put(&data).unwrap() == data.as_ptr().addr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        assert_eq!(decider.take(), ["put", "put None"]);
        served.target.raise_system("NO_MEMORY").unwrap_err();
        assert_eq!(
            decider.take(),
            ["raise_system", "raise_system Some(NoMemory)"]
        );
        *decider.instead.lock().unwrap() = Some(REFUSED);
        assert_eq!(served.target.raise_system("NO_MEMORY"), Err(REFUSED));
        served.target.refuse(5).unwrap_err();
        served.state.on_act(|_, _| panic!("on purpose"));
        let panicked = served.target.act(1).unwrap_err();
        assert_eq!(panicked.kind, ExceptionKind::Unknown);
        decider.take();
        // What is refused is not asked about again, and does not leave.
        *decider.answer.lock().unwrap() = Some(Dispatch::Refuse(REFUSED));
        assert_eq!(places.put(&data), Err(REFUSED));
        assert_eq!(decider.take(), ["put"]);
        served.target.post(1).unwrap();
        assert_eq!(decider.take(), ["post"]);
        assert!(served.state.posted().is_empty());
        served.end();
    }
}

#[test]
fn a_hook_sends_calls_of_the_orb_itself_elsewhere_or_gives_them_a_priority() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let other = Served::with(config(way));
        let decider = Arc::new(Decider::default());
        let hook: Arc<dyn DispatchHook> = Arc::clone(&decider) as _;
        let served = Served::with(Config {
            dispatch: Some(Hook(hook)),
            ..config(way)
        });
        served
            .state
            .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
        let at = Priority::new(9).unwrap();
        *decider.answer.lock().unwrap() = Some(Dispatch::At(at, None));
        assert_eq!(served.target.act(1), Ok(9), "{way}");
        let elsewhere = ForwardRequest::to(&other.target);
        *decider.answer.lock().unwrap() = Some(Dispatch::Forward(elsewhere));
        assert_eq!(served.target.echo_long(3), Ok(3), "{way}");
        assert_eq!((served.state.calls(), other.state.calls()), (1, 1), "{way}");
        served.end();
        other.end();
    }
}

idl_interface! {
    /// Returns where its data lie, once no other thread is there.
    pub struct Turns = "IDL:Turns:1.0";
    operations by_octet(0, 99, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]);
    pub trait TurnsServant;

    fn take(data: &[u8]) -> Result<u64> = "take";
    fn call(other: Option<&orbium::ObjectRef>, data: &[u8]) -> Result<u64> = "call";
    fn which(other: Option<&orbium::ObjectRef>) -> Result<u64> = "which" { async which_async, };
}

/// Counts the threads within it.
#[derive(Default)]
pub(super) struct Counting {
    within: AtomicUsize,
    pub(super) most: AtomicUsize,
    /// Whether `PortableServer::Current` is to show its upcalls.
    is_current: bool,
    /// The thread of the last call of `which`.
    thread: Mutex<Option<ThreadId>>,
}

impl TurnsServant for Counting {
    fn take(&self, call: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        let within = self.within.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(within, Ordering::SeqCst);
        for _ in 0..5 {
            thread::yield_now();
        }
        self.within.fetch_sub(1, Ordering::SeqCst);
        if self.is_current {
            let current = PoaCurrent::get().map_err(|_| ExceptionKind::BadContext)?;
            assert_eq!(*current.object_id(), *call.object_id());
        }
        Ok(data.as_ptr().addr() as u64)
    }

    fn which(
        &self,
        _: &Call<'_>,
        other: Option<&orbium::ObjectRef>,
    ) -> Result<u64, SystemException> {
        *self.thread.lock().unwrap() = Some(thread::current().id());
        other.map_or(Err(ExceptionKind::BadParam.into()), |it| Ok(place_of(it)))
    }

    /// Calls that object, whatever turn that has.
    fn call(
        &self,
        _: &Call<'_>,
        other: Option<&orbium::ObjectRef>,
        data: &[u8],
    ) -> Result<u64, SystemException> {
        let other = other.ok_or(ExceptionKind::BadParam)?;
        Turns::from_object(other.clone()).take(data)
    }
}

/// Makes the adapter of that name, with one object.
struct Coming;

impl AdapterActivator for Coming {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException> {
        let policies = Policies {
            lifespan: Lifespan::Persistent,
            id_assignment: IdAssignment::User,
            ..Policies::default()
        };
        let poa = parent.create_poa(name, Some(parent.manager()), policies)?;
        let servant = servant_of::<Turns, _>(Arc::new(Counting::default()));
        poa.activate_servant_with_id(b"x", &servant)?;
        Ok(true)
    }
}

/// Its adapter was not there when the reference was called first, which once had all its calls marshalled.
///
/// Conformance: POA - `the_activator`: collocated calls are lent their arguments once the adapter is there
#[test]
fn calls_of_an_adapter_that_came_later_are_lent_their_arguments() {
    each_way(|way, served| {
        let root = served.orb.root_poa();
        assert!(Coming.unknown_adapter(&root, "coming").unwrap());
        let poa = root.find_poa("coming").unwrap();
        let turns: Turns = poa.create_reference_with_id(b"x").unwrap();
        poa.destroy(true).unwrap();
        let data = vec![5; 1024];
        let absent = turns.take(&data).unwrap_err();
        assert_eq!(absent.kind, ExceptionKind::ObjectNotExist);
        root.set_adapter_activator(Coming).unwrap();
        turns.take(&data).unwrap();
        let lent = turns.take(&data).unwrap() == data.as_ptr().addr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
    });
}

/// Conformance: POA - SINGLE_THREAD_MODEL: collocated calls take their turn, and are lent their
/// arguments
#[test]
fn calls_of_an_adapter_with_one_thread_exclude_each_other_and_are_lent_their_arguments() {
    each_way(|way, served| {
        let root = served.orb.root_poa();
        let policies = Policies {
            thread_model: ThreadModel::SingleThread,
            ..Policies::default()
        };
        let poa = root
            .create_poa("single", Some(root.manager()), policies)
            .unwrap();
        let counting = Arc::new(Counting {
            is_current: way != Collocation::Direct,
            ..Counting::default()
        });
        let turns: Turns = poa.activate(Arc::clone(&counting)).unwrap();
        let data = vec![5; 1024];
        let lent = turns.take(&data).unwrap() == data.as_ptr().addr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        // A nested call of the same thread has the turn already.
        let nested = turns.call(Some(turns.as_object()), &data).unwrap();
        assert_eq!(
            nested == data.as_ptr().addr() as u64,
            way != Collocation::Marshalled
        );
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..10 {
                        turns.take(&data).unwrap();
                    }
                });
            }
        });
        if way != Collocation::Direct {
            assert_eq!(counting.most.load(Ordering::SeqCst), 1, "{way}");
        }
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls run on the main thread
#[test]
fn calls_of_an_adapter_of_the_main_thread_are_served_by_it() {
    for way in ALL.into_iter().filter(|it| *it != Collocation::Direct) {
        let served = Served::with(config(way));
        let root = served.orb.root_poa();
        let policies = Policies {
            thread_model: ThreadModel::MainThread,
            ..Policies::default()
        };
        let poa = root
            .create_poa("main", Some(root.manager()), policies)
            .unwrap();
        let turns: Turns = poa.activate(Arc::new(Counting::default())).unwrap();
        // This thread is the main one from now on.
        assert_eq!(served.orb.work_pending(), Ok(false));
        let data = vec![5; 1024];
        let lent = turns.take(&data).unwrap() == data.as_ptr().addr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        let other = turns.clone();
        let elsewhere = thread::spawn(move || other.take(&[5; 8]).map(drop));
        eventually("a call waits for this thread", || {
            served.orb.work_pending() == Ok(true)
        });
        served.orb.perform_work().unwrap();
        within("the call", move || elsewhere.join().unwrap()).unwrap();
        served.end();
    }
}

/// Conformance: POA - MAIN_THREAD_MODEL: asynchronous collocated calls wait in the queue of the main
/// thread, and are lent what they own
#[test]
fn asynchronous_calls_of_the_main_thread_are_lent_what_they_own() {
    for way in ALL.into_iter().filter(|it| *it != Collocation::Direct) {
        let served = Served::with(config(way));
        let root = served.orb.root_poa();
        let policies = Policies {
            thread_model: ThreadModel::MainThread,
            ..Policies::default()
        };
        let poa = root
            .create_poa("main", Some(root.manager()), policies)
            .unwrap();
        let counting = Arc::new(Counting::default());
        let turns: Turns = poa.activate(Arc::clone(&counting)).unwrap();
        // This thread is the main one from now on.
        assert_eq!(served.orb.work_pending(), Ok(false));
        let other = served.target.as_object().clone();
        let before = place_of(&other);
        let call = turns.which_async(Some(&other));
        eventually("a call waits for this thread", || {
            served.orb.work_pending() == Ok(true)
        });
        served.orb.perform_work().unwrap();
        let which = within("the call", move || call.wait()).unwrap();
        assert_eq!(which == before, way != Collocation::Marshalled, "{way}");
        let thread = *counting.thread.lock().unwrap();
        assert_eq!(thread, Some(thread::current().id()), "{way}");
        if way == Collocation::ThroughPoa {
            // One that is dropped leaves the queue.
            drop(turns.which_async(Some(&other)));
            assert_eq!(served.orb.work_pending(), Ok(false));
        }
        served.end();
    }
}
