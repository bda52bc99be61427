// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the channels an ORB serves to the profiles of its references.

use orbium_giop::codeset::{CodeSetComponentInfo, NativeCharSet};
use orbium_giop::profile::{TAG_INTERNET_IOP, TAG_ORBIUM_IOP, TAG_TAO_DIOP, TAG_TAO_UIOP};
use orbium_giop::{
    IiopProfile, OrbiumProfile, TaggedComponent, TaggedProfile, UiopProfile, Version, component,
};
use orbium_transport::HostPort;

use super::{Channel, host, names_of_profile};

/// The association options of TLS: integrity, confidentiality and trust in the target and, if
/// requested, in the client.
const TLS_OPTIONS: u16 = 0x66;
/// No protection at all.
const PLAIN_OPTION: u16 = 1;

/// Components of a reference in addition to those that every reference has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileComponents {
    /// Components of every profile with a version that permits components.
    pub of_all: Vec<TaggedComponent>,
    /// Profile tags, each with a component of the profiles with that tag.
    pub of_tags: Vec<(u32, TaggedComponent)>,
}

impl ProfileComponents {
    /// Adds one for the profiles with that tag; `false` if there are no such profiles.
    pub fn add(&mut self, component: TaggedComponent, profile_tag: u32) -> bool {
        let may_be = !names_of_profile(profile_tag).is_empty();
        if may_be {
            self.of_tags.push((profile_tag, component));
        }
        may_be
    }
}

impl From<Vec<TaggedComponent>> for ProfileComponents {
    fn from(of_all: Vec<TaggedComponent>) -> Self {
        Self {
            of_all,
            of_tags: Vec::new(),
        }
    }
}

/// The profiles of a reference to the object with that key, in the order of the
/// channels; with more components than every reference has. All plain IIOP addresses
/// share one profile, with components for the Unix-domain socket (omniORB's) and for
/// TLS on the same host.
pub fn profiles(
    channels: &[Channel],
    object_key: &[u8],
    minor: u8,
    native: NativeCharSet,
    more: impl Into<ProfileComponents>,
) -> Vec<TaggedProfile> {
    let mut more = more.into();
    let mut common = vec![
        TaggedComponent::orb_type(component::ORB_TYPE_ORBIUM),
        TaggedComponent::code_sets(&CodeSetComponentInfo::orbium(native)),
    ];
    common.append(&mut more.of_all);
    let publication = Publication {
        channels,
        object_key,
        version: Version { major: 1, minor },
        common,
        of_tags: &more.of_tags,
    };
    publication.profiles()
}

/// The same for an object of another ORB with these components, without those that contain
/// addresses.
pub fn profiles_with(
    channels: &[Channel],
    object_key: &[u8],
    minor: u8,
    components: &[TaggedComponent],
) -> Vec<TaggedProfile> {
    let about_the_object =
        |component: &&TaggedComponent| !ADDRESS_COMPONENTS.contains(&component.tag);
    let publication = Publication {
        channels,
        object_key,
        version: Version { major: 1, minor },
        common: components
            .iter()
            .filter(about_the_object)
            .cloned()
            .collect(),
        of_tags: &[],
    };
    publication.profiles()
}

/// Components that contain addresses of an object.
const ADDRESS_COMPONENTS: [u32; 6] = [
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
    /// And of the profiles with a tag.
    of_tags: &'a [(u32, TaggedComponent)],
}

