// SPDX-License-Identifier: MIT OR Apache-2.0
//! Templates of adapters as values: in calls, in anys, and in other processes.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{EstablishedAdapter, Interceptors, IorInterceptor, OrbIdentity};
use orbium::value::portable_interceptor::{
    AdapterTemplate, ObjectReferenceFactory, ObjectReferenceTemplate,
};
use orbium::{
    Any, Call, Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    poa::{IdAssignment, Lifespan, Poa, Policies},
};
use orbium_core::idl_interface;
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use crate::Tested;

fn identity() -> OrbIdentity {
    OrbIdentity {
        orb_id: "flight".into(),
        server_id: "avionics-1".into(),
    }
}

fn orb(interceptors: Interceptors) -> Orb {
    Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        identity: identity(),
        interceptors,
        ..Config::default()
    })
    .unwrap()
}

fn policies(lifespan: Lifespan) -> Policies {
    Policies {
        id_assignment: IdAssignment::User,
        lifespan,
        ..Policies::default()
    }
}

fn child(orb: &Orb, lifespan: Lifespan) -> Poa {
    let root = orb.root_poa();
    let child = root.create_poa("child", None, policies(lifespan)).unwrap();
    child.manager().activate().unwrap();
    child
}

idl_interface! {
    /// Returns its argument.
    pub struct Echo = "IDL:Echo:1.0";
    operations by_octet(0, 97, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    pub trait EchoServant;

    fn any(value: &Any) -> Result<Any> = "any";
    fn template(value: Option<&ObjectReferenceTemplate>) -> Result<Option<ObjectReferenceTemplate>>
        = "template";
}

struct Returning;

impl EchoServant for Returning {
    fn any(&self, _: &Call<'_>, value: &Any) -> Result<Any, SystemException> {
        Ok(value.clone())
    }

    fn template(
        &self,
        _: &Call<'_>,
        value: Option<&ObjectReferenceTemplate>,
    ) -> Result<Option<ObjectReferenceTemplate>, SystemException> {
        let value = value.ok_or(ExceptionKind::BadParam)?;
        assert_eq!(value.server_id()?, "avionics-1");
        Ok(Some(value.clone()))
    }
}

/// A template as received by another ORB, as an argument and a result.
fn passed(template: &AdapterTemplate, by: &Orb, to: &Orb) -> ObjectReferenceTemplate {
    let root = by.root_poa();
    root.manager().activate().unwrap();
    let echo: Echo = root.activate(Returning).unwrap();
    let echo = to.string_to_object(&by.object_to_string(&echo)).unwrap();
    let echo = Echo::from_object(echo.unwrap());
    let template = ObjectReferenceTemplate::from(template.clone());
    let any = Any::new(&Some(template.clone())).unwrap();
    let any = echo.any(&any).unwrap();
    let of_any: Option<ObjectReferenceTemplate> = any.extract().unwrap();
    let read = echo.template(Some(&template)).unwrap().unwrap();
    assert_eq!(of_any.unwrap().adapter_name(), read.adapter_name());
    read
}

const LIFESPANS: [Lifespan; 2] = [Lifespan::Transient, Lifespan::Persistent];

/// Conformance: PI - ObjectReferenceTemplate: a value, read back with its state in another ORB, which
/// makes the references of the adapter by it
#[test]
fn a_template_that_was_passed_makes_the_references_of_its_adapter() -> Tested {
    for lifespan in LIFESPANS {
        let (server, client) = (orb(Interceptors::new()), Orb::builder().build()?);
        let child = child(&server, lifespan);
        let servant: Arc<TargetState> = Arc::default();
        child.activate_with_id::<Target, _>(b"one", servant)?;
        let template = child.reference_template()?;
        let read = passed(&template, &server, &client);
        assert_eq!(read.repository_id(), template.repository_id());
        assert_eq!(read.server_id()?, "avionics-1");
        assert_eq!(read.orb_id()?, "flight");
        assert_eq!(read.adapter_name()?, ["RootPOA", "child"]);
        let made = read.make_object(Target::REPOSITORY_ID, b"one")?;
        let target: Target = Target::from_object(made.ok_or("nil")?);
        assert_eq!(target.echo_long(7)?, 7);
        assert!(target.as_object().orb() == &client);
        assert_eq!(child.reference_to_id(&seen_by(&server, &target)?)?, b"one");
        let missing = read.make_object(Target::REPOSITORY_ID, b"two")?;
        let missing = Target::from_object(missing.ok_or("nil")?).echo_long(1);
        assert_eq!(missing.unwrap_err().kind, ExceptionKind::ObjectNotExist);
        server.shutdown(true)?;
    }
    Ok(())
}

fn seen_by(orb: &Orb, target: &Target) -> Result<Target, Box<dyn std::error::Error>> {
    let object = orb.string_to_object(&target.as_object().ior().to_string())?;
    Ok(Target::from_object(object.ok_or("nil")?))
}

/// Conformance: PI - ObjectReferenceTemplate: in the ORB of the adapter, its own references
#[test]
fn a_template_that_came_back_makes_the_references_that_the_adapter_makes() -> Tested {
    for lifespan in LIFESPANS {
        let server = orb(Interceptors::new());
        let child = child(&server, lifespan);
        let template = child.reference_template()?;
        let read = passed(&template, &server, &server).downcast::<AdapterTemplate>();
        let read = read.ok_or("no template")?;
        let made = read.make_object(Target::REPOSITORY_ID, b"one")?;
        let own = child.create_reference_with_id::<Target>(b"one")?;
        assert_eq!(made.ior(), own.as_object().ior());
        child.destroy(true)?;
        let made = read.make_object(Target::REPOSITORY_ID, b"one");
        match lifespan {
            Lifespan::Transient => {
                assert_eq!(made.unwrap_err().kind, ExceptionKind::ObjectNotExist);
            }
            // The adapter may be created again.
            Lifespan::Persistent => drop(made?),
        }
        server.shutdown(true)?;
    }
    Ok(())
}

/// Conformance: PI - ObjectReferenceTemplate: one of the same path and of another adapter
#[test]
fn a_template_outlives_its_transient_adapter_and_not_its_references() -> Tested {
    let server = orb(Interceptors::new());
    let before = child(&server, Lifespan::Transient);
    let template = before.reference_template()?;
    before.destroy(true)?;
    let _again = child(&server, Lifespan::Transient);
    let made = template.make_object(Target::REPOSITORY_ID, b"one");
    assert_eq!(made.unwrap_err().kind, ExceptionKind::ObjectNotExist);
    Ok(())
}

#[test]
fn a_state_of_another_version_makes_no_reference() -> Tested {
    let server = orb(Interceptors::new());
    let template = child(&server, Lifespan::Transient).reference_template()?;
    template.write().version += 1;
    let made = template
        .make_object(Target::REPOSITORY_ID, b"one")
        .map(drop);
    let expected = SystemException::omg(ExceptionKind::NoImplement, 2, Completion::No);
    assert_eq!(made, Err(expected));
    Ok(())
}

/// Converts the template passed to it, and sets a value as the factory of the adapter's references.
#[derive(Clone, Default)]
struct Converting {
    orb: Arc<Mutex<Option<Orb>>>,
    kept: Arc<Mutex<Option<ObjectReferenceTemplate>>>,
}

impl IorInterceptor for Converting {
    fn components_established(
        &self,
        adapter: &mut EstablishedAdapter<'_, '_>,
    ) -> Result<(), SystemException> {
        let Some(orb) = self.orb.lock().unwrap().clone() else {
            return Ok(());
        };
        let template = AdapterTemplate::of(&orb, adapter.template())?;
        let template = ObjectReferenceTemplate::from(template);
        *self.kept.lock().unwrap() = Some(template.clone());
        adapter.set_current_factory(ObjectReferenceFactory::from(template));
        Ok(())
    }
}

/// Conformance: PI - ObjectReferenceFactory: a value that came out of an IORInterceptor makes the
/// references
#[test]
fn a_value_makes_the_references_of_an_adapter() -> Tested {
    let converting = Converting::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_ior(converting.clone())?;
    let server = orb(interceptors);
    *converting.orb.lock().unwrap() = Some(server.clone());
    let child = child(&server, Lifespan::Persistent);
    *converting.orb.lock().unwrap() = None;
    let servant: Arc<TargetState> = Arc::default();
    let target = child.activate_with_id::<Target, _>(b"one", servant)?;
    assert_eq!(target.echo_long(3)?, 3);
    let kept = converting.kept.lock().unwrap().take().ok_or("none")?;
    let made = kept.make_object(Target::REPOSITORY_ID, b"one")?;
    assert_eq!(made.as_ref(), Some(target.as_object()));
    server.shutdown(true)?;
    Ok(())
}
