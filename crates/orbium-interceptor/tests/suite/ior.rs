// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of references: components, states of adapters, and the policies they see.

use std::sync::Arc;

use orbium::interceptor::{
    AdapterState, ClientInterceptor, EstablishedAdapter, Interceptors, Interrupt, IorInfo,
    IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate, Policy, ReceiveRequest,
    SendRequest, ServerInterceptor,
};
use orbium::{
    Any, Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::GiopMinor,
    poa::{Poa, PoaError, Policies},
};
use orbium_giop::profile::TAG_INTERNET_IOP;
use orbium_giop::{Ior, Profile, TaggedComponent};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Journal, seen_by};

const OF_ALL: u32 = 0x4F52_4280;
const OF_INTERNET: u32 = 0x4F52_4281;
const OF_NONE: u32 = 0x4F52_4282;
const REGION: u32 = 0x4F52_4283;

/// The addresses of an adapter's objects.
struct Region(&'static str);

/// Publishes components, and records the calls.
#[derive(Clone, Default)]
struct Publishing {
    journal: Journal,
    /// Fails or panics for the adapter with that name.
    refuses: &'static str,
    panics: &'static str,
}

impl Publishing {
    fn act(&self, at: &IorInfo<'_>) -> Result<(), SystemException> {
        let name = at.adapter_name().last().map_or("", String::as_str);
        assert_ne!(name, self.panics, "as the test wants it");
        if name == self.refuses {
            Err(ExceptionKind::NoPermission.into())
        } else {
            Ok(())
        }
    }
}

fn component(tag: u32, data: &[u8]) -> TaggedComponent {
    let data = data.to_vec();
    TaggedComponent { tag, data }
}

/// Adds its components before it fails.
struct Establishing(Publishing);

impl IorInterceptor for Establishing {
    fn name(&self) -> &str {
        "establishing"
    }

    fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let name = adapter.adapter_name().join("/");
        adapter.add_component(component(OF_ALL, name.as_bytes()));
        adapter.add_component_to_profile(component(OF_INTERNET, b"internet"), TAG_INTERNET_IOP)?;
        let none = adapter.add_component_to_profile(component(OF_NONE, b"none"), 4711);
        assert_eq!(none, Err(no_such_profile()));
        self.0.act(adapter)
    }
}

/// Refuses adapters after their components were added.
struct Established(Publishing);

impl IorInterceptor for Established {
    fn components_established(
        &self,
        adapter: &mut EstablishedAdapter<'_, '_>,
    ) -> Result<(), SystemException> {
        let region = adapter.effective_policy(REGION).ok().flatten();
        let region = region
            .and_then(Policy::value::<Region>)
            .map_or("", |it| it.0);
        let (names, state) = (adapter.adapter_name().join("/"), adapter.state());
        let line = format!("{names} {} {state:?} {region}", adapter.manager_id());
        self.0.journal.note(line);
        self.0.act(adapter)
    }

    fn adapter_manager_state_changed(&self, manager_id: &str, state: AdapterState) {
        self.0.journal.note(format!("{manager_id} {state:?}"));
        assert_ne!(manager_id, self.0.panics, "as the test wants it");
    }

    fn adapter_state_changed(&self, ended: &[ObjectReferenceTemplate], state: AdapterState) {
        for template in ended {
            let names = template.adapter_name().join("/");
            self.0.journal.note(format!("{names} {state:?}"));
            let gone = SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
            let made = template.make_object(Target::REPOSITORY_ID, b"12345678");
            assert_eq!(made.unwrap_err(), gone);
        }
    }
}

/// An ORB with interceptors of references that listens over TCP and at a Unix socket.
fn orb(all: impl FnOnce(&mut Interceptors)) -> Orb {
    let mut interceptors = Interceptors::new();
    all(&mut interceptors);
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.endpoint("uiop://").unwrap();
    orb.interceptors(interceptors).build().unwrap()
}

fn child(orb: &Orb, name: &str, defined: Vec<Policy>) -> Result<Poa, PoaError> {
    let policies = Policies {
        defined,
        ..Policies::default()
    };
    orb.root_poa().create_poa(name, None, policies)
}

/// The tags of the profiles with a component, and its data in them.
fn published(ior: &Ior, tag: u32) -> Vec<(u32, Vec<u8>)> {
    let mut found = Vec::new();
    for profile in &ior.profiles {
        let parsed = Profile::parse(profile).unwrap();
        let mut components = parsed.components().iter();
        let data = components.find(|it| it.tag == tag);
        found.extend(data.map(|it| (profile.tag, it.data.clone())));
    }
    found
}

