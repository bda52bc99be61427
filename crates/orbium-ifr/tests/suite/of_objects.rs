// SPDX-License-Identifier: MIT OR Apache-2.0
//! `_interface`: what servers that have a repository configured say of their objects.

use std::net::TcpListener;
use std::time::Duration;

use orbium::{
    Completion, Config, ExceptionKind, ObjectRef, Orb, SystemException, config::NamingTimeout,
};
use orbium_dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use orbium_ifr::corba::InterfaceDef;
use orbium_ifr::{INTERFACE_REPOSITORY, InterfaceRepository};

use crate::served::{Served, model};

const IDL: &str = "interface Base { void stop(); }; interface Motor : Base { long speed(); };";

/// An object of an interface, with no operations.
struct Only(&'static str);

impl DynamicImplementation for Only {
    fn primary_interface(&self) -> String {
        self.0.to_owned()
    }

    fn invoke(&self, _: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        Err(ExceptionKind::BadOperation.into())
    }
}

fn server(repository: Option<String>, naming_timeout: Duration) -> Orb {
    let configured = repository.map(|url| (INTERFACE_REPOSITORY.to_owned(), url));
    let config = Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        initial_references: configured.into_iter().collect(),
        naming_timeout: NamingTimeout(naming_timeout),
        ..Config::default()
    };
    Orb::new(config).unwrap()
}

fn with_repository(url: &str) -> Orb {
    server(Some(url.to_owned()), Duration::from_secs(60))
}

fn object(orb: &Orb, repository_id: &'static str) -> ObjectRef {
    let poa = orb.root_poa();
    let servant = dynamic_servant(Only(repository_id)).unwrap();
    let object = poa.activate_servant(&servant).unwrap();
    poa.manager().activate().unwrap();
    object
}

/// The definition as another process gets it.
fn asked(object: &ObjectRef) -> Result<Option<ObjectRef>, SystemException> {
    let client = Orb::builder().build().unwrap();
    let text = client.object_to_string(object);
    let asked = client.string_to_object(&text).unwrap().unwrap().interface();
    client.shutdown(true).unwrap();
    asked
}

fn refused(minor: u32) -> Result<Option<ObjectRef>, SystemException> {
    Err(SystemException::omg(
        ExceptionKind::IntfRepos,
        minor,
        Completion::No,
    ))
}

/// Conformance: ORB - `_interface`
#[test]
fn an_object_has_the_definition_of_its_most_derived_interface() {
    let served = Served::with(IDL);
    let orb = with_repository(&served.address());
    let client = Orb::builder().build().unwrap();
    for object in [object(&orb, "IDL:Motor:1.0"), {
        let text = client.object_to_string(&object(&orb, "IDL:Motor:1.0"));
        client.string_to_object(&text).unwrap().unwrap()
    }] {
        let definition = object.interface().unwrap().unwrap();
        let definition: InterfaceDef = definition.narrow().unwrap();
        let described = definition.describe_interface().unwrap();
        assert_eq!(described.id, "IDL:Motor:1.0");
        let names: Vec<_> = described.operations.iter().map(|it| &*it.name).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }
    assert_eq!(asked(&object(&orb, "IDL:Unheard:1.0")), refused(2));
    assert_eq!(asked(&object(&orb, "")), refused(2));
    client.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
}

#[test]
fn a_repository_of_the_same_orb_is_used() {
    let orb = server(None, Duration::from_secs(60));
    let object = object(&orb, "IDL:Motor:1.0");
    assert_eq!(asked(&object), refused(1));
    let repository = InterfaceRepository::in_memory(&orb).unwrap();
    assert_eq!(asked(&object), refused(2));
    repository.load(&model(IDL)).unwrap();
    let definition = asked(&object).unwrap().unwrap();
    assert_eq!(
        definition.ior().type_id,
        "IDL:omg.org/CORBA/InterfaceDef:1.0"
    );
    orb.shutdown(true).unwrap();
}

/// Conformance: ORB - `_interface`
#[test]
fn a_repository_that_cannot_be_asked_is_none() {
    // Accepts connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("corbaloc::127.0.0.1:{port}/InterfaceRepository");
    let orb = server(Some(url), Duration::from_millis(50));
    assert_eq!(asked(&object(&orb, "IDL:Motor:1.0")), refused(1));
    orb.shutdown(true).unwrap();
    drop(silent);

    // Refuses connections by now.
    let url = format!("corbaloc::127.0.0.1:{port}/InterfaceRepository");
    let orb = with_repository(&url);
    assert_eq!(asked(&object(&orb, "IDL:Motor:1.0")), refused(1));
    orb.shutdown(true).unwrap();

    let orb = with_repository("no URL");
    assert_eq!(asked(&object(&orb, "IDL:Motor:1.0")), refused(1));
    orb.shutdown(true).unwrap();
}

/// A servant of `lookup_id`: its results are no references.
struct Liar;

impl DynamicImplementation for Liar {
    fn primary_interface(&self) -> String {
        "IDL:omg.org/CORBA/Repository:1.0".to_owned()
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        request.arguments(&[])?;
        request.set_result(orbium::Any::from(u64::MAX))
    }
}

#[test]
fn a_repository_that_answers_nonsense_is_none() {
    let repository = server(None, Duration::from_secs(60));
    let poa = repository.root_poa();
    let liar = poa
        .activate_servant(&dynamic_servant(Liar).unwrap())
        .unwrap();
    poa.manager().activate().unwrap();
    let orb = with_repository(&repository.object_to_string(&liar));
    assert_eq!(asked(&object(&orb, "IDL:Motor:1.0")), refused(1));
    orb.shutdown(true).unwrap();
    repository.shutdown(true).unwrap();
}
