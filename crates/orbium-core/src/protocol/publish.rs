// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the channels an ORB serves to the profiles of its references.

use orbium_giop::codeset::CodeSetComponentInfo;
use orbium_giop::profile::TAG_TAO_DIOP;
use orbium_giop::{
    IiopProfile, OrbiumProfile, TaggedComponent, TaggedProfile, UiopProfile, Version, component,
};
use orbium_transport::HostPort;

use super::{Channel, host};

/// What TLS gives, in association options: integrity, confidentiality and trust
/// in the target and, where it is asked for, in the client.
const TLS_OPTIONS: u16 = 0x66;
/// No protection at all.
const PLAIN_OPTION: u16 = 1;

/// The profiles of a reference to the object with that key, in the order of the
/// channels; with more components than every reference has. All plain IIOP addresses share one, which also tells omniORB of a
/// Unix-domain socket and everybody of TLS on the same host.
pub(crate) fn profiles(
    channels: &[Channel],
    object_key: &[u8],
    minor: u8,
    more: Vec<TaggedComponent>,
) -> Vec<TaggedProfile> {
    let mut common = vec![
        TaggedComponent::orb_type(component::ORB_TYPE_ORBIUM),
        TaggedComponent::code_sets(&CodeSetComponentInfo::orbium()),
    ];
    common.extend(more);
    let publication = Publication {
        channels,
        object_key,
        version: Version { major: 1, minor },
        common,
    };
    publication.profiles()
}

/// The same for an object of another ORB, whose components are given; those
/// that say where it is are left out.
#[cfg(feature = "bridge")]
pub(crate) fn profiles_with(
    channels: &[Channel],
    object_key: &[u8],
    minor: u8,
    components: &[TaggedComponent],
) -> Vec<TaggedProfile> {
    let about_the_object = |component: &&TaggedComponent| !WHERE.contains(&component.tag);
    let publication = Publication {
        channels,
        object_key,
        version: Version { major: 1, minor },
        common: components
            .iter()
            .filter(about_the_object)
            .cloned()
            .collect(),
    };
    publication.profiles()
}

/// Components that say where an object is.
#[cfg(feature = "bridge")]
const WHERE: [u32; 6] = [
    component::TAG_ALTERNATE_IIOP_ADDRESS,
    component::TAG_SSL_SEC_TRANS,
    component::TAG_OMNIORB_UNIX_TRANS,
    component::TAG_ORBIUM_HOST,
    component::TAG_TLS_SEC_TRANS,
    component::TAG_TAO_ENDPOINTS,
];

struct Publication<'a> {
    channels: &'a [Channel],
    object_key: &'a [u8],
    version: Version,
    /// Components of every profile.
    common: Vec<TaggedComponent>,
}

