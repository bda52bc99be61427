// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client with stubs, the object in front, and the servant behind it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use dynamic::Front;
use orbium::{Interface as _, Orb};
use orbium_demo::cubit::{Cube, TooBigError};
use orbium_dynamic::{Definitions, dynamic_servant};
use orbium_idl::{Options, compile};

#[test]
fn every_call_is_shown_and_passed_on() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let behind = orbium_demo::serve(&server)?.cube;

    let gateway = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let idl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl/cubit.idl");
    let definitions = Definitions::new(compile(&Options::new(), &idl).model.ok_or("bad IDL")?);
    let behind = gateway.string_to_object(&server.object_to_string(&behind))?;
    let shown = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&shown);
    let front = Front::new(behind.ok_or("nil")?, &definitions, move |line| {
        lines.lock().unwrap().push(line);
    })?;
    let poa = gateway.root_poa();
    let front = poa.activate_servant(&dynamic_servant(front)?)?;
    poa.manager().activate()?;

    let client = Orb::builder().build()?;
    let cube: Cube = client.resolve(&gateway.object_to_string(&front))?;
    assert!(cube.as_object().is_a("IDL:Cubit/Cube:1.0")?);
    assert_eq!(cube.cube_long(3)?, 27);
    cube.noop()?;
    assert!(cube.calls()? > 0);
    assert!(matches!(cube.cube_long(2000), Err(TooBigError::TooBig(_))));

    let shown = shown.lock().unwrap();
    assert_eq!(shown[0], "cube_long(v: 3) -> result: 27");
    assert_eq!(shown[1], "noop() -> ");
    assert!(
        shown[2].starts_with("_get_calls() -> result: \""),
        "{shown:?}"
    );
    let raised = "cube_long(v: 2000) raised IDL:Cubit/TooBig:1.0 {\"limit\":1290,";
    assert!(shown[3].starts_with(raised), "{shown:?}");
    Ok(())
}
