// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls within an ORB that is reconfigured.

use orbium::{Call, Config, SystemException};
use orbium_core::idl_interface;

use crate::{served, with};

idl_interface! {
    /// Returns where its argument lies.
    pub struct Place = "IDL:Place:1.0";
    operations by_octet(0, 112, &[0]);
    pub trait PlaceServant;

    fn put(data: &[u8]) -> Result<u64> = "put";
}

struct Servant;

impl PlaceServant for Servant {
    fn put(&self, _: &Call<'_>, data: &[u8]) -> Result<u64, SystemException> {
        Ok(data.as_ptr().addr() as u64)
    }
}

/// From the first reconfiguration on they were once all marshalled.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - after a reconfiguration
#[test]
fn their_arguments_are_still_lent() {
    let (served, configurator) = served(Config::default());
    let before: Place = served.orb.root_poa().activate(Servant).unwrap();
    let data = [5; 64];
    let place = data.as_ptr().addr() as u64;
    assert_eq!(before.put(&data), Ok(place));
    let shared = with(&configurator, &[("client_strategy", "io-thread")]);
    configurator.reconfigure(shared).unwrap();
    assert_eq!(before.put(&data), Ok(place));
    let after: Place = served.orb.root_poa().activate(Servant).unwrap();
    assert_eq!(after.put(&data), Ok(place));
    served.end();
}
