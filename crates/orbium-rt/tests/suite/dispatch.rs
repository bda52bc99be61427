// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains of dispatch hooks, a thread for each request, a thread for each servant.

use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use orbium_core::{
    Completion, Config, Dispatch, DispatchHook, ExceptionKind, Hook, IdAssignment, IdUniqueness,
    Poa, Policies, Priority, RequestInfo, RequestProcessing, ServedBy, ServerStrategy,
    SystemException,
};
use orbium_rt::dispatch::{HookChain, ThreadPerRequest, ThreadPerServant};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, each_strategy, eventually};

/// Writes down what it sees, and says what it is to say.
#[derive(Debug)]
struct Scribe {
    name: &'static str,
    says: Dispatch,
    raises: Option<SystemException>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Scribe {
    fn note(&self, what: &str) {
        self.seen
            .lock()
            .unwrap()
            .push(format!("{what} {}", self.name));
    }
}

impl DispatchHook for Scribe {
    fn arrived(&self, _: &RequestInfo<'_>) -> Dispatch {
        self.note("into");
        self.says.clone()
    }

    fn leaves(
        &self,
        _: &RequestInfo<'_>,
        failed: Option<SystemException>,
    ) -> Option<SystemException> {
        self.note(if failed.is_some() { "failed" } else { "out of" });
        self.raises.or(failed)
    }
}

fn exception(kind: ExceptionKind) -> SystemException {
    SystemException::new(kind, 3, Completion::No)
}

fn at(priority: i16) -> Dispatch {
    Dispatch::At(Priority::new(priority).unwrap(), None)
}

/// Conformance: ORB - chains of dispatch hooks, thread per request, thread per servant
#[test]
fn a_chain_is_gone_through_forwards_and_back() {
    each_strategy(|strategy| {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let scribe = |name, says| Scribe {
            name,
            says,
            raises: None,
            seen: Arc::clone(&seen),
        };
        let chain = HookChain::default()
            .then(scribe("a", at(7)))
            .then(scribe("b", Dispatch::Here))
            .then(scribe("c", at(9)));
        let served = Served::with(Config {
            strategy,
            dispatch: Some(Hook(Arc::new(chain))),
            ..Config::default()
        });
        served
            .state
            .on_act(|call, _| Ok(call.priority().map_or(-1, |it| i32::from(it.number()))));
        let (_client, target) = served.client();
        // The last word counts.
        assert_eq!(target.act(1), Ok(9));
        let way = [
            "into a", "into b", "into c", "out of c", "out of b", "out of a",
        ];
        eventually("the request has left", || seen.lock().unwrap().len() == 6);
        assert_eq!(*seen.lock().unwrap(), way);
        served.end();
    });
}

/// Refuses what is about to be served.
#[derive(Debug)]
struct TooLate(SystemException);

impl DispatchHook for TooLate {
    fn arrived(&self, _: &RequestInfo<'_>) -> Dispatch {
        Dispatch::Here
    }

    fn begins(&self, _: &RequestInfo<'_>) -> Result<(), SystemException> {
        Err(self.0)
    }
}

/// Conformance: ORB - chains of dispatch hooks, thread per request, thread per servant
#[test]
fn a_hook_may_refuse_what_is_about_to_be_served() {
    each_strategy(|strategy| {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let late = exception(ExceptionKind::Timeout);
        let chain = HookChain::default()
            .then(Scribe {
                name: "a",
                says: Dispatch::Here,
                raises: None,
                seen: Arc::clone(&seen),
            })
            .then(TooLate(late));
        let served = Served::with(Config {
            strategy,
            dispatch: Some(Hook(Arc::new(chain))),
            ..Config::default()
        });
        let (_client, target) = served.client();
        // By a message, and within the process.
        assert_eq!(target.noop(), Err(late));
        assert_eq!(served.target.noop(), Err(late));
        assert_eq!(served.state.calls(), 0);
        assert_eq!(*seen.lock().unwrap(), ["into a", "into a"]);
        served.end();
    });
}

/// Conformance: ORB - chains of dispatch hooks, thread per request, thread per servant
#[test]
fn a_refusal_ends_the_chain_and_an_exception_can_be_replaced_on_the_way_out() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let scribe = |name, says, raises| Scribe {
        name,
        says,
        raises,
        seen: Arc::clone(&seen),
    };
    let refused = exception(ExceptionKind::NoPermission);
    let chain = HookChain::default()
        .then(scribe("a", Dispatch::Here, None))
        .then(scribe("b", Dispatch::Refuse(refused), None))
        .then(scribe("c", Dispatch::Here, None));
    let served = Served::with(Config {
        dispatch: Some(Hook(Arc::new(chain))),
        ..Config::default()
    });
    let (_client, target) = served.client();
    assert_eq!(target.noop(), Err(refused));
    assert_eq!(*seen.lock().unwrap(), ["into a", "into b"]);
    served.end();