/// Conformance: PI - IOR interceptors: components for all profiles, and for those with a tag
#[test]
fn components_are_in_the_profiles_that_they_are_for() -> Tested {
    let orb = orb(|all| all.add_ior(Establishing(Publishing::default())).unwrap());
    let object = child(&orb, "child", Vec::new())?.create_reference::<Target>()?;
    let ior = object.as_object().ior();
    assert_eq!(ior.profiles.len(), 2);
    let everywhere = ior
        .profiles
        .iter()
        .map(|it| (it.tag, b"RootPOA/child".to_vec()));
    assert_eq!(published(ior, OF_ALL), everywhere.collect::<Vec<_>>());
    assert_eq!(
        published(ior, OF_INTERNET),
        [(TAG_INTERNET_IOP, b"internet".to_vec())]
    );
    assert_eq!(published(ior, OF_NONE), []);
    let of_root = orb.root_poa().create_reference::<Target>()?;
    assert_eq!(
        published(of_root.as_object().ior(), OF_ALL)[0].1,
        b"RootPOA"
    );
    Ok(())
}

fn no_such_profile() -> SystemException {
    SystemException::omg(ExceptionKind::BadParam, 29, Completion::No)
}

/// Records the result of adding a component for profiles of IIOP.
struct Adding(Journal);

impl IorInterceptor for Adding {
    fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let added = adapter.add_component_to_profile(component(OF_INTERNET, b""), TAG_INTERNET_IOP);
        self.0.note((added == Err(no_such_profile())).to_string());
        Ok(())
    }
}

/// Conformance: PI - IOR interceptors: a component for profiles that references do not have, or that have none: BAD_PARAM 29
#[test]
fn a_component_for_profiles_of_iiop_1_0_is_bad_param_29() {
    for number in [0, 1] {
        let (journal, mut interceptors) = (Journal::default(), Interceptors::new());
        interceptors.add_ior(Adding(journal.clone())).unwrap();
        let orb = Orb::new(Config {
            giop_minor: GiopMinor::new(number).unwrap(),
            interceptors,
            ..Config::default()
        });
        drop(orb.unwrap());
        assert_eq!(journal.take(), [(number == 0).to_string()]);
    }
}

/// Conformance: PI - IOR interceptors: components for all profiles, and for those with a tag
#[test]
fn an_interceptor_of_calls_finds_the_components() -> Tested {
    struct Reading(Journal);

    impl ClientInterceptor for Reading {
        fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
            let data = request.effective_component(OF_ALL)?.data;
            self.0.note(String::from_utf8_lossy(&data).into_owned());
            Ok(())
        }
    }

    let server = orb(|all| all.add_ior(Establishing(Publishing::default())).unwrap());
    let target = server.serve("Target", Arc::<TargetState>::default())?;
    let (mut interceptors, journal) = (Interceptors::new(), Journal::default());
    interceptors.add_client(Reading(journal.clone()))?;
    let client = Orb::builder().interceptors(interceptors).build()?;
    let target: Target = seen_by(&client, &target);
    journal.take();
    assert_eq!(target.echo_long(7)?, 7);
    assert_eq!(journal.take(), ["RootPOA"]);
    Ok(())
}

/// Conformance: PI - establish_components: an exception or a panic is ignored
#[test]
fn an_adapter_is_made_whatever_establish_components_does() -> Tested {
    let failing = Publishing {
        refuses: "refused",
        panics: "panicked",
        ..Publishing::default()
    };
    let orb = orb(|all| all.add_ior(Establishing(failing)).unwrap());
    for name in ["refused", "panicked", "other"] {
        let object = child(&orb, name, Vec::new())?.create_reference::<Target>()?;
        let names = format!("RootPOA/{name}");
        assert_eq!(
            published(object.as_object().ior(), OF_ALL)[0].1,
            names.as_bytes()
        );
    }
    Ok(())
}

/// Conformance: PI - components_established: an exception or a panic is OBJ_ADAPTER 6
#[test]
fn an_adapter_that_components_established_refuses_is_not_made() -> Tested {
    let failing = Publishing {
        refuses: "refused",
        panics: "panicked",
        ..Publishing::default()
    };
    let orb = orb(|all| all.add_ior(Established(failing)).unwrap());
    let refused = SystemException::omg(ExceptionKind::ObjAdapter, 6, Completion::No);
    for name in ["refused", "panicked"] {
        let made = child(&orb, name, Vec::new());
        assert_eq!(made.err(), Some(PoaError::System(refused)));
        assert_eq!(
            orb.root_poa().find_poa(name).err(),
            Some(PoaError::AdapterNonExistent)
        );
    }
    child(&orb, "other", Vec::new())?;
    Ok(())
}

/// Conformance: PI - adapter_manager_state_changed, adapter_state_changed
#[test]
fn interceptors_see_the_states_of_managers_and_the_end_of_adapters() -> Tested {
    let publishing = Publishing {
        panics: "upperManager",
        ..Publishing::default()
    };
    let journal = publishing.journal.clone();
    let orb = orb(|all| all.add_ior(Established(publishing)).unwrap());
    let upper = child(&orb, "upper", Vec::new())?;
    let manager = upper.manager();
    upper.create_poa("lower", Some(manager.clone()), Policies::default())?;
    journal.take();
    manager.activate()?;
    manager.activate()?;
    manager.hold_requests(false)?;
    manager.discard_requests(false)?;
    manager.deactivate(false)?;
    let states = ["Active", "Holding", "Discarding", "Inactive"];
    assert_eq!(
        journal.take(),
        states.map(|it| format!("upperManager {it}"))
    );
    upper.destroy(true)?;
    let mut ended = journal.take();
    ended.sort();
    let names = ["RootPOA/upper", "RootPOA/upper/lower"];
    assert_eq!(ended, names.map(|it| format!("{it} NonExistent")));
    Ok(())
}

