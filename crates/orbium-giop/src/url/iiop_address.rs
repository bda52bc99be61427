// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and ports in object URLs (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;
use core::net::Ipv6Addr;

use crate::reference::component;
use crate::url::host_port::write_host;
use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::{IiopProfile, TaggedComponent, Version};

/// Port of an IIOP address that names none.
pub const DEFAULT_PORT: u16 = 2809;

/// The association options in omniORB's TLS profiles: integrity, confidentiality and trust in both
/// directions.
const SSL_OPTIONS: u16 = 102;

/// A version, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IiopAddress {
    /// Highest GIOP version to be used; 1.0 if none is written.
    pub version: Version,
    /// Host name or address, IPv6 without brackets; empty for this machine.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl IiopAddress {
    pub(crate) fn parse(text: &str, offset: usize) -> Result<Self, UrlError> {
        let (version, text, offset) = split_version(text, offset)?;
        let (host, port, port_at) = if let Some(inner) = text.strip_prefix('[') {
            let bad = UrlError::new(UrlErrorKind::BadIpv6, offset);
            let (host, port) = inner.split_once(']').ok_or(bad)?;
            let plain = host.split_once('%').map_or(host, |(plain, _zone)| plain);
            plain.parse::<Ipv6Addr>().map_err(|_| bad)?;
            let port_at = offset + host.len() + 2;
            match port.strip_prefix(':') {
                Some(port) => (host, Some(port), port_at + 1),
                None if port.is_empty() => (host, None, port_at),
                None => return Err(UrlError::new(UrlErrorKind::BadPort, port_at)),
            }
        } else {
            match text.split_once(':') {
                Some((host, port)) => (host, Some(port), offset + host.len() + 1),
                None => (text, None, offset),
            }
        };
        let is_host = |c: u8| c.is_ascii_alphanumeric() || b"-._".contains(&c);
        if !text.starts_with('[') && !consists_of(host, is_host) {
            return Err(UrlError::new(UrlErrorKind::BadHost, offset));
        }
        Ok(Self {
            version,
            host: host.to_owned(),
            port: match port {
                None => DEFAULT_PORT,
                Some(port) => {
                    parse_port(port).ok_or(UrlError::new(UrlErrorKind::BadPort, port_at))?
                }
            },
        })
    }

    pub(crate) fn profile(&self, object_key: &[u8]) -> IiopProfile {
        IiopProfile {
            version: self.version,
            host: if self.host.is_empty() {
                "localhost".to_owned()
            } else {
                self.host.clone()
            },
            port: self.port,
            object_key: object_key.to_vec(),
            components: Vec::new(),
        }
    }

    /// The profile of a TLS endpoint: no plain port, and a component with the port, which version
    /// 1.0 cannot carry.
    pub(crate) fn tls_profile(&self, object_key: &[u8]) -> IiopProfile {
        let ssl = TaggedComponent::tagged(component::TAG_SSL_SEC_TRANS, &|writer| {
            writer.write_u16(SSL_OPTIONS);
            writer.write_u16(SSL_OPTIONS);
            writer.write_u16(self.port);
        });
        IiopProfile {
            version: self.version.max(Version::V1_2),
            port: 0,
            components: vec![ssl],
            ..self.profile(object_key)
        }
    }
}

impl fmt::Display for IiopAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            version,
            host,
            port,
        } = self;
        if *version != Version::V1_0 {
            write!(f, "{version}@")?;
        }
        write_host(f, host, *port)
    }
}

/// A version before an `@`, otherwise 1.0; then the text after it and its offset.
pub(crate) fn split_version(text: &str, offset: usize) -> Result<(Version, &str, usize), UrlError> {
    let Some((version, rest)) = text.split_once('@') else {
        return Ok((Version::V1_0, text, offset));
    };
    let parsed = match version.split_once('.') {
        Some(("1", minor)) => decimal(minor),
        _ => None,
    };
    match parsed {
        Some(minor) => Ok((
            Version { major: 1, minor },
            rest,
            offset + version.len() + 1,
        )),
        None => Err(UrlError::new(UrlErrorKind::BadVersion, offset)),
    }
}

pub(crate) fn parse_port(text: &str) -> Option<u16> {
    decimal(text).filter(|port| *port != 0)
}

/// A number that consists of digits only, if it is in range.
pub(crate) fn decimal<N: TryFrom<u64>>(text: &str) -> Option<N> {
    fn parse(text: &str) -> Option<u64> {
        let digits = consists_of(text, |c| c.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    }
    N::try_from(parse(text)?).ok()
}

/// Whether every octet of a text is allowed.
pub(crate) fn consists_of(text: &str, allowed: fn(u8) -> bool) -> bool {
    text.bytes().all(allowed)
}
