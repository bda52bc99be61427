// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated calls in an ORB that is reconfigured.

use std::sync::Arc;

use orbium::{Call, Config, Interface as _, SystemException, lane::Priority};
use orbium_core::{ServedBy, idl_interface};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

use crate::{served, with};

idl_interface! {
    /// Returns the address of its argument.
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

/// Regression: all were marshalled from the first reconfiguration on.
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

/// Regression: calls through references that had been called continued at the priority of their
/// callers.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - after a lane has joined
#[test]
fn they_are_served_at_the_priority_of_a_lane_that_joins() {
    let (served, configurator) = served(Config::default());
    let state = Arc::new(TargetState::default());
    state.on_act(|call, _| Ok(call.priority().map_or(-1, |it| i32::from(it.number()))));
    let servant: Arc<dyn orbium_core::Servant> = Arc::new(<Target as ServedBy<_>>::skeleton(state));
    let poa = served.orb.root_poa();
    let priority = Priority::new(20).unwrap();
    let object = poa.activate_servant_at(None, &servant, priority).unwrap();
    let target = Target::from_object(object);
    assert_eq!(target.act(0), Ok(-1));
    let joins = with(&configurator, &[("lane.joins.priority", "20")]);
    configurator.reconfigure(joins).unwrap();
    assert_eq!(target.act(0), Ok(20));
    served.end();
}