/// Regression: the end of an adapter was reported again by each further `destroy`, and at the end
/// of its ORB.
#[test]
fn interceptors_see_the_end_of_an_adapter_once() -> Tested {
    struct Ending(Journal);

    impl IorInterceptor for Ending {
        fn adapter_state_changed(&self, ended: &[ObjectReferenceTemplate], state: AdapterState) {
            for template in ended {
                let names = template.adapter_name().join("/");
                self.0.note(format!("{names} {state:?}"));
            }
        }
    }

    let journal = Journal::default();
    let orb = orb(|all| all.add_ior(Ending(journal.clone())).unwrap());
    let upper = child(&orb, "upper", Vec::new())?;
    upper.destroy(true)?;
    upper.destroy(true)?;
    assert_eq!(journal.take(), ["RootPOA/upper NonExistent"]);
    orb.root_poa().destroy(true)?;
    orb.shutdown(true)?;
    assert_eq!(journal.take(), ["RootPOA NonExistent"]);
    Ok(())
}

/// Conformance: PI - policies that a program defines: IORInfo, get_server_policy
#[test]
fn interceptors_see_the_policies_that_an_adapter_was_made_with() -> Tested {
    struct Asking(Journal);

    impl ServerInterceptor for Asking {
        fn receive_request(&self, it: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
            let region = it.server_policy(REGION)?.value::<Region>();
            self.0.note(region.map_or("", |it| it.0).to_owned());
            let none = it.server_policy(REGION + 1).unwrap_err();
            let expected = SystemException::omg(ExceptionKind::InvPolicy, 2, Completion::No);
            assert_eq!(none, expected);
            Ok(())
        }
    }

    let publishing = Publishing::default();
    let journal = publishing.journal.clone();
    let orb = orb(|all| {
        all.add_ior(Established(publishing)).unwrap();
        all.add_server(Asking(journal.clone())).unwrap();
    });
    journal.take();
    let north = child(&orb, "north", vec![Policy::new(REGION, Region("north"))])?;
    assert_eq!(journal.take(), ["RootPOA/north northManager Holding north"]);
    north.manager().activate()?;
    let target = north.activate::<Target, _>(Arc::<TargetState>::default())?;
    journal.take();
    let client = Orb::builder().build()?;
    assert_eq!(seen_by(&client, &target).echo_long(7)?, 7);
    let seen = journal.take();
    assert!(
        !seen.is_empty() && seen.iter().all(|it| it == "north"),
        "{seen:?}"
    );
    Ok(())
}

/// Conformance: PI - IORInfo: get_effective_policy of a type without a factory is INV_POLICY 2, of one that the adapter has not is nil
#[test]
fn only_types_of_policies_that_are_known_can_be_asked_for() -> Tested {
    struct Asking(Journal);

    impl IorInterceptor for Asking {
        fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
            let unknown = adapter.effective_policy(REGION + 1).unwrap_err();
            let expected = SystemException::omg(ExceptionKind::InvPolicy, 2, Completion::No);
            assert_eq!(unknown, expected);
            let region = adapter.effective_policy(REGION).unwrap();
            let (lifespan, name) = (
                adapter.effective_policy(16).unwrap(),
                adapter.adapter_name(),
            );
            let found = (region.is_some(), lifespan.is_some());
            self.0.note(format!("{} {found:?}", name.join("/")));
            Ok(())
        }
    }

    let journal = Journal::default();
    let orb = orb(|all| {
        let factory = |kind, _: &Any| Ok(Policy::new(kind, Region("south")));
        all.register_policy_factory(REGION, factory).unwrap();
        all.add_ior(Asking(journal.clone())).unwrap();
    });
    let _north = child(&orb, "north", vec![Policy::new(REGION, Region("north"))])?;
    let expected = ["RootPOA (false, false)", "RootPOA/north (true, false)"];
    assert_eq!(journal.take(), expected);
    Ok(())
}

/// Conformance: PI - names are unique for each kind of interceptor
#[test]
fn a_second_interceptor_of_references_of_a_name_is_refused_unless_it_has_none() -> Tested {
    let mut interceptors = Interceptors::new();
    interceptors.add_ior(Establishing(Publishing::default()))?;
    let second = interceptors.add_ior(Establishing(Publishing::default()));
    assert_eq!(second.unwrap_err().0, "establishing");
    interceptors.add_ior(Established(Publishing::default()))?;
    interceptors.add_ior(Established(Publishing::default()))?;
    Ok(())
}
