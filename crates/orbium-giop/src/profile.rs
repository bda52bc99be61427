// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles of a reference: where an object is, for one protocol each (CORBA
//! 3.3 Part 2, clauses 7.6.3 and 9.7.2).

use core::fmt;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode};

use crate::codeset::CodeSetComponentInfo;
use crate::component::{HostPort, TAG_ALTERNATE_IIOP_ADDRESS, TAG_CODE_SETS};
use crate::encapsulation::{decode_encapsulation, encapsulate};
use crate::{Component, TaggedComponent, Version};

/// IIOP.
pub const TAG_INTERNET_IOP: u32 = 0;
/// Components common to all profiles of a reference.
pub const TAG_MULTIPLE_COMPONENTS: u32 = 1;
/// GIOP over SS7.
pub const TAG_SCCP_IOP: u32 = 2;
/// Unreliable multicast (MIOP).
pub const TAG_UIPMC: u32 = 3;
/// Wireless CORBA.
pub const TAG_MOBILE_TERMINAL_IOP: u32 = 4;
/// Tandem NSKFS.
pub const TAG_NSKFS: u32 = 0x3039;
/// Tandem NSKPW.
pub const TAG_NSKPW: u32 = 0x303A;
/// TAO: Unix-domain sockets.
pub const TAG_TAO_UIOP: u32 = 0x5441_4F00;
/// TAO: ATM.
pub const TAG_TAO_AIOP: u32 = 0x5441_4F01;
/// TAO: shared memory.
pub const TAG_TAO_SHMIOP: u32 = 0x5441_4F02;
/// TAO: UDP.
pub const TAG_TAO_DIOP: u32 = 0x5441_4F04;
/// TAO: multicast before it was standardised.
pub const TAG_TAO_UIPMC: u32 = 0x5441_4F0C;
/// TAO: SCTP.
pub const TAG_TAO_SCIOP: u32 = 0x5441_4F0E;

/// Most components that are read from one profile.
pub const MAX_COMPONENTS: usize = 1024;

/// The name of a profile tag, if it is known.
#[must_use]
pub const fn tag_name(tag: u32) -> Option<&'static str> {
    Some(match tag {
        TAG_INTERNET_IOP => "TAG_INTERNET_IOP",
        TAG_MULTIPLE_COMPONENTS => "TAG_MULTIPLE_COMPONENTS",
        TAG_SCCP_IOP => "TAG_SCCP_IOP",
        TAG_UIPMC => "TAG_UIPMC",
        TAG_MOBILE_TERMINAL_IOP => "TAG_MOBILE_TERMINAL_IOP",
        TAG_NSKFS => "TAG_NSKFS",
        TAG_NSKPW => "TAG_NSKPW",
        TAG_TAO_UIOP => "TAG_TAO_UIOP",
        TAG_TAO_AIOP => "TAG_TAO_AIOP",
        TAG_TAO_SHMIOP => "TAG_TAO_SHMIOP",
        TAG_TAO_DIOP => "TAG_TAO_DIOP",
        TAG_TAO_UIPMC => "TAG_TAO_UIPMC",
        TAG_TAO_SCIOP => "TAG_TAO_SCIOP",
        _ => return None,
    })
}

/// A profile as it is in a reference: kept octet for octet, understood or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// What the data is.
    pub tag: u32,
    /// The data, usually an encapsulation.
    pub data: Vec<u8>,
}

impl TaggedProfile {
    /// A TAG_MULTIPLE_COMPONENTS profile.
    #[must_use]
    pub fn multiple_components(components: &[TaggedComponent]) -> Self {
        Self {
            tag: TAG_MULTIPLE_COMPONENTS,
            data: encapsulate(|writer| write_components(writer, components)),
        }
    }

    /// The object key, if the profile is of a kind whose body is understood.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        match Profile::parse(self).ok()? {
            Profile::Iiop(body) | Profile::HostPort(_, body) => Some(body.object_key),
            Profile::Uiop(body) => Some(body.object_key),
            Profile::Components(_) | Profile::Unknown => None,
        }
    }
}

impl Encode for TaggedProfile {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_u32(self.tag);
        writer.write_octets(&self.data);
    }
}

impl Decode for TaggedProfile {
    const MIN_SIZE: usize = 8;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: reader.read_u32()?,
            data: reader.read_octets()?.to_vec(),
        })
    }
}

