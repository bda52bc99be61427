// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of objects of which the adapter finds the servant: the default servant, one that is incarnated,
//! or one for each request.

use std::sync::Arc;

use orbium::{
    Call, Servant, SystemException,
    config::Collocation,
    poa::{
        ForwardRequest, IdAssignment, IdUniqueness, Poa, PoaCurrent, Policies, RequestProcessing,
        ServantActivator, ServantError, ServantLocator, ServantRetention, ThreadModel, servant_of,
    },
};
use orbium_core::cdr::CdrReader;
use orbium_core::{DispatchError, UntypedReply};
use orbium_testkit::Served;

use super::super::Recorder;
use super::*;

/// What finds the servants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provision {
    Default,
    Activator,
    Locator,
}

const PROVISIONS: [Provision; 3] = [Provision::Default, Provision::Activator, Provision::Locator];

impl Provision {
    fn policies(self) -> Policies {
        Policies {
            id_assignment: IdAssignment::User,
            id_uniqueness: IdUniqueness::Multiple,
            servant_retention: match self {
                Self::Locator => ServantRetention::NonRetain,
                _ => ServantRetention::Retain,
            },
            request_processing: match self {
                Self::Default => RequestProcessing::DefaultServant,
                _ => RequestProcessing::ServantManager,
            },
            ..Policies::default()
        }
    }

    /// An adapter that finds its servants so, below the root.
    fn adapter(self, served: &Served, policies: Policies, manager: Managing) -> Poa {
        let root = served.orb.root_poa();
        let poa = root
            .create_poa("managed", Some(root.manager()), policies)
            .unwrap();
        match self {
            Self::Default => poa.set_servant(manager.servant).unwrap(),
            Self::Activator => poa.set_servant_activator(manager).unwrap(),
            Self::Locator => poa.set_servant_locator(manager).unwrap(),
        }
        poa
    }
}

/// Notes what it is asked, and does something at one of its operations.
#[derive(Clone)]
struct Managing {
    journal: Journal,
    servant: Arc<dyn Servant>,
    at: &'static str,
    act: Act,
    elsewhere: Option<ForwardRequest>,
}

const FAILED: SystemException =
    SystemException::new(ExceptionKind::NoMemory, 3, orbium::Completion::No);

impl Managing {
    fn of(servant: Arc<dyn Servant>, journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            servant,
            at: "",
            act: Act::Nothing,
            elsewhere: None,
        }
    }

    fn note(&self, what: &str, id: &[u8], operation: &[u8]) -> Result<(), ServantError> {
        let current = PoaCurrent::get().ok();
        let current = current.map(|it| it.object_id().to_vec());
        let (id, operation) = (id.escape_ascii(), operation.escape_ascii());
        self.journal
            .note(format!("{what} {id} {operation} {current:?}"));
        if what != self.at {
            return Ok(());
        }
        match (self.act, &self.elsewhere) {
            (Act::Panic, _) => panic!("on purpose"),
            (Act::Forward, Some(forward)) => Err(forward.clone().into()),
            (Act::Raise, _) => Err(FAILED.into()),
            _ => Ok(()),
        }
    }
}

impl ServantActivator for Managing {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        self.note("incarnate", id, b"")?;
        Ok(Arc::clone(&self.servant))
    }
}

impl ServantLocator for Managing {
    type Cookie = String;

    fn preinvoke(
        &self,
        id: &[u8],
        _: &Poa,
        operation: &[u8],
    ) -> Result<(Arc<dyn Servant>, String), ServantError> {
        self.note("preinvoke", id, operation)?;
        Ok((
            Arc::clone(&self.servant),
            operation.escape_ascii().to_string(),
        ))
    }

    fn postinvoke(
        &self,
        id: &[u8],
        _: &Poa,
        operation: &[u8],
        cookie: String,
        servant: Arc<dyn Servant>,
    ) -> Result<(), SystemException> {
        assert_eq!(cookie, operation.escape_ascii().to_string());
        assert!(Arc::ptr_eq(&servant, &self.servant));
        match self.note("postinvoke", id, operation) {
            Err(ServantError::System(exception)) => Err(exception),
            _ => Ok(()),
        }
    }
}

/// A servant of which its ORB knows nothing but how to dispatch requests to it.
struct Untyped(Arc<dyn Servant>);

impl Servant for Untyped {
    fn repository_id(&self) -> &'static str {
        self.0.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.0.is_a(repository_id)
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        self.0.dispatch(call, arguments, reply)
    }
}

impl Scene {
    /// One with an object of which the adapter finds the servant.
    fn managed(self, found: Provision, at: &'static str, act: Act, is_typed: bool) -> Self {
        let servant = servant_of::<Watched, _>(self.watching.named("managed"));
        let servant: Arc<dyn Servant> = if is_typed {
            servant
        } else {
            Arc::new(Untyped(servant))
        };
        let manager = Managing {
            at,
            act,
            elsewhere: Some(ForwardRequest::to(&self.watched)),
            ..Managing::of(servant, &self.journal)
        };
        let poa = found.adapter(&self.served, found.policies(), manager);
        Self {
            watched: poa.create_reference_with_id(b"id").unwrap(),
            ..self
        }
    }
}

/// Every sort of servant, with interceptors and without.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - default servants and servant
/// managers are lent their arguments
#[test]
fn servants_that_an_adapter_finds_are_lent_their_arguments() {
    for (way, found, is_seen) in each_provision() {
        let scene = Scene::of(way, is_seen, "", Act::Nothing);
        let scene = scene.managed(found, "", Act::Nothing, true);
        for (name, _, call) in CALLS {
            // The whole answer is seen by interceptors, as a message.
            let is_answered = ["slot", "late", "tell"]
                .iter()
                .any(|it| name.starts_with(it));
            let needs_message = name.ends_with("async") || is_answered && is_seen;
            if !needs_message {
                let lent = call(&scene, &[5; 64], RESULTS).unwrap();
                let marshalled = way == Collocation::Marshalled;
                assert_eq!(lent, !marshalled, "{way} {found:?} {is_seen} {name}");
            }
        }
        scene.served.end();
    }
}

