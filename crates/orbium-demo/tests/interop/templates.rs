// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object reference templates as values of other ORBs: of orbium's adapters there and back, and of
//! GlassFish's here and back. Each ORB has a state of its own for them.

use orbium::codegen as orb;
use orbium::value::ValueType;
use orbium::value::portable_interceptor::AdapterTemplate;
use orbium::{
    Config, Interface,
    poa::{IdAssignment, Policies},
};
use orbium_demo::values::Echo;
use orbium_demo::{EchoServant, serve_values};

use crate::as_server::line;
use crate::programs::{self, Scratch, Server, available};
use crate::{Tested, listening};

orb::idl_struct! {
    /// A profile without an object key.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ProfileTemplate: PROFILE_TEMPLATE_TYPE = "IDL:ProfileTemplate:1.0" {
        pub tag: u32,
        pub data: Vec<u8>,
    }
}

orb::idl_value! {
    /// The template of an adapter of GlassFish's ORB, by what it writes.
    pub struct GlassFishTemplate(GlassFishTemplateState): GLASSFISH_TEMPLATE_TYPE =
        "IDL:com/sun/corba/ee/impl/ior/ObjectReferenceTemplateImpl:1.0", Plain, [] {
        public magic: i32,
        public subcontract: i32,
        public server: i32,
        public orb: String,
        public adapter: Vec<String>,
        public version: u8,
        public profiles: Vec<ProfileTemplate>,
    }
}

/// A template of orbium's by way of another ORB.
fn there_and_back(peer: &str) -> Tested {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let serving = listening(Config::default())?;
    let client = listening(Config::default())?;
    let policies = Policies {
        id_assignment: IdAssignment::User,
        ..Policies::default()
    };
    let child = serving.root_poa().create_poa("child", None, policies)?;
    child.manager().activate()?;
    let _own: Echo = child.activate_with_id(b"one", EchoServant)?;
    let server = Server::start(&program, &["server", "--ior-dir"])?;
    let echo: Echo = client.resolve(server.reference("echo")?.trim())?;

    let sent = child.reference_template()?;
    let back = echo.echo_base(Some(sent.as_value()))?.ok_or("null")?;
    let back: AdapterTemplate = back.downcast().ok_or("no template")?;
    assert_eq!(back.read().adapter_name, ["RootPOA", "child"]);
    let made = back.make_object(Echo::REPOSITORY_ID, b"one")?;
    // A reference of the client's ORB, to the object in the other one.
    assert!(made.orb() == &client);
    assert_eq!(Echo::from_object(made).describe()?, "echo");
    echo.shutdown()?;
    serving.shutdown(true)?;
    server.ends_well()
}

/// Conformance: PI - ObjectReferenceTemplate: by way of other ORBs - omniORB
#[test]
fn a_template_comes_back_from_omniorb() -> Tested {
    there_and_back("omni")
}

/// Conformance: PI - ObjectReferenceTemplate: by way of other ORBs - JacORB
#[test]
fn a_template_comes_back_from_jacorb() -> Tested {
    there_and_back("jacorb")
}

/// Conformance: PI - ObjectReferenceTemplate: by way of other ORBs - GlassFish's
#[test]
fn a_template_comes_back_from_glassfish() -> Tested {
    there_and_back("glassfish")
}

/// Conformance: PI - ObjectReferenceTemplate: one of GlassFish's ORB, by a type with its state
#[test]
fn a_template_of_glassfish_goes_back() -> Tested {
    let program = "glassfish-templates";
    if !available(&[program]) {
        return Ok(());
    }
    let orb = listening(Config::default())?;
    let echo = serve_values(&orb)?;
    let factories = orb.value_factories();
    factories.register_type::<GlassFishTemplate>();
    let scratch = Scratch::new()?;
    let file = scratch.write("echo.ior", orb.object_to_string(&echo))?;
    let arguments = ["--echo", &file].map(str::to_owned);
    let (code, output) = programs::run(program, &arguments)?;
    assert_eq!(code, 0, "{output}");
    let lines: Vec<_> = output.lines().filter_map(line).collect();
    assert_eq!(lines.len(), 4, "{output}");
    assert!(lines.iter().all(|it| it.failure.is_none()), "{output}");
    Ok(orb.shutdown(true)?)
}