impl Publication<'_> {
    fn profiles(&self) -> Vec<TaggedProfile> {
        let mut profiles = Vec::new();
        let mut internet = false;
        for channel in self.channels {
            let profile = if !channel.messaging.is_empty() {
                Some(self.own(channel))
            } else {
                match channel.scheme.as_str() {
                    "iiop" => {
                        if std::mem::replace(&mut internet, true) {
                            None
                        } else {
                            self.internet()
                        }
                    }
                    "ssliop" => self.tls_alone(channel),
                    "uiop" => Some(self.unix(channel)),
                    "diop" => self.datagrams(channel),
                    _ => Some(self.own(channel)),
                }
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

    /// The components of a profile with that tag, if its version has any, and more.
    fn components(&self, tag: u32, mut more: Vec<TaggedComponent>) -> Vec<TaggedComponent> {
        if self.version.minor == 0 {
            return Vec::new();
        }
        let mut components = self.common.clone();
        components.append(&mut more);
        let of_tag = self.of_tags.iter().filter(|(of, _)| *of == tag);
        components.extend(of_tag.map(|(_, component)| component.clone()));
        components
    }

    fn iiop(&self, tag: u32, at: HostPort, more: Vec<TaggedComponent>) -> TaggedProfile {
        let profile = IiopProfile {
            version: self.version,
            host: at.host,
            port: at.port,
            object_key: self.object_key.to_vec(),
            components: self.components(tag, more),
        };
        profile.encode_as(tag)
    }

    /// All plain addresses.
    fn internet(&self) -> Option<TaggedProfile> {
        let mut first = None;
        let mut more = Vec::new();
        for channel in self.channels {
            match channel.host_port_over("iiop") {
                Some(at) if first.is_none() => first = Some(at),
                Some(at) if self.version.minor >= 2 => {
                    more.push(TaggedComponent::alternate_address(&at.host, at.port));
                }
                _ => {}
            }
        }
        let first = first?;
        if self.version.minor >= 2 {
            self.add_omniorb_unix(&mut more);
        }
        if let Some(port) = self.tls_on_host(&first.host) {
            more.push(ssl(port, TLS_OPTIONS | PLAIN_OPTION, 0));
        }
        Some(self.iiop(TAG_INTERNET_IOP, first, more))
    }

    /// The port for TLS that a plain address of that host announces.
    fn tls_on_host(&self, host: &str) -> Option<u16> {
        for channel in self.channels {
            match channel.host_port_over("ssliop") {
                Some(at) if at.host == host => return Some(at.port),
                _ => {}
            }
        }
        None
    }

    /// Whether a plain address announces that one for TLS.
    fn is_announced(&self, tls: &HostPort) -> bool {
        for channel in self.channels {
            if let Some(plain) = channel.host_port_over("iiop") {
                return plain.host == tls.host && self.tls_on_host(&plain.host) == Some(tls.port);
            }
        }
        false
    }

    /// A TLS address that no plain one announces: in a profile with port 0. As IIOP 1.0 has no
    /// components to announce it, an ORB limited to that version publishes it in an orbium profile.
    #[cold]
    fn tls_alone(&self, channel: &Channel) -> Option<TaggedProfile> {
        if self.version.minor == 0 {
            return Some(self.own(channel));
        }
        let at = channel.host_port_over("ssliop")?;
        if self.is_announced(&at) {
            return None;
        }
        let requires = ssl(at.port, TLS_OPTIONS, TLS_OPTIONS & !0x40);
        let none = HostPort {
            host: at.host,
            port: 0,
        };
        Some(self.iiop(TAG_INTERNET_IOP, none, vec![requires]))
    }

    /// UDP, in TAO's form.
    #[cold]
    fn datagrams(&self, channel: &Channel) -> Option<TaggedProfile> {
        let at = channel.host_port_over("diop")?;
        Some(self.iiop(TAG_TAO_DIOP, at, Vec::new()))
    }

    /// A protocol that only orbium has.
    #[cold]
    fn own(&self, channel: &Channel) -> TaggedProfile {
        let mut components = self.components(TAG_ORBIUM_IOP, Vec::new());
        if let Some(id) = host::identity(&channel.scheme) {
            components.push(TaggedComponent::orbium_host(id));
        }
        let channel = channel.clone();
        let profile = OrbiumProfile {
            version: self.version,
            scheme: channel.scheme,
            messaging: channel.messaging,
            address: channel.address,
            object_key: self.object_key.to_vec(),
            components,
        };
        profile.encode()
    }

    #[cold]
    fn unix(&self, channel: &Channel) -> TaggedProfile {
        let profile = UiopProfile {
            version: self.version,
            rendezvous_point: channel.address.clone(),
            object_key: self.object_key.to_vec(),
            components: self.components(TAG_TAO_UIOP, Vec::new()),
        };
        profile.encode()
    }

    fn add_omniorb_unix(&self, components: &mut Vec<TaggedComponent>) {
        for channel in self.channels {
            if channel.is_giop_over("uiop") {
                let component = TaggedComponent::omniorb_unix(host::name(), &channel.address);
                components.push(component);
            }
        }
    }

    /// A profile that only announces the Unix-domain sockets.
    #[cold]
    fn unix_for_omniorb(&self) -> Option<TaggedProfile> {
        let mut more = Vec::new();
        self.add_omniorb_unix(&mut more);
        if more.is_empty() || self.version.minor == 0 {
            return None;
        }
        let none = HostPort {
            host: host::name().to_owned(),
            port: 0,
        };
        Some(self.iiop(TAG_INTERNET_IOP, none, more))
    }
}

fn ssl(port: u16, supports: u16, requires: u16) -> TaggedComponent {
    TaggedComponent::encapsulated(component::TAG_SSL_SEC_TRANS, |writer| {
        writer.write_u16(supports);
        writer.write_u16(requires);
        writer.write_u16(port);
    })
}
