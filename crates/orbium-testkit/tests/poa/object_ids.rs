// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ids that adapters assign.

use orbium::{
    ExceptionKind,
    poa::{Lifespan, Policies},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, reach};

use crate::fixture::{child, servant};

/// Each adapter counted its objects from one: a reference to an object of the first one led to another
/// object of the second.
#[test]
fn a_persistent_adapter_assigns_no_id_that_an_earlier_one_at_its_path_has_assigned() {
    let served = Served::new(Default::default());
    let client = client();
    let durable = Policies {
        lifespan: Lifespan::Persistent,
        ..Policies::default()
    };
    let first = child(&served, "durable", durable.clone());
    let object = first.activate_servant(&servant().0).unwrap();
    let earlier = first.reference_to_id(&object).unwrap();
    let target: Target = reach(&client, &served.orb.object_to_string(&object));
    target.noop().unwrap();
    first.destroy(true).unwrap();
    let second = child(&served, "durable", durable);
    let object = second.activate_servant(&servant().0).unwrap();
    assert_ne!(second.reference_to_id(&object).unwrap(), earlier);
    assert_ne!(&*second.next_object_id().unwrap(), &*earlier);
    let refused = target.noop().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ObjectNotExist);
    served.end();
}
