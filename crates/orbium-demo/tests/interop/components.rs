// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects of other ORBs, asked for the component that they are facets of.

use orbium::{Interface, Orb};
use orbium_demo::cubit::Cube;

use crate::Tested;
use crate::programs::{Server, available};

/// Conformance: ORB - `_component` - of JacORB's objects, which call it `_get_component`
#[test]
fn an_object_of_jacorb_is_no_facet_of_a_component() -> Tested {
    if !available(&["jacorb-server"]) {
        return Ok(());
    }
    let server = Server::start("jacorb-server", &["--ior-dir"])?;
    let orb = Orb::builder().build()?;
    let cube: Cube = orb.resolve(server.reference("cube")?.trim())?;
    assert_eq!(cube.as_object().component()?, None);
    cube.shutdown()?;
    server.ends_well()
}
