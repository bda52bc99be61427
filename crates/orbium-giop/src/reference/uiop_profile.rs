// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of TAO's Unix-domain sockets.

use orbium_cdr::{CdrError, CdrErrorKind};

use crate::encapsulation::{decode_encapsulation, encapsulate, read_text};
use crate::reference::tagged_profile::{
    TAG_TAO_UIOP, TaggedProfile, read_key_and_components, read_version, write_key_and_components,
};
use crate::{TaggedComponent, Version};

/// The body of TAO's profile for Unix-domain sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiopProfile {
    /// Highest GIOP version that the endpoint supports.
    pub version: Version,
    /// Path of the socket.
    pub rendezvous_point: String,
    /// Object key.
    pub object_key: Vec<u8>,
    /// Components, as they are; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl UiopProfile {
    /// Reads a UIOP profile.
    ///
    /// # Errors
    /// As [`IiopProfile::decode`](crate::IiopProfile::decode).
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_TAO_UIOP {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        decode_encapsulation(&profile.data, |reader| {
            let version = read_version(reader)?;
            let rendezvous_point = read_text(reader)?;
            let (object_key, components) = read_key_and_components(reader, version)?;
            Ok(Self {
                version,
                rendezvous_point,
                object_key,
                components,
            })
        })
    }

    /// Encodes the profile as in a reference.
    #[must_use]
    pub fn encode(&self) -> TaggedProfile {
        let data = encapsulate(|writer| {
            writer.write_raw(&[self.version.major, self.version.minor]);
            writer.write_name(&self.rendezvous_point);
            write_key_and_components(writer, self.version, &self.object_key, &self.components);
        });
        TaggedProfile {
            tag: TAG_TAO_UIOP,
            data,
        }
    }
}
