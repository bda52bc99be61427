// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies published in references.

use orbium_giop::real_time::PublishedPolicies;
use orbium_giop::{Ior, profile};

use super::{ProtocolPolicy, offers};

/// The policies of a reference: those of the first profile that has any.
pub fn published_policies(ior: &Ior) -> PublishedPolicies {
    let none = PublishedPolicies::default();
    for offer in &offers(ior) {
        let found = PublishedPolicies::find(&offer.components);
        if found != none {
            return found;
        }
    }
    none
}

/// The ClientProtocolPolicy in a reference, as far as tags identify its protocols.
pub fn exposed_protocols(published: &PublishedPolicies) -> Option<ProtocolPolicy> {
    let protocols = published.client_protocols.as_ref()?;
    let mut all = Vec::<String>::new();
    for protocol in &protocols.0 {
        for name in names_of_profile(protocol.protocol_type) {
            all.push((*name).to_owned());
        }
    }
    Some(ProtocolPolicy::of(all))
}

/// The protocols with profiles of that tag; empty for a tag that references of an ORB do not have.
#[must_use]
pub fn names_of_profile(tag: u32) -> &'static [&'static str] {
    match tag {
        profile::TAG_INTERNET_IOP => &["iiop", "ssliop"],
        profile::TAG_TAO_UIOP => &["uiop"],
        profile::TAG_TAO_DIOP => &["diop"],
        profile::TAG_ORBIUM_IOP => &["inproc", "shmiop"],
        _ => &[],
    }
}
