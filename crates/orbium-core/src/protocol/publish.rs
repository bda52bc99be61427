// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the channels an ORB serves to the profiles of its references.

use orbium_giop::codeset::CodeSetComponentInfo;
use orbium_giop::{IiopProfile, TaggedComponent, TaggedProfile, UiopProfile, Version, component};
use orbium_transport::HostPort;

use super::Channel;

/// A profile for each protocol that is served, in the order of the channels;
/// all IIOP addresses share one.
pub(crate) fn profiles(channels: &[Channel], object_key: &[u8], minor: u8) -> Vec<TaggedProfile> {
    let mut profiles = Vec::new();
    let version = Version { major: 1, minor };
    let mut internet = channels.iter().filter_map(plain_internet);
    if let Some(first) = internet.next() {
        let mut components = common_components(minor);
        if minor >= 2 {
            let alternate = |at: HostPort| TaggedComponent::alternate_address(&at.host, at.port);
            components.extend(internet.map(alternate));
        }
        let profile = IiopProfile {
            version,
            host: first.host,
            port: first.port,
            object_key: object_key.to_vec(),
            components,
        };
        profiles.push(profile.encode());
    }
    for channel in channels {
        if channel.scheme == "uiop" && channel.messaging.is_empty() {
            let profile = UiopProfile {
                version,
                rendezvous_point: channel.address.clone(),
                object_key: object_key.to_vec(),
                components: common_components(minor),
            };
            profiles.push(profile.encode());
        }
    }
    profiles
}

/// The components that every profile has, as far as its version has any.
fn common_components(minor: u8) -> Vec<TaggedComponent> {
    if minor == 0 {
        return Vec::new();
    }
    vec![
        TaggedComponent::orb_type(component::ORB_TYPE_ORBIUM),
        TaggedComponent::code_sets(&CodeSetComponentInfo::orbium()),
    ]
}

fn plain_internet(channel: &Channel) -> Option<HostPort> {
    let is_plain = channel.scheme == "iiop" && channel.messaging.is_empty();
    // What a transport says of itself can be read.
    is_plain.then(|| channel.address.parse().ok()).flatten()
}
