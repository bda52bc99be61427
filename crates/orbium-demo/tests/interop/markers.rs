// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers and negotiations reach servers that have never heard of them.

use orbium::{Config, Orb, lane::Priority};
use orbium_demo::kitchen::Peer;
use orbium_rt::binding::BindError;
use orbium_rt::{Offer, RtObject};

use crate::Tested;
use crate::programs::{Server, available};

fn serves_as_ever(peer: &str) -> Tested {
    let program = format!("{peer}-server");
    if !available(&[&program]) {
        return Ok(());
    }
    let server = Server::start(&program, &["--ior-dir"])?;
    let orb = Orb::new(Config::default())?;
    let target = orb.string_to_object(server.reference("peer")?.trim())?;
    let target: Peer = orbium::narrow(target)?;
    let priority = Priority::new(100).ok_or("no priority")?;
    let marked = target.with_dedicated_thread(Some(priority));
    // The first goes with code sets beside the marker.
    for number in 0..3 {
        assert_eq!(marked.r#match(number, 3)?, number + 3);
    }
    assert_eq!(marked.dedication(), None);
    let refused = target.bind(&Offer::new(priority, 10)).unwrap_err();
    assert_eq!(refused, BindError::NotSpoken);
    assert_eq!(target.r#match(2, 3)?, 5);
    Ok(orb.shutdown(true)?)
}

/// Conformance: RT GOPI 5.1 - markers: ORBs that do not know them serve
#[test]
fn omniorb_serves_marked_connections_as_ever() -> Tested {
    serves_as_ever("omni")
}

/// Conformance: RT GOPI 5.1 - markers: ORBs that do not know them serve
#[test]
fn jacorb_serves_marked_connections_as_ever() -> Tested {
    serves_as_ever("jacorb")
}
