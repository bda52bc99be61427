// SPDX-License-Identifier: MIT OR Apache-2.0
//! What references say of policies.

use orbium_giop::real_time::PublishedPolicies;
use orbium_giop::{Ior, profile};

use super::{ProtocolPolicy, offers};

/// The policies that a reference has: those of the first profile that has any.
pub(crate) fn published_policies(ior: &Ior) -> PublishedPolicies {
    let of_profiles = offers(ior).into_iter();
    let mut found = of_profiles.map(|offer| PublishedPolicies::find(&offer.components));
    let none = PublishedPolicies::default();
    found.find(|it| *it != none).unwrap_or(none)
}

/// The ClientProtocolPolicy that a reference has, as far as its protocols are
/// told apart by their tags.
pub(crate) fn exposed_protocols(published: &PublishedPolicies) -> Option<ProtocolPolicy> {
    let protocols = published.client_protocols.as_ref()?;
    let names = protocols.0.iter().flat_map(|it| names(it.protocol_type));
    Some(ProtocolPolicy::new(names.copied()))
}

/// The protocols whose profiles have a tag.
fn names(tag: u32) -> &'static [&'static str] {
    match tag {
        profile::TAG_INTERNET_IOP => &["iiop", "ssliop"],
        profile::TAG_TAO_UIOP => &["uiop"],
        profile::TAG_TAO_DIOP => &["diop"],
        profile::TAG_ORBIUM_IOP => &["inproc", "shmiop"],
        _ => &[],
    }
}
