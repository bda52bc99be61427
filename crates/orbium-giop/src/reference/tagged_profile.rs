// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged profiles of references, and the common parts of the bodies of several kinds.

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode};

use crate::encapsulation::{encapsulate, read_octets, write_octets};
use crate::{TaggedComponent, Version};

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
/// orbium: any pair of transport and messaging ("ORB\0"; not registered with
/// the OMG).
pub const TAG_ORBIUM_IOP: u32 = 0x4F52_4200;

/// Maximum number of components read from one profile.
pub const MAX_COMPONENTS: usize = 1024;

/// The name of a profile tag, or `None` for an unknown one.
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
        TAG_ORBIUM_IOP => "TAG_ORBIUM_IOP",
        _ => return None,
    })
}

/// A profile in its encoded form, octet for octet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// The tag, which identifies the format of the data.
    pub tag: u32,
    /// The data, usually an encapsulation.
    pub data: Vec<u8>,
}

impl TaggedProfile {
    /// A TAG_MULTIPLE_COMPONENTS profile.
    #[must_use]
    #[inline]
    pub fn multiple_components(components: &[TaggedComponent]) -> Self {
        Self {
            tag: TAG_MULTIPLE_COMPONENTS,
            data: encapsulate(|writer| write_components(writer, components)),
        }
    }
}

impl Encode for TaggedProfile {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_u32(self.tag);
        write_octets(writer, &self.data);
    }
}

impl Decode for TaggedProfile {
    const MIN_SIZE: usize = 8;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: reader.read_u32()?,
            data: read_octets(reader)?,
        })
    }
}

pub(crate) fn read_version(reader: &mut CdrReader<'_>) -> Result<Version, CdrError> {
    let version = Version {
        major: reader.read_u8()?,
        minor: reader.read_u8()?,
    };
    if version.major != 1 {
        return Err(reader.error(CdrErrorKind::BadReference));
    }
    Ok(version)
}

pub(crate) fn read_components(
    reader: &mut CdrReader<'_>,
) -> Result<Vec<TaggedComponent>, CdrError> {
    let count = reader.read_count(TaggedComponent::MIN_SIZE)?;
    if count > MAX_COMPONENTS {
        return Err(reader.error(CdrErrorKind::CountTooLarge));
    }
    let mut components = Vec::new();
    for _ in 0..count {
        components.push(TaggedComponent::decode(reader)?);
    }
    Ok(components)
}

/// Reads the end of a body in the form of IIOP's: the object key and, since version 1.1,
/// components.
pub(crate) fn read_key_and_components(
    reader: &mut CdrReader<'_>,
    version: Version,
) -> Result<(Vec<u8>, Vec<TaggedComponent>), CdrError> {
    let key = read_octets(reader)?;
    let components = match version.minor {
        0 => Vec::new(),
        _ => read_components(reader)?,
    };
    Ok((key, components))
}

/// Writes the end of a body in the form of IIOP's.
pub(crate) fn write_key_and_components(
    writer: &mut CdrWriter<'_>,
    version: Version,
    key: &[u8],
    components: &[TaggedComponent],
) {
    write_octets(writer, key);
    if version.minor > 0 {
        write_components(writer, components);
    }
}

pub(crate) fn write_components(writer: &mut CdrWriter<'_>, components: &[TaggedComponent]) {
    writer.write_count(components.len());
    for component in components {
        writer.write_u32(component.tag);
        write_octets(writer, &component.data);
    }
}
