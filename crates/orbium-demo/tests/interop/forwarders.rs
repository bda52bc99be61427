// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium's checks through servants of other ORBs that take any operation: each passes what it
//! gets on to orbium's servants as a request built at run time, by types from orbium's Interface
//! Repository. So their dynamic skeletons serve our stubs, and our servants their dynamic requests.

use std::path::Path;

use orbium::giop::codeset::NativeCharSet;
use orbium::{Config, Interface as _, Orb};
use orbium_demo::serve;
use orbium_idl::{Options, compile};
use orbium_ifr::InterfaceRepository;

use crate::as_client::all_checks;
use crate::expected::Expected;
use crate::programs::{Scratch, Server, available};
use crate::{Tested, judge, listening};

fn orb() -> Result<Orb, Box<dyn std::error::Error>> {
    listening(Config {
        // As the programs of the others have it.
        native_char_code_set: NativeCharSet::Utf8,
        ..Config::default()
    })
}

fn through(peer: &str) -> Tested {
    let program = format!("{peer}-forwarder");
    if !available(&[&program]) {
        return Ok(());
    }
    let serving = orb()?;
    let served = serve(&serving)?;
    let repository = InterfaceRepository::in_memory(&serving)?;
    let idl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl");
    let scratch = Scratch::new()?;
    let mut arguments = Vec::new();
    for (name, file, object) in [
        ("cube", "cubit.idl", served.cube.as_object()),
        ("receiver", "ttcp.idl", served.receiver.as_object()),
        ("peer", "kitchen.idl", served.peer.as_object()),
    ] {
        let compilation = compile(&Options::new(), &idl.join(file));
        repository.load(&compilation.model.ok_or("bad IDL")?)?;
        let path = scratch.write(&format!("{name}.ior"), serving.object_to_string(object))?;
        arguments.extend([format!("--{name}"), path]);
    }
    arguments.push("--ior-dir".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let forwarder = Server::start(&program, &arguments)?;

    let calling = orb()?;
    let (_, lines) = all_checks(&calling, &forwarder)?;
    let name = format!("orbium → {program} → orbium");
    // A forwarder is a server and a client, and itself.
    let expected = Expected::read("orbium", peer, "1.2")?
        .and(Expected::read(peer, "orbium", "1.2")?)
        .and(Expected::read("orbium", &program, "1.2")?);
    judge(&name, &lines, &expected, 100)?;
    calling.shutdown(true)?;
    // `Cube::shutdown` may have been faster, which is an exception here.
    let _ = serving.run();
    Ok(())
}

/// Conformance: dynamic - requests: against other ORBs - omniORB's against our servants, by types from our repository
/// Conformance: dynamic - servants: against other ORBs - omniORB's serve every check of our stubs
#[test]
fn dynamic_servants_and_requests_of_omniorb() -> Tested {
    through("omni")
}

/// Conformance: dynamic - requests: against other ORBs - JacORB's against our servants, by types from our repository
/// Conformance: dynamic - servants: against other ORBs - JacORB's serve every check of our stubs
#[test]
fn dynamic_servants_and_requests_of_jacorb() -> Tested {
    through("jacorb")
}
