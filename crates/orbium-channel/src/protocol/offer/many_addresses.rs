// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with many addresses.

use orbium_giop::IiopProfile;

use super::*;

fn reference(components: Vec<TaggedComponent>) -> Ior {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "first.test".to_owned(),
        port: 1,
        object_key: b"key".to_vec(),
        components,
    };
    Ior {
        type_id: String::new(),
        profiles: vec![profile.encode()],
    }
}

/// Regression: each offer had a copy of all components, and a reference of a megabyte took
/// gigabytes.
#[test]
fn a_reference_with_a_thousand_addresses_offers_few_that_share_what_it_says() {
    let address = |n: u16| TaggedComponent::alternate_address("next.test", n);
    let offers = offers(&reference((1..=1_000).map(address).collect()));
    assert_eq!(offers.len(), MAX_OFFERS);
    let addresses = offers.iter().map(|it| it.channel.address.as_str());
    let expected = ["first.test:1", "next.test:1", "next.test:2"];
    assert!(addresses.take(3).eq(expected));
    let first = &offers[0];
    assert_eq!(first.components.len(), 1_000);
    let is_shared = |it: &Rc<Offer>| {
        Rc::ptr_eq(&it.components, &first.components)
            && Rc::ptr_eq(&it.object_key, &first.object_key)
    };
    assert!(offers.iter().all(is_shared));
}
