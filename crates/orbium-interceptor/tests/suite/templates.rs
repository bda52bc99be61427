// SPDX-License-Identifier: MIT OR Apache-2.0
//! Templates of adapters, and the factories by which interceptors replace them.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{
    EstablishedAdapter, Interceptors, IorInfo, IorInterceptor, ObjectReferenceFactory,
    ObjectReferenceTemplate, OrbIdentity,
};
use orbium::{
    Config, ExceptionKind, Interface, Orb, SystemException,
    poa::{IdAssignment, Poa, PoaError, Policies},
};
use orbium_giop::{Ior, Profile, TaggedComponent};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Journal, plain_server, seen_by};

const SITE: u32 = 0x4F52_4284;

/// The last template passed to an interceptor.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<ObjectReferenceTemplate>>>);

impl Kept {
    fn template(&self) -> ObjectReferenceTemplate {
        self.0.lock().unwrap().clone().unwrap()
    }
}

impl IorInterceptor for Kept {
    fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let data = b"north".to_vec();
        adapter.add_component(TaggedComponent { tag: SITE, data });
        Ok(())
    }

    fn components_established(
        &self,
        adapter: &mut EstablishedAdapter<'_, '_>,
    ) -> Result<(), SystemException> {
        assert_eq!(adapter.template().adapter_name(), adapter.adapter_name());
        *self.0.lock().unwrap() = Some(adapter.template().clone());
        Ok(())
    }
}

/// The behaviour of a factory in a test.
type Make =
    dyn Fn(&dyn ObjectReferenceFactory, &str, &[u8]) -> Result<Ior, SystemException> + Send + Sync;

/// A factory that replaces another one.
struct Replaced {
    before: Arc<dyn ObjectReferenceFactory>,
    make: Arc<Make>,
}

impl ObjectReferenceFactory for Replaced {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        (self.make)(&*self.before, repository_id, object_id)
    }
}

/// Replaces the factory of the adapter `child`.
struct Replacing(Arc<Make>);

impl IorInterceptor for Replacing {
    fn components_established(
        &self,
        adapter: &mut EstablishedAdapter<'_, '_>,
    ) -> Result<(), SystemException> {
        if adapter.adapter_name().len() > 1 {
            let (before, make) = (adapter.current_factory(), Arc::clone(&self.0));
            adapter.set_current_factory(Replaced { before, make });
        }
        Ok(())
    }
}

fn orb(all: impl FnOnce(&mut Interceptors)) -> Orb {
    let mut interceptors = Interceptors::new();
    all(&mut interceptors);
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    orb.interceptors(interceptors).build().unwrap()
}

fn child(orb: &Orb) -> Poa {
    let policies = Policies {
        id_assignment: IdAssignment::User,
        ..Policies::default()
    };
    let child = orb.root_poa().create_poa("child", None, policies).unwrap();
    child.manager().activate().unwrap();
    child
}

/// An ORB, and its adapter `child`, which makes its references with that factory.
fn replaced(
    make: impl Fn(&dyn ObjectReferenceFactory, &str, &[u8]) -> Result<Ior, SystemException>
    + Send
    + Sync
    + 'static,
) -> (Orb, Poa) {
    let orb = orb(|all| all.add_ior(Replacing(Arc::new(make))).unwrap());
    let child = child(&orb);
    (orb, child)
}

fn has_site(ior: &Ior) -> bool {
    let parsed = ior.profiles.iter().map(|it| Profile::parse(it).unwrap());
    let mut components = parsed.flat_map(|it| it.components().to_vec());
    components.any(|it| it.tag == SITE && it.data == b"north")
}

/// Conformance: PI - adapter_template: make_object gives the references of the adapter
#[test]
fn a_template_makes_the_references_of_its_adapter() -> Tested {
    let kept = Kept::default();
    let orb = orb(|all| all.add_ior(kept.clone()).unwrap());
    let child = child(&orb);
    let template = kept.template();
    assert_eq!(template.adapter_name(), ["RootPOA", "child"]);
    let made = template.make_object(Target::REPOSITORY_ID, b"one")?;
    let own = child.create_reference_with_id::<Target>(b"one")?;
    assert_eq!(&made, own.as_object().ior());
    assert!(has_site(&made));
    // Without activation.
    let client = Orb::builder().build()?;
    let target = Target::from_object(client.string_to_object(&made.to_string())?.ok_or("nil")?);
    let missing = target.echo_long(1).unwrap_err();
    assert_eq!(missing.kind, ExceptionKind::ObjectNotExist);
    let servant: Arc<TargetState> = Arc::default();
    child.activate_with_id::<Target, _>(b"one", servant)?;
    assert_eq!(target.echo_long(7)?, 7);
    Ok(())
}

