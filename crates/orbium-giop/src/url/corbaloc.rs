// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corbaloc:` URLs (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;

use crate::Ior;
use crate::reference::ior::hex_digit;
use crate::url::address::ObjectAddress;
use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::url::url_text::has_scheme;

/// The initial reference of a URL without a key.
pub(crate) const DEFAULT_KEY: &str = "NameService";

/// Addresses and a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaloc {
    /// Alternative addresses of the object; or only `rir:`.
    pub addresses: Vec<ObjectAddress>,
    /// Object key, or the id of an initial reference; unescaped.
    pub key: Vec<u8>,
}

impl Corbaloc {
    /// The scheme.
    pub const SCHEME: &'static str = "corbaloc:";

    /// Parses a URL. A `rir:` address without a key means `NameService`.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if !has_scheme(text, Self::SCHEME) {
            return Err(UrlError::new(UrlErrorKind::UnknownScheme, 0));
        }
        let (addresses, key_at) = parse_addresses(text, Self::SCHEME.len())?;
        let key = text.get(key_at..).unwrap_or_default();
        let mut key = unescape(key, key_at)?;
        if key.is_empty() && addresses.iter().any(ObjectAddress::is_rir) {
            key = DEFAULT_KEY.into();
        }
        Ok(Self { addresses, key })
    }

    /// The id for `resolve_initial_references`, if this is a `rir:` URL.
    #[must_use]
    pub fn initial_reference(&self) -> Option<&str> {
        if self.addresses.iter().any(ObjectAddress::is_rir) {
            core::str::from_utf8(&self.key).ok()
        } else {
            None
        }
    }

    /// A reference of unknown type with one profile for each address.
    ///
    /// # Errors
    /// [`UrlErrorKind::NotAnAddress`] for `rir:`;
    /// [`UrlErrorKind::UnsupportedProtocol`] if none of the addresses has a profile.
    pub fn to_ior(&self) -> Result<Ior, UrlError> {
        let at = Self::SCHEME.len();
        if self.addresses.iter().any(ObjectAddress::is_rir) {
            return Err(UrlError::new(UrlErrorKind::NotAnAddress, at));
        }
        let mut profiles = Vec::new();
        for address in &self.addresses {
            if let Some(profile) = address.profile(&self.key) {
                profiles.push(profile);
            }
        }
        if profiles.is_empty() {
            return Err(UrlError::new(UrlErrorKind::UnsupportedProtocol, at));
        }
        Ok(Ior {
            type_id: String::new(),
            profiles,
        })
    }

    /// Everything after the scheme.
    pub(crate) fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, address) in self.addresses.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{address}")?;
        }
        let bar = match self.addresses.last() {
            Some(ObjectAddress::Uiop { .. }) => true,
            Some(ObjectAddress::Orbium { .. } | ObjectAddress::Other { .. }) => {
                self.addresses.iter().any(ObjectAddress::needs_bar)
            }
            _ => false,
        };
        f.write_str(if bar { "|" } else { "/" })?;
        write_escaped(f, &self.key)
    }
}

impl fmt::Display for Corbaloc {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::SCHEME)?;
        self.write_rest(f)
    }
}

/// The addresses that start at an offset, and the offset of the text after them and their
/// separator.
pub(crate) fn parse_addresses(
    text: &str,
    mut at: usize,
) -> Result<(Vec<ObjectAddress>, usize), UrlError> {
    let mut addresses = Vec::new();
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let (address, len) = ObjectAddress::parse(rest, at)?;
        if address.is_rir() && !addresses.is_empty() {
            return Err(UrlError::new(UrlErrorKind::RirNotAlone, at));
        }
        at += len;
        let next = text.get(at..).and_then(|rest| rest.chars().next());
        let ends = next.is_some_and(|c| address.is_key_separator(c));
        addresses.push(address);
        match next {
            Some(_) if ends => return Ok((addresses, at + 1)),
            Some(',') if addresses.iter().any(ObjectAddress::is_rir) => {
                return Err(UrlError::new(UrlErrorKind::RirNotAlone, at));
            }
            Some(',') => at += 1,
            None | Some('#') => return Ok((addresses, at)),
            // After the colon that ends an omniunix path.
            Some(_) => return Err(UrlError::new(UrlErrorKind::BadHost, at)),
        }
    }
}

const fn is_unescaped(octet: u8) -> bool {
    matches!(
        octet,
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9'
            | b';' | b'/' | b':' | b'?' | b'@' | b'&' | b'=' | b'+' | b'$' | b',' | b'-'
            | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')'
    )
}

/// Decodes an escaped string to octets.
pub(crate) fn unescape(text: &str, offset: usize) -> Result<Vec<u8>, UrlError> {
    let mut octets = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(octet) = text.as_bytes().get(at) {
        if *octet == b'%' {
            let value = match text.as_bytes().get(at + 1..at + 3) {
                Some([high, low]) => hex_digit(*high).zip(hex_digit(*low)),
                _ => None,
            };
            let Some((high, low)) = value else {
                return Err(UrlError::new(UrlErrorKind::BadEscape, offset + at));
            };
            octets.push(high << 4 | low);
            at += 3;
        } else if is_unescaped(*octet) {
            octets.push(*octet);
            at += 1;
        } else {
            // A character begins here, as all previous octets were ASCII.
            let c = text.get(at..).and_then(|rest| rest.chars().next());
            let kind = c.map_or(UrlErrorKind::NotText, UrlErrorKind::MustBeEscaped);
            return Err(UrlError::new(kind, offset + at));
        }
    }
    Ok(octets)
}

/// Writes octets, escaped where required.
pub(crate) fn write_escaped(f: &mut fmt::Formatter<'_>, octets: &[u8]) -> fmt::Result {
    for octet in octets {
        if is_unescaped(*octet) {
            write!(f, "{}", char::from(*octet))?;
        } else {
            write!(f, "%{octet:02x}")?;
        }
    }
    Ok(())
}
