// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stubs of other ORBs against servants that take any operation: each passes what it gets
//! on as a request built at run time, so every value goes through both dynamic interfaces.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use orbium::giop::codeset::NativeCharSet;
use orbium::{Completion, Config, ExceptionKind, Interface as _, ObjectRef, Orb, SystemException};
use orbium_demo::{serve, serve_values};
use orbium_dynamic::{
    Definitions, DynamicImplementation, Request, RequestError, ServerRequest, Signature,
    dynamic_servant,
};
use orbium_idl::{Options, compile};

use crate::as_server::line;
use crate::expected::Expected;
use crate::programs::{self, Scratch, available};
use crate::{Line, Tested, judge, listening};

/// A servant that passes every request on to an object.
struct Forwarder {
    object: ObjectRef,
    /// By their names on the wire.
    operations: HashMap<String, Signature>,
    /// Repository ids of the interface and its bases.
    interfaces: HashSet<String>,
}

impl Forwarder {
    /// In front of an object of an interface that an IDL file of the project defines.
    fn before(object: &ObjectRef, file: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl");
        let compilation = compile(&Options::new(), &path.join(file));
        let definitions = Definitions::new(compilation.model.ok_or("bad IDL")?);
        let interface = definitions.interface(&object.ior().type_id);
        let interface = interface.ok_or("no interface")?;
        let mut operations = HashMap::new();
        for name in definitions.operation_names(interface) {
            for writes in [false, true] {
                if let Ok(signature) = definitions.signature(interface, name, writes) {
                    operations.insert(signature.wire_name.clone(), signature);
                }
            }
        }
        let mut interfaces = HashSet::new();
        for base in definitions.interfaces() {
            if object.is_a(&base.repository_id)? {
                interfaces.insert(base.repository_id.clone());
            }
        }
        Ok(Self {
            object: object.clone(),
            operations,
            interfaces,
        })
    }
}

impl DynamicImplementation for Forwarder {
    fn primary_interface(&self) -> String {
        self.object.ior().type_id.clone()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.interfaces.contains(repository_id)
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        let unknown = || SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
        let signature = self.operations.get(&*request.operation());
        let signature = signature.ok_or_else(unknown)?;
        request.arguments(&signature.parameters)?;
        let arguments = request.received()?;
        let mut call = Request::with_arguments(&self.object, signature, arguments)?;
        if !signature.contexts.is_empty() {
            call.set_contexts(request.contexts()?)?;
        }
        if signature.oneway {
            return call.send_oneway();
        }
        match call.invoke() {
            Ok(()) => {}
            Err(RequestError::User(exception)) => return request.set_exception(exception),
            Err(error) => return Err(error.into()),
        }
        let unread = |error| SystemException::from_cdr(error, Completion::Maybe);
        request.set_results(call.results().map_err(unread)?)
    }
}

fn against(peer: &str) -> Tested {
    let program = format!("{peer}-client");
    if !available(&[&program]) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let orb = listening(Config {
        // As omniORB's programs here have it.
        native_char_code_set: NativeCharSet::Utf8,
        ..Config::default()
    })?;
    let served = serve(&orb)?;
    let mut arguments = vec!["--shutdown".to_owned()];
    for (name, file, object) in [
        ("cube", "cubit.idl", served.cube.as_object()),
        ("receiver", "ttcp.idl", served.receiver.as_object()),
        ("peer", "kitchen.idl", served.peer.as_object()),
    ] {
        let servant = dynamic_servant(Forwarder::before(object, file)?)?;
        let front = orb.root_poa().activate_servant(&servant)?;
        let path = scratch.write(&format!("{name}.ior"), orb.object_to_string(&front))?;
        arguments.extend([format!("--{name}"), path]);
    }
    let (_, output) = programs::run(&program, &arguments)?;
    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let expected = Expected::read(peer, "orbium", "1.2")?;
    judge(
        &format!("{peer} → dynamic servants"),
        &lines,
        &expected,
        100,
    )?;
    // `Cube::shutdown` may have been faster, which is an exception here.
    let _ = orb.run();
    Ok(())
}

/// Conformance: dynamic - servants: against other ORBs - every check of omniORB's stubs
#[test]
fn stubs_of_omniorb_call_dynamic_servants() -> Tested {
    against("omni")
}

/// Conformance: dynamic - servants: against other ORBs - every check of JacORB's stubs
#[test]
fn stubs_of_jacorb_call_dynamic_servants() -> Tested {
    against("jacorb")
}

fn values_of(peer: &str) -> Tested {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let echo = serve_values(&orb)?;
    let servant = dynamic_servant(Forwarder::before(echo.as_object(), "values.idl")?)?;
    let front = orb.root_poa().activate_servant(&servant)?;
    let scratch = Scratch::new()?;
    let file = scratch.write("echo.ior", orb.object_to_string(&front))?;
    let arguments = ["client", "--echo", &file].map(str::to_owned);
    let (_, output) = programs::run(&program, &arguments)?;
    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let expected = Expected::read(peer, "orbium", "1.2")?;
    let name = format!("values, {peer} → a dynamic servant");
    judge(&name, &lines, &expected, 25)?;
    Ok(orb.shutdown(true)?)
}

/// Conformance: dynamic - servants: against other ORBs - values, also shared by arguments, from omniORB
#[test]
fn values_of_omniorb_pass_dynamic_servants() -> Tested {
    values_of("omni")
}

/// Conformance: dynamic - servants: against other ORBs - values, also shared by arguments, from JacORB
#[test]
fn values_of_jacorb_pass_dynamic_servants() -> Tested {
    values_of("jacorb")
}
