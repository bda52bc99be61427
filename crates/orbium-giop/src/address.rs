// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses in object URLs (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;
use core::net::Ipv6Addr;

use crate::object_url::{UrlError, UrlErrorKind, has_scheme};
use crate::{IiopProfile, TaggedComponent, TaggedProfile, UiopProfile, Version, component};

/// Port of an IIOP address that names none.
pub const DEFAULT_PORT: u16 = 2809;

/// What omniORB publishes for its TLS endpoints: integrity, confidentiality and
/// trust in both directions.
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

/// One address of an object URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectAddress {
    /// `rir:` ask `resolve_initial_references`.
    Rir,
    /// `iiop:` or just a colon.
    Iiop(IiopAddress),
    /// `ssliop:` IIOP over TLS.
    Ssliop(IiopAddress),
    /// `uiop:` TAO's Unix-domain sockets; the key follows a `|`.
    Uiop {
        /// Highest GIOP version to be used.
        version: Version,
        /// Path of the socket.
        path: String,
    },
    /// `omniunix:` omniORB's Unix-domain sockets; the path ends at a colon.
    OmniUnix {
        /// Highest GIOP version to be used.
        version: Version,
        /// Path of the socket.
        path: String,
    },
    /// Any other protocol, kept as it is.
    Other {
        /// Protocol name, in lower case.
        protocol: String,
        /// What follows the colon.
        address: String,
    },
}

impl ObjectAddress {
    /// A profile for this address; `None` if there is no profile for it.
    ///
    /// An empty host becomes `localhost`. A Unix-domain socket of either kind
    /// becomes a UIOP profile, as the octets that travel are the same.
    #[must_use]
    pub fn profile(&self, object_key: &[u8]) -> Option<TaggedProfile> {
        match self {
            Self::Iiop(address) => Some(address.profile(object_key).encode()),
            Self::Ssliop(address) => Some(address.tls_profile(object_key).encode()),
            Self::Uiop { version, path } | Self::OmniUnix { version, path } => {
                let profile = UiopProfile {
                    version: *version,
                    rendezvous_point: path.clone(),
                    object_key: object_key.to_vec(),
                    components: Vec::new(),
                };
                Some(profile.encode())
            }
            Self::Rir | Self::Other { .. } => None,
        }
    }

    /// Parses an address at the start of `text`, which is `offset` octets into
    /// the URL, and says how long it is.
    pub(crate) fn parse(text: &str, offset: usize) -> Result<(Self, usize), UrlError> {
        let list_end = text.find([',', '/', '#']).unwrap_or(text.len());
        let Some(colon) = text.get(..list_end).and_then(|address| address.find(':')) else {
            return Err(UrlError::new(UrlErrorKind::NoProtocol, offset));
        };
        let protocol = &text[..colon];
        let (rest, at) = (&text[colon + 1..], offset + colon + 1);
        let (address, len) = if protocol.is_empty() || has_whole(protocol, "iiop") {
            let len = host_end(rest);
            (Self::Iiop(IiopAddress::parse(&rest[..len], at)?), len)
        } else if has_whole(protocol, "ssliop") {
            let len = host_end(rest);
            (Self::Ssliop(IiopAddress::parse(&rest[..len], at)?), len)
        } else if has_whole(protocol, "uiop") {
            let (version, path, len) = parse_path(rest, at, [',', '|', '#'])?;
            (Self::Uiop { version, path }, len)
        } else if has_whole(protocol, "omniunix") {
            let (version, path, len) = parse_path(rest, at, [',', ':', '#'])?;
            // The colon belongs to the address.
            let len = len + usize::from(rest[len..].starts_with(':'));
            (Self::OmniUnix { version, path }, len)
        } else if has_whole(protocol, "rir") {
            if !rest.is_empty() && !rest.starts_with(['/', '#', ',']) {
                return Err(UrlError::new(UrlErrorKind::RirNotAlone, at));
            }
            (Self::Rir, 0)
        } else {
            if !protocol
                .bytes()
                .all(|c| c.is_ascii_alphanumeric() || b"+-._".contains(&c))
            {
                return Err(UrlError::new(UrlErrorKind::NoProtocol, offset));
            }
            let len = host_end(rest);
            let other = Self::Other {
                protocol: protocol.to_ascii_lowercase(),
                address: rest[..len].to_owned(),
            };
            (other, len)
        };
        Ok((address, colon + 1 + len))
    }

    /// What separates this address from the key after it.
    pub(crate) const fn key_separator(&self) -> char {
        match self {
            Self::Uiop { .. } => '|',
            _ => '/',
        }
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rir => f.write_str("rir:"),
            Self::Iiop(address) => write!(f, "iiop:{address}"),
            Self::Ssliop(address) => write!(f, "ssliop:{address}"),
            Self::Uiop { version, path } => write!(f, "uiop:{version}@{path}"),
            Self::OmniUnix { version, path } => write!(f, "omniunix:{version}@{path}:"),
            Self::Other { protocol, address } => write!(f, "{protocol}:{address}"),
        }
    }
}

impl IiopAddress {
    fn parse(text: &str, offset: usize) -> Result<Self, UrlError> {
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
        if !text.starts_with('[') && !host.bytes().all(is_host) {
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

    fn profile(&self, object_key: &[u8]) -> IiopProfile {
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

    /// The form that TLS endpoints have in references: no plain port, and a
    /// component with the port, for which version 1.0 has no room.
    fn tls_profile(&self, object_key: &[u8]) -> IiopProfile {
        let ssl = TaggedComponent::encapsulated(component::TAG_SSL_SEC_TRANS, |writer| {
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
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// A version written before an `@`, else 1.0; then what follows and its offset.
fn split_version(text: &str, offset: usize) -> Result<(Version, &str, usize), UrlError> {
    let Some((version, rest)) = text.split_once('@') else {
        return Ok((Version::V1_0, text, offset));
    };
    let parsed = version.split_once('.').and_then(|(major, minor)| {
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        (major == "1" && digits(minor)).then(|| minor.parse().ok())?
    });
    match parsed {
        Some(minor) => Ok((
            Version { major: 1, minor },
            rest,
            offset + version.len() + 1,
        )),
        None => Err(UrlError::new(UrlErrorKind::BadVersion, offset)),
    }
}

fn parse_path(
    text: &str,
    offset: usize,
    ends: [char; 3],
) -> Result<(Version, String, usize), UrlError> {
    let len = text.find(ends).unwrap_or(text.len());
    let address = &text[..len];
    // An @ may be part of a path; a version stands before the first slash.
    let versioned = address
        .find(['@', '/'])
        .is_some_and(|first| address[first..].starts_with('@'));
    let (version, path, at) = if versioned {
        split_version(address, offset)?
    } else {
        (Version::V1_0, address, offset)
    };
    if path.is_empty() {
        return Err(UrlError::new(UrlErrorKind::NoPath, at));
    }
    Ok((version, path.to_owned(), len))
}

fn parse_port(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

fn host_end(text: &str) -> usize {
    text.find([',', '/', '#']).unwrap_or(text.len())
}

fn has_whole(protocol: &str, name: &str) -> bool {
    protocol.len() == name.len() && has_scheme(protocol, name)
}
