// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of a reference: where an object is, for one protocol each (CORBA
//! 3.3 Part 2, clauses 7.6.3 and 9.7.2).

use orbium_cdr::CdrError;

use crate::TaggedComponent;
use crate::encapsulation::decode_encapsulation;
use crate::reference::tagged_profile::read_components;

pub use crate::reference::iiop_profile::IiopProfile;
pub use crate::reference::object_group::ObjectGroup;
pub use crate::reference::orbium_profile::{MAX_LAYERS, OrbiumProfile};
pub use crate::reference::tagged_profile::{
    MAX_COMPONENTS, TAG_INTERNET_IOP, TAG_MOBILE_TERMINAL_IOP, TAG_MULTIPLE_COMPONENTS, TAG_NSKFS,
    TAG_NSKPW, TAG_ORBIUM_IOP, TAG_SCCP_IOP, TAG_TAO_AIOP, TAG_TAO_DIOP, TAG_TAO_SCIOP,
    TAG_TAO_SHMIOP, TAG_TAO_UIOP, TAG_TAO_UIPMC, TAG_UIPMC, TaggedProfile, tag_name,
};
pub use crate::reference::uiop_profile::UiopProfile;
pub use crate::reference::uipmc_profile::UipmcProfile;

impl TaggedProfile {
    /// The object key, if this kind of profile is known.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        match Profile::parse(self).ok()? {
            Profile::Iiop(body) | Profile::HostPort(_, body) => Some(body.object_key),
            Profile::Uiop(body) => Some(body.object_key),
            Profile::Orbium(body) => Some(body.object_key),
            Profile::Uipmc(body) => Some(body.group()?.object_key()),
            Profile::Components(_) | Profile::Unknown => None,
        }
    }

    /// The profile with the key of another object of the same server; `None` if the profile has no
    /// object key assigned by the server, or is not understood.
    #[must_use]
    pub fn with_object_key(&self, object_key: &[u8]) -> Option<Self> {
        let object_key = object_key.to_vec();
        match Profile::parse(self).ok()? {
            Profile::Iiop(body) => Some(IiopProfile { object_key, ..body }.encode()),
            Profile::HostPort(tag, body) => Some(IiopProfile { object_key, ..body }.encode_as(tag)),
            Profile::Uiop(body) => Some(UiopProfile { object_key, ..body }.encode()),
            Profile::Orbium(body) => Some(OrbiumProfile { object_key, ..body }.encode()),
            Profile::Uipmc(_) | Profile::Components(_) | Profile::Unknown => None,
        }
    }
}

/// Value of a tagged profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// TAG_INTERNET_IOP.
    Iiop(IiopProfile),
    /// Another protocol with the same body: TAO's SHMIOP and DIOP, by tag.
    HostPort(u32, IiopProfile),
    /// TAO's UIOP.
    Uiop(UiopProfile),
    /// orbium's protocols.
    Orbium(OrbiumProfile),
    /// A multicast group; its object key is derived from its name.
    Uipmc(UipmcProfile),
    /// TAG_MULTIPLE_COMPONENTS.
    Components(Vec<TaggedComponent>),
    /// An unknown tag.
    Unknown,
}

impl Profile {
    /// Reads a profile of any kind.
    ///
    /// # Errors
    /// [`CdrError`] if the tag is known but the body is malformed.
    pub fn parse(profile: &TaggedProfile) -> Result<Self, CdrError> {
        match profile.tag {
            TAG_INTERNET_IOP => IiopProfile::decode_body(&profile.data).map(Self::Iiop),
            TAG_TAO_SHMIOP | TAG_TAO_DIOP => IiopProfile::decode_body(&profile.data)
                .map(|body| Self::HostPort(profile.tag, body)),
            TAG_TAO_UIOP => UiopProfile::decode(profile).map(Self::Uiop),
            TAG_ORBIUM_IOP => OrbiumProfile::decode(profile).map(Self::Orbium),
            TAG_UIPMC => UipmcProfile::decode(profile).map(Self::Uipmc),
            TAG_MULTIPLE_COMPONENTS => {
                decode_encapsulation(&profile.data, read_components).map(Self::Components)
            }
            _ => Ok(Self::Unknown),
        }
    }

    /// The components in it.
    #[must_use]
    pub fn components(&self) -> &[TaggedComponent] {
        match self {
            Self::Iiop(body) | Self::HostPort(_, body) => &body.components,
            Self::Uiop(body) => &body.components,
            Self::Orbium(body) => &body.components,
            Self::Uipmc(body) => &body.components,
            Self::Components(components) => components,
            Self::Unknown => &[],
        }
    }
}
