// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of IIOP (CORBA 3.3 Part 2, clause 9.7.2), and of other protocols
//! with the same body.

use core::fmt;

use orbium_cdr::{CdrError, CdrErrorKind};

use crate::context::codeset::CodeSetComponentInfo;
use crate::encapsulation::{decode_encapsulation, encapsulate, read_text};
use crate::reference::component::{TAG_ALTERNATE_IIOP_ADDRESS, TAG_CODE_SETS};
use crate::reference::tagged_profile::{
    TAG_INTERNET_IOP, TaggedProfile, read_key_and_components, read_version,
    write_key_and_components,
};
use crate::url::host_port::{HostPort, write_host};
use crate::{Component, TaggedComponent, Version};

/// The body of an IIOP profile (`IIOP::ProfileBody_1_1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IiopProfile {
    /// Highest GIOP version that the endpoint supports.
    pub version: Version,
    /// Host name or address; IPv6 without brackets.
    pub host: String,
    /// Port; 0 if the object is reachable by TLS only.
    pub port: u16,
    /// Object key.
    pub object_key: Vec<u8>,
    /// Components, as they are; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Reads an IIOP profile. A higher minor version is read as 1.2, and its additions are ignored.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadReference`] for another tag or major version; otherwise the error in the
    /// body.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_INTERNET_IOP {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        Self::decode_body(&profile.data)
    }

    pub(crate) fn decode_body(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            let version = read_version(reader)?;
            let host = read_text(reader)?;
            let port = reader.read_u16()?;
            let (object_key, components) = read_key_and_components(reader, version)?;
            Ok(Self {
                version,
                host,
                port,
                object_key,
                components,
            })
        })
    }

    /// Encodes the profile as in a reference. Version 1.0 cannot carry components, which are then
    /// omitted.
    #[must_use]
    pub fn encode(&self) -> TaggedProfile {
        self.encode_as(TAG_INTERNET_IOP)
    }

    /// As [`IiopProfile::encode`], for another protocol with the same body.
    #[must_use]
    pub fn encode_as(&self, tag: u32) -> TaggedProfile {
        let data = encapsulate(|writer| {
            writer.write_raw(&[self.version.major, self.version.minor]);
            writer.write_name(&self.host);
            writer.write_u16(self.port);
            write_key_and_components(writer, self.version, &self.object_key, &self.components);
        });
        TaggedProfile { tag, data }
    }

    /// The addresses at which the object can be reached without TLS: the host and port of
    /// the profile, unless the port is 0, then its alternate addresses in order.
    #[inline]
    pub fn addresses(&self) -> impl Iterator<Item = HostPort> + '_ {
        let own = (self.port != 0).then(|| HostPort {
            host: self.host.clone(),
            port: self.port,
        });
        let alternate = self
            .components
            .iter()
            .filter(|component| component.tag == TAG_ALTERNATE_IIOP_ADDRESS)
            .filter_map(|component| match Component::parse(component) {
                Ok(Component::AlternateAddress(address)) => Some(address),
                _ => None,
            });
        own.into_iter().chain(alternate)
    }

    /// The code sets of the server, if the profile names them.
    #[must_use]
    #[inline]
    pub fn code_sets(&self) -> Option<CodeSetComponentInfo> {
        match Component::parse(self.component(TAG_CODE_SETS)?) {
            Ok(Component::CodeSets(info)) => Some(info),
            _ => None,
        }
    }

    /// The first component with that tag.
    #[must_use]
    #[inline]
    pub fn component(&self, tag: u32) -> Option<&TaggedComponent> {
        self.components
            .iter()
            .find(|component| component.tag == tag)
    }
}

impl fmt::Display for IiopProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            version,
            host,
            port,
            ..
        } = self;
        write!(f, "{version}@")?;
        write_host(f, host, *port)
    }
}
