// SPDX-License-Identifier: MIT OR Apache-2.0
//! RIOP's service context at servers that do not know it.

use std::time::Duration;

use orbium::{Config, Orb};
use orbium_demo::kitchen::Peer;
use orbium_qos::{CommunicationClass, Priority, Qos, QosObject};

use crate::Tested;
use crate::programs::{Server, available};

/// Calls to a server of another ORB with each class; between them, plain ones.
fn called_with_each_class(peer: &str) -> Tested {
    let program = format!("{peer}-server");
    if !available(&[&program]) {
        return Ok(());
    }
    let server = Server::start(&program, &["--ior-dir"])?;
    let orb = Orb::new(Config::default())?;
    let plain: Peer = orbium::narrow(orb.string_to_object(server.reference("peer")?.trim())?)?;
    assert_eq!(plain.published_qos(), Qos::NONE);
    for class in CommunicationClass::ALL {
        let target = plain.with_qos(&Qos {
            class: Some(class),
            priority: Priority::new(100),
            period: Some(Duration::from_millis(1)),
            deadline: Some(Duration::from_secs(60)),
            bandwidth: Some(100 << 20),
            ..Qos::NONE
        })?;
        for number in 0..10 {
            assert_eq!(target.r#match(number, 3)?, number + 3, "{}", class.name());
        }
        assert_eq!(plain.r#match(1, 1)?, 2);
    }
    Ok(orb.shutdown(true)?)
}

/// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve -
/// omniORB as server
#[test]
fn omniorb_serves_requests_with_riop() -> Tested {
    called_with_each_class("omni")
}

/// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve -
/// JacORB as server
#[test]
fn jacorb_serves_requests_with_riop() -> Tested {
    called_with_each_class("jacorb")
}