/// What is inside a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// TAG_INTERNET_IOP.
    Iiop(IiopProfile),
    /// Another protocol with the same body: TAO's SHMIOP and DIOP, by tag.
    HostPort(u32, IiopProfile),
    /// TAO's UIOP.
    Uiop(UiopProfile),
    /// TAG_MULTIPLE_COMPONENTS.
    Components(Vec<TaggedComponent>),
    /// A tag whose body is not understood.
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
            Self::Components(components) => components,
            Self::Unknown => &[],
        }
    }
}

/// The body of an IIOP profile (`IIOP::ProfileBody_1_1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IiopProfile {
    /// Highest GIOP version that the endpoint takes.
    pub version: Version,
    /// Host name or address; IPv6 without brackets.
    pub host: String,
    /// Port; 0 if there is none without TLS.
    pub port: u16,
    /// Object key.
    pub object_key: Vec<u8>,
    /// Components, as they are; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Reads an IIOP profile. A higher minor version is read as 1.2, and what
    /// it may have added is left alone.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadReference`] for another tag or major version; else
    /// what is wrong with the body.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_INTERNET_IOP {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        Self::decode_body(&profile.data)
    }

    fn decode_body(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            let version = read_version(reader)?;
            Ok(Self {
                version,
                host: reader.read_name()?.to_owned(),
                port: reader.read_u16()?,
                object_key: reader.read_octets()?.to_vec(),
                components: if version.minor == 0 {
                    Vec::new()
                } else {
                    read_components(reader)?
                },
            })
        })
    }

    /// The profile in the form it has in a reference. Version 1.0 cannot carry
    /// components: they are left out.
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
            writer.write_octets(&self.object_key);
            if self.version.minor > 0 {
                write_components(writer, &self.components);
            }
        });
        TaggedProfile { tag, data }
    }

    /// Where the object can be reached without TLS: the host and port of the
    /// profile, unless the port is 0, then its alternate addresses in order.
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
    pub fn code_sets(&self) -> Option<CodeSetComponentInfo> {
        match Component::parse(self.component(TAG_CODE_SETS)?) {
            Ok(Component::CodeSets(info)) => Some(info),
            _ => None,
        }
    }

    /// The first component with that tag.
    #[must_use]
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
        if host.contains(':') {
            write!(f, "{version}@[{host}]:{port}")
        } else {
            write!(f, "{version}@{host}:{port}")
        }
    }
}

/// The body of TAO's profile for Unix-domain sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiopProfile {
    /// Highest GIOP version that the endpoint takes.
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
    /// As [`IiopProfile::decode`].
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        if profile.tag != TAG_TAO_UIOP {
            return Err(CdrError::new(CdrErrorKind::BadReference, 0));
        }
        decode_encapsulation(&profile.data, |reader| {
            let version = read_version(reader)?;
            Ok(Self {
                version,
                rendezvous_point: reader.read_name()?.to_owned(),
                object_key: reader.read_octets()?.to_vec(),
                components: if version.minor == 0 {
                    Vec::new()
                } else {
                    read_components(reader)?
                },
            })
        })
    }

    /// The profile in the form it has in a reference.
    #[must_use]
    pub fn encode(&self) -> TaggedProfile {
        let data = encapsulate(|writer| {
            writer.write_raw(&[self.version.major, self.version.minor]);
            writer.write_name(&self.rendezvous_point);
            writer.write_octets(&self.object_key);
            if self.version.minor > 0 {
                write_components(writer, &self.components);
            }
        });
        TaggedProfile {
            tag: TAG_TAO_UIOP,
            data,
        }
    }
}

fn read_version(reader: &mut CdrReader<'_>) -> Result<Version, CdrError> {
    let version = Version {
        major: reader.read_u8()?,
        minor: reader.read_u8()?,
    };
    if version.major != 1 {
        return Err(reader.error(CdrErrorKind::BadReference));
    }
    Ok(version)
}

fn read_components(reader: &mut CdrReader<'_>) -> Result<Vec<TaggedComponent>, CdrError> {
    let count = reader.read_count(TaggedComponent::MIN_SIZE)?;
    if count > MAX_COMPONENTS {
        return Err(reader.error(CdrErrorKind::CountTooLarge));
    }
    let mut components = Vec::new();
    TaggedComponent::decode_vec(reader, count, &mut components)?;
    Ok(components)
}

fn write_components(writer: &mut CdrWriter<'_>, components: &[TaggedComponent]) {
    writer.write_count(components.len());
    for component in components {
        writer.write_u32(component.tag);
        writer.write_octets(&component.data);
    }
}