fn each_provision() -> impl Iterator<Item = (Collocation, Provision, bool)> {
    let ways = ALL.into_iter();
    let found = ways.flat_map(|way| PROVISIONS.map(|found| (way, found)));
    found.flat_map(|(way, found)| [false, true].map(|is_seen| (way, found, is_seen)))
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - servant managers, with what they
/// and the interceptors see and do
#[test]
fn servant_managers_see_a_call_without_a_message_as_one_by_a_message() {
    let acts = [
        (Provision::Default, "", Act::Nothing),
        (Provision::Activator, "", Act::Nothing),
        (Provision::Activator, "incarnate", Act::Raise),
        (Provision::Activator, "incarnate", Act::Forward),
        (Provision::Activator, "incarnate", Act::Panic),
        (Provision::Locator, "", Act::Nothing),
        (Provision::Locator, "preinvoke", Act::Raise),
        (Provision::Locator, "preinvoke", Act::Forward),
        (Provision::Locator, "preinvoke", Act::Panic),
        (Provision::Locator, "postinvoke", Act::Raise),
        (Provision::Locator, "postinvoke", Act::Panic),
    ];
    for (found, at, act) in acts {
        for is_seen in [false, true] {
            compare_scenes(|way| {
                Scene::of(way, is_seen, "", Act::Nothing).managed(found, at, act, true)
            });
        }
    }
}

/// Conformance: PI - collocated calls of servant managers: exceptions, forwards and panics of
/// interceptors
#[test]
fn interceptors_of_managed_objects_end_calls_as_those_by_messages() {
    for at in ["receive_contexts", "receive_request", "send_other"] {
        for act in [Act::Raise, Act::Forward, Act::Panic] {
            compare_scenes(|way| {
                Scene::new(way, at, act).managed(Provision::Locator, "", Act::Nothing, true)
            });
        }
    }
}

/// The interface of a servant shows when it is there: one that is not typed gets a message then.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - servants that are found and have
/// no types get their requests as messages
#[test]
fn servants_without_types_that_an_adapter_finds_get_messages() {
    for (found, at, act) in [
        (Provision::Default, "", Act::Nothing),
        (Provision::Activator, "", Act::Nothing),
        (Provision::Locator, "", Act::Nothing),
        (Provision::Locator, "postinvoke", Act::Raise),
    ] {
        for is_seen in [false, true] {
            compare_scenes(|way| {
                Scene::of(way, is_seen, "", Act::Nothing).managed(found, at, act, false)
            });
        }
    }
}

/// One reference, of an object that goes and comes again.
#[test]
fn an_object_that_is_incarnated_again_is_lent_its_arguments() {
    for way in ALL {
        let served = Served::with(config(way));
        let servant = servant_of::<Places, _>(Recorder::default());
        let manager = Managing::of(servant, &Journal::default());
        let journal = manager.journal.clone();
        let found = Provision::Activator;
        let poa = found.adapter(&served, found.policies(), manager);
        let places: Places = poa.create_reference_with_id(b"id").unwrap();
        let data = vec![5; 1024];
        for _ in 0..3 {
            for _ in 0..2 {
                let lent = places.put(&data).unwrap() == place(&data);
                assert_eq!(lent, way != Collocation::Marshalled, "{way}");
            }
            assert_eq!(journal.take(), ["incarnate id  Some([105, 100])"]);
            poa.deactivate(b"id").unwrap();
        }
        served.end();
    }
}

/// Turns are taken in the locator's calls too.
#[test]
fn an_adapter_with_one_thread_lends_arguments_to_servants_that_it_finds() {
    for (way, found, _) in each_provision() {
        let served = Served::with(config(way));
        let servant = servant_of::<Places, _>(Recorder::default());
        let policies = Policies {
            thread_model: ThreadModel::SingleThread,
            ..found.policies()
        };
        let manager = Managing::of(servant, &Journal::default());
        let poa = found.adapter(&served, policies, manager);
        let places: Places = poa.create_reference_with_id(b"id").unwrap();
        let data = vec![5; 1024];
        for _ in 0..2 {
            let lent = places.put(&data).unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled, "{way} {found:?}");
        }
        served.end();
    }
}

/// Of a POA manager that holds requests, and of one that discards them.
#[test]
fn the_state_of_the_manager_applies_to_servants_that_an_adapter_finds() {
    for (way, found, _) in each_provision() {
        let served = Served::with(config(way));
        let servant = servant_of::<Places, _>(Recorder::default());
        let manager = Managing::of(servant, &Journal::default());
        let journal = manager.journal.clone();
        let poa = found.adapter(&served, found.policies(), manager);
        let places: Places = poa.create_reference_with_id(b"id").unwrap();
        places.put(&[5]).unwrap();
        journal.take();
        if way != Collocation::Direct {
            poa.manager().discard_requests(false).unwrap();
            let discarded = places.put(&[5]).unwrap_err();
            assert_eq!(discarded.kind, ExceptionKind::Transient, "{way} {found:?}");
            assert!(journal.take().is_empty());
            poa.manager().activate().unwrap();
        }
        places.put(&[5]).unwrap();
        poa.destroy(true).unwrap();
        let gone = places.put(&[5]).unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist, "{way} {found:?}");
        served.end();
    }
}
