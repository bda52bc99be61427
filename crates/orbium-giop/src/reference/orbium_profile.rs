// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of orbium itself: any transport with any messaging.

use orbium_cdr::{CdrError, CdrErrorKind};

use crate::encapsulation::{
    decode_encapsulation, encapsulate, read_octets, read_text, write_octets,
};
use crate::reference::tagged_profile::{
    TAG_ORBIUM_IOP, TaggedProfile, read_components, read_version, write_components,
};
use crate::{TaggedComponent, Version};

/// Maximum number of messaging protocols read from one profile.
pub const MAX_LAYERS: usize = 16;

/// Facts of an endpoint in a reference that no standard profile describes.
///
/// An encapsulation of: version of GIOP, as in IIOP profiles; string scheme;
/// sequence of strings messaging; string address; octet sequence object key;
/// components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrbiumProfile {
    /// Highest GIOP version that the endpoint supports.
    pub version: Version,
    /// Scheme of the transport.
    pub scheme: String,
    /// Names of the messaging protocols, outermost first; empty for GIOP alone.
    pub messaging: Vec<String>,
    /// Address, as the transport understands it.
    pub address: String,
    /// Object key.
    pub object_key: Vec<u8>,
    /// Components, as they are.
    pub components: Vec<TaggedComponent>,
}

impl OrbiumProfile {
    /// Reads a profile. Additions of higher minor versions are ignored.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadReference`] for another tag or major version;
    /// [`CdrErrorKind::CountTooLarge`] for more than [`MAX_LAYERS`]; otherwise the error in the
    /// body.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_ORBIUM_IOP {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        decode_encapsulation(&profile.data, |reader| {
            let version = read_version(reader)?;
            let scheme = read_text(reader)?;
            let count = reader.read_count(5)?;
            if count > MAX_LAYERS {
                return Err(reader.error(CdrErrorKind::CountTooLarge));
            }
            let mut messaging = Vec::new();
            for _ in 0..count {
                messaging.push(read_text(reader)?);
            }
            Ok(Self {
                version,
                scheme,
                messaging,
                address: read_text(reader)?,
                object_key: read_octets(reader)?,
                components: read_components(reader)?,
            })
        })
    }

    /// Encodes the profile as in a reference.
    #[must_use]
    pub fn encode(&self) -> TaggedProfile {
        let data = encapsulate(|writer| {
            writer.write_raw(&[self.version.major, self.version.minor]);
            writer.write_name(&self.scheme);
            writer.write_count(self.messaging.len());
            for layer in &self.messaging {
                writer.write_name(layer);
            }
            writer.write_name(&self.address);
            write_octets(writer, &self.object_key);
            write_components(writer, &self.components);
        });
        TaggedProfile {
            tag: TAG_ORBIUM_IOP,
            data,
        }
    }
}
