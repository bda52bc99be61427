// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants as `orbium idl stub` writes them (`build.rs`): of every type there is,
//! of several files with several modules, and of names that are hard on Rust. They
//! compile without a warning, and their operations are not there yet.

use std::error::Error;

use orbium::{ExceptionKind, Interface, Orb};

// The largest file of all: generated code that is compiled once.
use super::names::generated as names;

#[allow(clippy::all, clippy::pedantic, clippy::restriction)]
mod cubit {
    orbium::include_idl!("cubit");
}
mod kitchen {
    pub(super) use orbium_testkit::kitchen;
}

/// The servants of the two files cubit.idl and ttcp.idl.
#[deny(warnings)]
#[allow(dead_code, unreachable_pub)]
mod cubit_servants {
    include!(concat!(env!("OUT_DIR"), "/cubit_stub.rs"));
}

/// Those of kitchen.idl: inherited interfaces, borrowed results, `inout`, `raises`.
#[deny(warnings)]
#[allow(dead_code, unreachable_pub)]
mod kitchen_servants {
    include!(concat!(env!("OUT_DIR"), "/kitchen_stub.rs"));
}

/// Those of hostile names, a few hundred: not each has a clean case.
#[deny(warnings)]
#[allow(dead_code, non_camel_case_types, unreachable_pub)]
mod names_servants {
    include!(concat!(env!("OUT_DIR"), "/names_stub.rs"));
}

/// What a reference to a servant is called with, through a socket.
fn remote<I: Interface>(server: &Orb, client: &Orb, reference: &I) -> Result<I, Box<dyn Error>> {
    let text = server.object_to_string(reference);
    Ok(orbium::narrow(client.string_to_object(&text)?)?)
}

#[test]
fn servants_to_be_filled_in_serve_and_are_not_there_yet() -> Result<(), Box<dyn Error>> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let client = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let root = server.root_poa();
    root.manager().activate()?;

    let cube: cubit::cubit::Cube = root.activate(cubit_servants::CubeImpl)?;
    let cube = remote(&server, &client, &cube)?;
    let refused = cube.cube_long(3).unwrap_err();
    assert!(
        matches!(refused, cubit::cubit::TooBigError::System(e) if e.kind == ExceptionKind::Unknown),
        "{refused}"
    );

    // Its own operation, and one of a base.
    let peer: kitchen::kitchen::Peer = root.activate(kitchen_servants::PeerImpl)?;
    let peer = remote(&server, &client, &peer)?;
    assert_eq!(peer.ident().unwrap_err().kind, ExceptionKind::Unknown);
    let base: kitchen::kitchen::Base = peer.into();
    assert_eq!(base.ping().unwrap_err().kind, ExceptionKind::Unknown);

    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}