    seen.lock().unwrap().clear();
    let other = exception(ExceptionKind::NoResources);
    let chain = HookChain::default()
        .then(scribe("a", Dispatch::Here, None))
        .then(scribe("b", Dispatch::Here, Some(other)));
    let served = Served::with(Config {
        dispatch: Some(Hook(Arc::new(chain))),
        ..Config::default()
    });
    served.state.on_act(move |_, fails| match fails {
        0 => Ok(0),
        _ => Err(refused),
    });
    let (_client, target) = served.client();
    assert_eq!(target.act(1), Err(other));
    // What the servant has answered stays.
    assert_eq!(target.act(0), Ok(0));
    eventually("both have left", || seen.lock().unwrap().len() == 8);
    let way = ["into a", "into b", "failed b", "failed a"];
    assert_eq!(seen.lock().unwrap()[..4], way);
    served.end();
}

/// An adapter of `served` under that hook, with so many objects.
fn hooked(
    served: &Served,
    hook: Arc<dyn DispatchHook>,
    objects: usize,
) -> (Poa, Vec<(Arc<TargetState>, Target)>) {
    let policies = Policies {
        dispatch: Some(Hook(hook)),
        ..Policies::default()
    };
    let root = served.orb.root_poa();
    let poa = root
        .create_poa("Hooked", Some(root.manager()), policies)
        .unwrap();
    let new = |_| {
        let state = Arc::new(TargetState::default());
        let target = poa.activate(Arc::clone(&state)).unwrap();
        (state, target)
    };
    let objects = (0..objects).map(new).collect();
    (poa, objects)
}

/// Conformance: ORB - chains of dispatch hooks, thread per request, thread per servant
#[test]
fn each_request_has_a_thread_of_its_own_and_there_are_as_many_as_allowed() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let hook = ThreadPerRequest::start(&served.orb, "each", 3).unwrap();
        let (_, objects) = hooked(&served, Arc::new(hook.clone()), 1);
        let (state, target) = &objects[0];
        let text = served.orb.object_to_string(target);
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let text = text.clone();
                thread::spawn(move || {
                    let client = orbium_testkit::client();
                    orbium_testkit::reach(&client, &text).gate()
                })
            })
            .collect();
        state.gate.await_waiting(3);
        assert_eq!(hook.lane().snapshot().threads, 3);
        let client = orbium_testkit::client();
        let target = orbium_testkit::reach(&client, &text);
        let refused = target.noop().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
        state.gate.open();
        for client in clients {
            assert_eq!(client.join().unwrap(), Ok(()));
        }
        assert_eq!(target.noop(), Ok(()));
        served.end();
    });
}

