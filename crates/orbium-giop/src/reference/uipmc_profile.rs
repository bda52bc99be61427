// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of multicast groups (UIPMC: OMG Unreliable Multicast
//! Inter-ORB Protocol 1.0).

use orbium_cdr::{CdrError, CdrErrorKind};

use crate::encapsulation::{decode_encapsulation, encapsulate, read_text};
use crate::reference::component::TAG_GROUP;
use crate::reference::object_group::ObjectGroup;
use crate::reference::tagged_profile::{
    TAG_UIPMC, TaggedProfile, read_components, read_version, write_components,
};
use crate::{Component, TaggedComponent, Version};

/// The body of a UIPMC profile (`UIPMC_ProfileBody`): a group of objects and the address of its
/// datagrams. It has no object key: requests name their target by the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UipmcProfile {
    /// Version of MIOP: 1.0.
    pub version: Version,
    /// Multicast address; IPv6 without brackets.
    pub address: String,
    /// Port.
    pub port: u16,
    /// Components, undecoded; TAG_GROUP is mandatory.
    pub components: Vec<TaggedComponent>,
}

impl UipmcProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadReference`] for another tag or major version; otherwise the error in the
    /// body.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_UIPMC {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        decode_encapsulation(&profile.data, |reader| {
            Ok(Self {
                version: read_version(reader)?,
                address: read_text(reader)?,
                port: reader.read_u16()?,
                components: read_components(reader)?,
            })
        })
    }

    /// Encodes the profile as in a reference.
    #[must_use]
    pub fn encode(&self) -> TaggedProfile {
        let data = encapsulate(|writer| {
            writer.write_raw(&[self.version.major, self.version.minor]);
            writer.write_name(&self.address);
            writer.write_u16(self.port);
            write_components(writer, &self.components);
        });
        TaggedProfile {
            tag: TAG_UIPMC,
            data,
        }
    }

    /// The group, if a component names it.
    #[must_use]
    pub fn group(&self) -> Option<ObjectGroup> {
        for component in &self.components {
            if component.tag == TAG_GROUP {
                return Component::group_of(component);
            }
        }
        None
    }
}
