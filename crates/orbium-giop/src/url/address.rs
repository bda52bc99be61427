// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses in object URLs (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;

use crate::reference::profile::TAG_TAO_DIOP;
use crate::url::iiop_address::{consists_of, split_version};
use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::url::url_text::{before, has_scheme};
use crate::{GroupAddress, IiopAddress, OrbiumProfile, TaggedProfile, UiopProfile, Version};

/// Schemes that denote orbium's own protocols without a version.
const ORBIUM_SCHEMES: [&str; 2] = ["inproc", "shmiop"];

/// One address of an object URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectAddress {
    /// `rir:` refers to `resolve_initial_references`.
    Rir,
    /// `iiop:` or just a colon.
    Iiop(IiopAddress),
    /// `ssliop:` IIOP over TLS.
    Ssliop(IiopAddress),
    /// `diop:` TAO's GIOP over UDP.
    Diop(IiopAddress),
    /// `miop:`, a multicast group, which has no key.
    Miop(GroupAddress),
    /// `uiop:` TAO's Unix-domain sockets; the key follows a `|`.
    Uiop {
        /// Highest GIOP version to be used.
        version: Version,
        /// Path of the socket.
        path: String,
    },
    /// `omniunix:`, omniORB's Unix-domain sockets; the path ends at a colon.
    OmniUnix {
        /// Highest GIOP version to be used.
        version: Version,
        /// Path of the socket.
        path: String,
    },
    /// orbium's additions: `inproc:`, `shmiop:` (TAO's has another layout that only TAO reads) and,
    /// written with a version, any other scheme. A key follows a `|`, or a `/` if no address has
    /// one.
    Orbium {
        /// Scheme of the transport, in lower case.
        scheme: String,
        /// Highest GIOP version to be used; 1.2 if none is written.
        version: Version,
        /// Address, as the transport understands it.
        address: String,
    },
    /// Any other protocol, uninterpreted.
    Other {
        /// Protocol name, in lower case.
        protocol: String,
        /// The text after the colon.
        address: String,
    },
}

impl ObjectAddress {
    /// The profile of this address; `None` if its protocol has none.
    ///
    /// An empty host becomes `localhost`. A Unix-domain socket of either kind becomes a UIOP
    /// profile, as the messages are the same.
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
            Self::Diop(address) => Some(address.profile(object_key).encode_as(TAG_TAO_DIOP)),
            Self::Miop(address) => Some(address.profile().encode()),
            Self::Orbium {
                scheme,
                version,
                address,
            } => {
                let profile = OrbiumProfile {
                    version: *version,
                    scheme: scheme.clone(),
                    messaging: Vec::new(),
                    address: address.clone(),
                    object_key: object_key.to_vec(),
                    components: Vec::new(),
                };
                Some(profile.encode())
            }
            Self::Rir | Self::Other { .. } => None,
        }
    }

    /// Parses an address at the start of `text`, which is `offset` octets into the URL, and returns
    /// its length.
    pub(crate) fn parse(text: &str, offset: usize) -> Result<(Self, usize), UrlError> {
        let colon = before(text, b":,/#");
        if !text[colon..].starts_with(':') {
            return Err(UrlError::new(UrlErrorKind::NoProtocol, offset));
        }
        let protocol = &text[..colon];
        let (rest, at) = (&text[colon + 1..], offset + colon + 1);
        let internet = |address: fn(IiopAddress) -> Self| {
            let len = before(rest, b",/#");
            Ok((address(IiopAddress::parse(&rest[..len], at)?), len))
        };
        let (address, len) = if protocol.is_empty() || has_whole(protocol, "iiop") {
            internet(Self::Iiop)?
        } else if has_whole(protocol, "ssliop") {
            internet(Self::Ssliop)?
        } else if has_whole(protocol, "diop") {
            internet(Self::Diop)?
        } else if has_whole(protocol, "miop") {
            let (group, len) = GroupAddress::parse(rest, at)?;
            (Self::Miop(group), len)
        } else if has_whole(protocol, "uiop") {
            let (version, path, len) = parse_path(rest, at, b",|#")?;
            (Self::Uiop { version, path }, len)
        } else if has_whole(protocol, "omniunix") {
            let (version, path, len) = parse_path(rest, at, b",:#")?;
            // The colon is part of the address.
            let len = len + usize::from(rest[len..].starts_with(':'));
            (Self::OmniUnix { version, path }, len)
        } else if has_whole(protocol, "rir") {
            if before(rest, b",/#") > 0 {
                return Err(UrlError::new(UrlErrorKind::RirNotAlone, at));
            }
            (Self::Rir, 0)
        } else if is_scheme(protocol) {
            Self::parse_other(protocol.to_ascii_lowercase(), rest, at)?
        } else {
            return Err(UrlError::new(UrlErrorKind::NoProtocol, offset));
        };
        Ok((address, colon + 1 + len))
    }

    /// Parses the text after `scheme:` in an address of a non-standard protocol. A bar cannot be
    /// part of a key, so if one follows, the address may contain slashes.
    fn parse_other(scheme: String, text: &str, offset: usize) -> Result<(Self, usize), UrlError> {
        let url_end = before(text, b"#");
        let end = if text.as_bytes()[..url_end].contains(&b'|') {
            b'|'
        } else {
            b'/'
        };
        let len = before(text, &[b',', end, b'#']);
        let written = &text[..len];
        let versioned = split_version(written, offset).ok();
        let (version, address) = match versioned {
            Some((version, address, _)) if written.as_bytes().contains(&b'@') => (version, address),
            _ if ORBIUM_SCHEMES.contains(&scheme.as_str()) => (Version::V1_2, written),
            _ => {
                let other = Self::Other {
                    protocol: scheme,
                    address: written.to_owned(),
                };
                return Ok((other, len));
            }
        };
        if address.is_empty() {
            return Err(UrlError::new(UrlErrorKind::NoPath, offset + len));
        }
        let address = address.to_owned();
        let orbium = Self::Orbium {
            scheme,
            version,
            address,
        };
        Ok((orbium, len))
    }

    pub(crate) fn is_rir(&self) -> bool {
        matches!(self, Self::Rir)
    }

    /// Whether a character may separate this address from the key after it.
    pub(crate) fn is_key_separator(&self, c: char) -> bool {
        match self {
            Self::Uiop { .. } => c == '|',
            Self::Orbium { .. } | Self::Other { .. } => c == '|' || c == '/',
            _ => c == '/',
        }
    }

    /// Whether this address can be written where no bar follows it.
    #[inline]
    pub(crate) fn needs_bar(&self) -> bool {
        match self {
            Self::Orbium { address, .. } | Self::Other { address, .. } => {
                address.as_bytes().contains(&b'/')
            }
            _ => false,
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
            Self::Diop(address) => write!(f, "diop:{address}"),
            Self::Miop(address) => write!(f, "miop:{address}"),
            Self::Orbium {
                scheme,
                version,
                address,
            } => write!(f, "{scheme}:{version}@{address}"),
            Self::Other { protocol, address } => write!(f, "{protocol}:{address}"),
        }
    }
}

fn parse_path(
    text: &str,
    offset: usize,
    ends: &[u8],
) -> Result<(Version, String, usize), UrlError> {
    let len = before(text, ends);
    let address = &text[..len];
    // An @ may be part of a path; a version precedes the first slash.
    let versioned = address[before(address, b"@/")..].starts_with('@');
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

fn is_scheme(protocol: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"+-._".contains(&c);
    consists_of(protocol, is_plain)
}

fn has_whole(protocol: &str, name: &str) -> bool {
    protocol.len() == name.len() && has_scheme(protocol, name)
}