/// Conformance: ORB - chains of dispatch hooks, thread per request, thread per servant
#[test]
fn each_servant_has_a_thread_of_its_own() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let hook = Arc::new(ThreadPerServant::start(&served.orb, "servant", 2, 16).unwrap());
        let (poa, objects) = hooked(&served, Arc::clone(&hook) as _, 3);
        let names: Vec<_> = objects
            .iter()
            .map(|(state, _)| {
                let names = Arc::<Mutex<HashSet<String>>>::default();
                let kept = Arc::clone(&names);
                state.on_act(move |_, v| {
                    let name = thread::current().name().unwrap_or_default().to_owned();
                    kept.lock().unwrap().insert(name);
                    Ok(v)
                });
                names
            })
            .collect();
        let client = orbium_testkit::client();
        let seen: Vec<Target> = objects
            .iter()
            .map(|(_, it)| orbium_testkit::reach(&client, &served.orb.object_to_string(it)))
            .collect();
        for round in 0..10 {
            assert_eq!(seen[0].act(round), Ok(round));
            assert_eq!(seen[1].act(round), Ok(round));
        }
        let refused = seen[2].act(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::NoResources);
        let first = names[0].lock().unwrap().clone();
        let second = names[1].lock().unwrap().clone();
        assert_eq!((first.len(), second.len()), (1, 1));
        assert!(first.is_disjoint(&second), "{first:?} {second:?}");
        // One waits at its gate: the other's thread goes on.
        let text = served.orb.object_to_string(&objects[0].1);
        let waiting = thread::spawn(move || {
            let client = orbium_testkit::client();
            orbium_testkit::reach(&client, &text).gate()
        });
        objects[0].0.gate.await_waiting(1);
        assert_eq!(seen[1].act(1), Ok(1));
        objects[0].0.gate.open();
        assert_eq!(waiting.join().unwrap(), Ok(()));
        // Its thread is another's after it is released.
        let id = poa.reference_to_id(&objects[1].1).unwrap();
        assert!(hook.release(&poa, &id));
        assert_eq!(seen[2].act(1), Ok(1));
        assert_eq!(hook.free(), 0);
        served.end();
    });
}

/// Every id that a client made up took a thread for good.
#[test]
fn ids_without_an_active_object_do_not_keep_the_threads() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let hook = Arc::new(ThreadPerServant::start(&served.orb, "servant", 2, 16).unwrap());
        let root = served.orb.root_poa();
        let policies = Policies {
            dispatch: Some(Hook(Arc::clone(&hook) as _)),
            id_assignment: IdAssignment::User,
            id_uniqueness: IdUniqueness::Multiple,
            request_processing: RequestProcessing::DefaultServant,
            ..Policies::default()
        };
        let poa = root.create_poa("Hooked", Some(root.manager()), policies);
        let poa = poa.unwrap();
        let state = Arc::new(TargetState::default());
        let servant = Target::skeleton(Arc::clone(&state));
        poa.set_servant(Arc::new(servant)).unwrap();
        let client = orbium_testkit::client();
        let object = |id: u8| {
            let object: Target = poa.create_reference_with_id(&[id]).unwrap();
            orbium_testkit::reach(&client, &served.orb.object_to_string(&object))
        };
        for id in 0..10 {
            assert_eq!(object(id).echo_long(1), Ok(1));
        }
        // With requests they do.
        let waiting = [20, 21].map(|id| {
            let object = object(id);
            orbium_testkit::spawn(move || object.gate())
        });
        state.gate.await_waiting(2);
        let refused = object(22).echo_long(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::NoResources);
        state.gate.open();
        for it in waiting {
            assert_eq!(it.join().unwrap(), Ok(()));
        }
        // An active object keeps one in any case.
        let active: Target = poa.activate_with_id(&[30], Arc::clone(&state)).unwrap();
        let active = orbium_testkit::reach(&client, &served.orb.object_to_string(&active));
        assert_eq!(active.echo_long(1), Ok(1));
        for id in 0..10 {
            assert_eq!(object(id).echo_long(1), Ok(1));
        }
        assert!(hook.release(&poa, &[30]));
        served.end();
    });
}

/// Objects with the same id in two adapters shared a thread.
#[test]
fn objects_of_two_adapters_have_a_thread_each() {
    let served = Served::new(ServerStrategy::default());
    let hook = Arc::new(ThreadPerServant::start(&served.orb, "servant", 2, 16).unwrap());
    let root = served.orb.root_poa();
    let client = orbium_testkit::client();
    let names = ["One", "Other"].map(|adapter| {
        let policies = Policies {
            dispatch: Some(Hook(Arc::clone(&hook) as _)),
            id_assignment: IdAssignment::User,
            ..Policies::default()
        };
        let poa = root.create_poa(adapter, Some(root.manager()), policies);
        let (state, (sender, names)) = (TargetState::default(), channel());
        state.on_act(move |_, v| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            sender.send(name).unwrap();
            Ok(v)
        });
        let object = poa.unwrap().activate_with_id(b"same", Arc::new(state));
        let object: Target = object.unwrap();
        let object = orbium_testkit::reach(&client, &served.orb.object_to_string(&object));
        assert_eq!(object.act(1), Ok(1));
        names.recv().unwrap()
    });
    assert_ne!(names[0], names[1]);
    assert_eq!(hook.free(), 0);
    served.end();
}