impl Publication<'_> {
    fn profiles(&self) -> Vec<TaggedProfile> {
        let mut profiles = Vec::new();
        let mut internet = false;
        for channel in self.channels {
            let profile = if channel.is_giop_over("iiop") {
                match std::mem::replace(&mut internet, true) {
                    false => self.internet(),
                    true => None,
                }
            } else if channel.is_giop_over("ssliop") {
                self.tls_alone(channel)
            } else if channel.is_giop_over("uiop") {
                Some(self.unix(channel))
            } else if channel.is_giop_over("diop") {
                self.datagrams(channel)
            } else {
                Some(self.own(channel))
            };
            if let Some(profile) = profile {
                profiles.push(profile);
            }
        }
        let says_internet = |profile: &TaggedProfile| profile.tag == 0;
        if !internet
            && !profiles.iter().any(says_internet)
            && let Some(profile) = self.unix_for_omniorb()
        {
            profiles.push(profile);
        }
        profiles
    }

    /// Where GIOP over an internet transport is served.
    fn over(&self, scheme: &str) -> Vec<HostPort> {
        let mut addresses = Vec::new();
        for channel in self.channels {
            if let Some(at) = channel.host_port_over(scheme) {
                addresses.push(at);
            }
        }
        addresses
    }

    /// The components that every profile has, as far as its version has any.
    fn common_components(&self) -> Vec<TaggedComponent> {
        if self.version.minor == 0 {
            return Vec::new();
        }
        self.common.clone()
    }

    fn iiop(&self, at: HostPort, more: Vec<TaggedComponent>) -> TaggedProfile {
        let mut components = self.common_components();
        if self.version.minor > 0 {
            components.extend(more);
        }
        let profile = IiopProfile {
            version: self.version,
            host: at.host,
            port: at.port,
            object_key: self.object_key.to_vec(),
            components,
        };
        profile.encode()
    }

    /// All plain addresses.
    fn internet(&self) -> Option<TaggedProfile> {
        let mut addresses = self.over("iiop").into_iter();
        let first = addresses.next()?;
        let mut more = Vec::new();
        if self.version.minor >= 2 {
            for at in addresses {
                more.push(TaggedComponent::alternate_address(&at.host, at.port));
            }
            more.append(&mut self.omniorb_unix());
        }
        if let Some(at) = self.tls_beside(&first) {
            more.push(ssl(at.port, TLS_OPTIONS | PLAIN_OPTION, 0));
        }
        Some(self.iiop(first, more))
    }

    /// The TLS address that a plain one announces.
    fn tls_beside(&self, plain: &HostPort) -> Option<HostPort> {
        let tls = self.over("ssliop");
        tls.into_iter().find(|at| at.host == plain.host)
    }

    /// A TLS address that no plain one announces: in a profile with port 0. As
    /// IIOP 1.0 has no components to say so in, an ORB that speaks no more than
    /// that has it in a profile of our own.
    fn tls_alone(&self, channel: &Channel) -> Option<TaggedProfile> {
        if self.version.minor == 0 {
            return Some(self.own(channel));
        }
        let at = channel.host_port_over("ssliop")?;
        let plain = self.over("iiop");
        let announced = plain.first().and_then(|plain| self.tls_beside(plain));
        if announced.as_ref() == Some(&at) {
            return None;
        }
        let none = HostPort {
            host: at.host,
            port: 0,
        };
        Some(self.iiop(none, vec![ssl(at.port, TLS_OPTIONS, TLS_OPTIONS & !0x40)]))
    }

    /// UDP, as TAO has it.
    fn datagrams(&self, channel: &Channel) -> Option<TaggedProfile> {
        let at = channel.host_port_over("diop")?;
        let profile = IiopProfile {
            version: self.version,
            host: at.host,
            port: at.port,
            object_key: self.object_key.to_vec(),
            components: self.common_components(),
        };
        Some(profile.encode_as(TAG_TAO_DIOP))
    }

    /// A protocol that no other ORB knows.
    fn own(&self, channel: &Channel) -> TaggedProfile {
        let mut components = self.common_components();
        if let Some(id) = host::identity(&channel.scheme) {
            components.push(TaggedComponent::orbium_host(id));
        }
        let profile = OrbiumProfile {
            version: self.version,
            scheme: channel.scheme.clone(),
            messaging: channel.messaging.clone(),
            address: channel.address.clone(),
            object_key: self.object_key.to_vec(),
            components,
        };
        profile.encode()
    }

    fn unix(&self, channel: &Channel) -> TaggedProfile {
        let profile = UiopProfile {
            version: self.version,
            rendezvous_point: channel.address.clone(),
            object_key: self.object_key.to_vec(),
            components: self.common_components(),
        };
        profile.encode()
    }

    fn omniorb_unix(&self) -> Vec<TaggedComponent> {
        let mut components = Vec::new();
        for channel in self.channels {
            if channel.is_giop_over("uiop") {
                components.push(TaggedComponent::omniorb_unix(
                    host::name(),
                    &channel.address,
                ));
            }
        }
        components
    }

    /// A profile that only says where the Unix-domain sockets are.
    fn unix_for_omniorb(&self) -> Option<TaggedProfile> {
        let more = self.omniorb_unix();
        let none = HostPort {
            host: host::name().to_owned(),
            port: 0,
        };
        (!more.is_empty() && self.version.minor > 0).then(|| self.iiop(none, more))
    }
}

fn ssl(port: u16, supports: u16, requires: u16) -> TaggedComponent {
    TaggedComponent::encapsulated(component::TAG_SSL_SEC_TRANS, |writer| {
        writer.write_u16(supports);
        writer.write_u16(requires);
        writer.write_u16(port);
    })
}