/// Conformance: PI - adapter_template: nothing is made once the adapter is destroyed
#[test]
fn a_template_outlives_its_adapter() -> Tested {
    let kept = Kept::default();
    let orb = orb(|all| all.add_ior(kept.clone()).unwrap());
    let child = child(&orb);
    child.destroy(true)?;
    drop(child);
    let made = kept.template().make_object(Target::REPOSITORY_ID, b"one");
    assert_eq!(made.unwrap_err().kind, ExceptionKind::ObjectNotExist);
    Ok(())
}

/// Conformance: PI - current_factory: makes all references of the adapter
#[test]
fn every_reference_comes_from_the_factory() -> Tested {
    let journal = Journal::default();
    let seen = journal.clone();
    let (orb, child) = replaced(move |before, repository_id, id| {
        seen.note(String::from_utf8_lossy(id).into_owned());
        before.make_object(repository_id, id)
    });
    let servant: Arc<TargetState> = Arc::default();
    let active = child.activate_with_id::<Target, _>(b"active", servant)?;
    child.create_reference_with_id::<Target>(b"later")?;
    child.id_to_reference(b"active")?;
    assert_eq!(journal.take(), ["active", "later", "active"]);
    // References of other adapters have other factories.
    orb.root_poa().create_reference::<Target>()?;
    assert_eq!(journal.take(), [""; 0]);
    let client = Orb::builder().build()?;
    assert_eq!(seen_by(&client, &active).echo_long(7)?, 7);
    assert_eq!(child.reference_to_id(&active)?, b"active");
    Ok(())
}

/// Conformance: PI - current_factory: references may lead by another object
#[test]
fn references_may_lead_elsewhere() -> Tested {
    let elsewhere = plain_server();
    let ior = elsewhere.target.as_object().ior().clone();
    let (_orb, child) = replaced(move |_, _, _| Ok(ior.clone()));
    let made = child.create_reference_with_id::<Target>(b"one")?;
    assert_eq!(made.as_object().ior(), elsewhere.target.as_object().ior());
    assert_eq!(made.echo_long(3)?, 3);
    assert_eq!(
        child.reference_to_id(&made).err(),
        Some(PoaError::WrongAdapter)
    );
    Ok(())
}

/// Conformance: PI - current_factory: the next interceptor finds the factory of the one before
#[test]
fn factories_are_put_before_one_another() -> Tested {
    let journal = Journal::default();
    let noting = |what: &'static str| {
        let seen = journal.clone();
        Replacing(Arc::new(
            move |before: &dyn ObjectReferenceFactory, it: &str, id: &[u8]| {
                seen.note(what.to_owned());
                before.make_object(it, id)
            },
        ))
    };
    let (first, second) = (noting("first"), noting("second"));
    let orb = orb(|all| {
        all.add_ior(first).unwrap();
        all.add_ior(second).unwrap();
    });
    child(&orb).create_reference_with_id::<Target>(b"one")?;
    assert_eq!(journal.take(), ["second", "first"]);
    Ok(())
}

/// Conformance: PI - current_factory: an exception or a panic, or a nil reference
#[test]
fn a_factory_that_fails_gives_no_reference() -> Tested {
    let (_orb, child) = replaced(|before, it, id| match id {
        b"raises" => Err(ExceptionKind::NoPermission.into()),
        b"panics" => panic!("as the test wants it"),
        b"nil" => Ok(Ior::default()),
        id => before.make_object(it, id),
    });
    let expected = [
        (&b"raises"[..], ExceptionKind::NoPermission),
        (b"panics", ExceptionKind::Unknown),
        (b"nil", ExceptionKind::ObjAdapter),
    ];
    for (id, kind) in expected {
        match child.create_reference_with_id::<Target>(id) {
            Err(PoaError::System(exception)) => assert_eq!(exception.kind, kind),
            other => panic!("{other:?}"),
        }
    }
    child.create_reference_with_id::<Target>(b"fine")?;
    Ok(())
}

/// Conformance: PI - adapter_template: server_id and orb_id, those of the configuration; empty unless given
#[test]
fn a_template_names_its_server_and_orb() -> Tested {
    let identity = OrbIdentity {
        orb_id: "flight".into(),
        server_id: "avionics-1".into(),
    };
    for identity in [identity, OrbIdentity::default()] {
        let kept = Kept::default();
        let mut interceptors = Interceptors::new();
        interceptors.add_ior(kept.clone())?;
        let orb = Orb::new(Config {
            identity: identity.clone(),
            interceptors,
            ..Config::default()
        })?;
        let child = orb
            .root_poa()
            .create_poa("child", None, Policies::default())?;
        let template = kept.template();
        assert_eq!(template.adapter_name(), ["RootPOA", "child"]);
        assert_eq!(template.server_id(), identity.server_id);
        assert_eq!(template.orb_id(), identity.orb_id);
        drop(child);
    }
    Ok(())
}
