// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multicast groups in object URLs (OMG Unreliable Multicast Inter-ORB Protocol
//! 1.0): `miop:1.0@1.0-domain-group-version/address:port`.

use core::fmt;
use core::net::IpAddr;

use crate::url::iiop_address::{consists_of, decimal, parse_port, split_version};
use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::url::url_text::before;
use crate::{ObjectGroup, TaggedComponent, UipmcProfile, Version};

/// A group of objects and the address of its datagrams.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupAddress {
    /// Version of MIOP; 1.0 if none is written.
    pub version: Version,
    /// The group.
    pub group: ObjectGroup,
    /// Multicast address.
    pub address: IpAddr,
    /// Port.
    pub port: u16,
}

impl GroupAddress {
    /// Parses the text after `miop:`, and returns the length of the address.
    pub(crate) fn parse(text: &str, offset: usize) -> Result<(Self, usize), UrlError> {
        let (group, rest, slash) = match text.split_once('/') {
            Some((group, rest)) => (group, rest, 1),
            None => (text, "", 0),
        };
        let at = offset + group.len() + slash;
        let (version, group) = match split_version(group, offset)? {
            (Version { minor: 1.., .. }, ..) => {
                return Err(UrlError::new(UrlErrorKind::BadVersion, offset));
            }
            (version, group, offset) => (version, parse_group(group, offset)?),
        };
        let len = before(rest, b",/#");
        let (address, port) = parse_address(&rest[..len], at)?;
        let parsed = Self {
            version,
            group,
            address,
            port,
        };
        Ok((parsed, at - offset + len))
    }

    pub(crate) fn profile(&self) -> UipmcProfile {
        UipmcProfile {
            version: self.version,
            address: format!("{}", self.address),
            port: self.port,
            components: vec![TaggedComponent::group(&self.group)],
        }
    }
}

/// `1.0-domain-id` or `1.0-domain-id-version`.
fn parse_group(text: &str, offset: usize) -> Result<ObjectGroup, UrlError> {
    let bad = UrlError::new(UrlErrorKind::BadGroup, offset);
    let (version, rest) = text.split_once('-').ok_or(bad)?;
    let (domain, numbers) = rest.split_once('-').ok_or(bad)?;
    // A further part is not a number.
    let (id, reference_version) = numbers.split_once('-').unwrap_or((numbers, "0"));
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"._~:".contains(&c);
    if version != "1.0" || domain.is_empty() || !consists_of(domain, is_plain) {
        return Err(bad);
    }
    Ok(ObjectGroup {
        version: Version::V1_0,
        domain: domain.to_owned(),
        id: decimal(id).ok_or(bad)?,
        reference_version: decimal(reference_version).ok_or(bad)?,
    })
}

fn parse_address(text: &str, offset: usize) -> Result<(IpAddr, u16), UrlError> {
    let bracketed = text.strip_prefix('[').and_then(|text| {
        let (host, rest) = text.split_once(']')?;
        Some((host, rest.strip_prefix(':')?))
    });
    let (host, port) = match bracketed {
        Some((host, port)) => (host.parse().map(IpAddr::V6), port),
        None => {
            let (host, port) = text.split_once(':').unwrap_or((text, ""));
            (host.parse().map(IpAddr::V4), port)
        }
    };
    let address = host.ok().filter(IpAddr::is_multicast);
    let address = address.ok_or(UrlError::new(UrlErrorKind::NotMulticast, offset))?;
    let port_at = offset + text.len() - port.len();
    let port = parse_port(port).ok_or(UrlError::new(UrlErrorKind::BadPort, port_at))?;
    Ok((address, port))
}

impl fmt::Display for GroupAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectGroup {
            version,
            domain,
            id,
            reference_version,
        } = &self.group;
        write!(f, "{}@{version}-{domain}-{id}", self.version)?;
        if *reference_version != 0 {
            write!(f, "-{reference_version}")?;
        }
        match self.address {
            IpAddr::V4(address) => write!(f, "/{address}:{}", self.port),
            IpAddr::V6(address) => write!(f, "/[{address}]:{}", self.port),
        }
    }
}
