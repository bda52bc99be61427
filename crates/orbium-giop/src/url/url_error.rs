// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in object strings.

use core::fmt;

use crate::{Completion, ExceptionKind, IorStringError, SystemException};

/// Kind of an error in an object string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlErrorKind {
    /// The scheme is unknown.
    UnknownScheme,
    /// An invalid stringified reference.
    BadIor(IorStringError),
    /// An address without the protocol before its colon.
    NoProtocol,
    /// Not a GIOP version 1.x.
    BadVersion,
    /// A host name with invalid characters.
    BadHost,
    /// Brackets that are unbalanced or contain no IPv6 address.
    BadIpv6,
    /// Not a port number between 1 and 65535.
    BadPort,
    /// A path, or another address, is missing.
    NoPath,
    /// Not a multicast group: version 1.0, domain and decimal numbers.
    BadGroup,
    /// Not a multicast address.
    NotMulticast,
    /// `rir:` with an address, or with other addresses.
    RirNotAlone,
    /// References cannot be created for the protocol.
    UnsupportedProtocol,
    /// `rir:` names an initial reference, not an address.
    NotAnAddress,
    /// A `%` without two hexadecimal digits.
    BadEscape,
    /// A character that must be written as `%hh`.
    MustBeEscaped(char),
    /// The unescaped name is not UTF-8.
    NotText,
}

impl fmt::Display for UrlErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::UnknownScheme => "not an object URL: expected IOR:, corbaloc: or corbaname:",
            Self::BadIor(error) => return error.fmt(f),
            Self::NoProtocol => "an address needs a protocol before its colon, or just a colon",
            Self::BadVersion => "not a version: expected something like 1.2 before the @",
            Self::BadHost => "not a host name (IPv6 addresses go in brackets)",
            Self::BadIpv6 => "not an IPv6 address in brackets",
            Self::BadPort => "not a port number",
            Self::NoPath => "the path or address is missing",
            Self::BadGroup => "not a group: expected something like 1.0-Domain-1 before the /",
            Self::NotMulticast => "not a multicast address (IPv6 goes in brackets)",
            Self::RirNotAlone => "rir: takes no address and stands alone",
            Self::UnsupportedProtocol => {
                "no reference can be made for this protocol: that of `corbaloc::host` is IIOP"
            }
            Self::NotAnAddress => "rir: names an initial reference, not an address",
            Self::BadEscape => "% must be followed by two hexadecimal digits",
            Self::MustBeEscaped(c) => return write!(f, "{c:?} must be written as %hh"),
            Self::NotText => "the name is not UTF-8",
        };
        f.write_str(text)
    }
}

/// Error in an object string, with its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UrlError {
    /// The kind of error.
    pub kind: UrlErrorKind,
    /// Offset in octets into the string, without leading white space.
    pub offset: usize,
}

impl UrlError {
    /// An error noticed at an offset.
    #[must_use]
    pub const fn new(kind: UrlErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The minor code of the BAD_PARAM that `string_to_object` raises: 7 for
    /// the scheme, 8 for an address, 9 for the rest of the scheme's part, 10 for
    /// the rest.
    #[must_use]
    pub const fn minor(&self) -> u32 {
        match self.kind {
            UrlErrorKind::UnknownScheme => 7,
            UrlErrorKind::NoProtocol
            | UrlErrorKind::BadVersion
            | UrlErrorKind::BadHost
            | UrlErrorKind::BadIpv6
            | UrlErrorKind::BadPort
            | UrlErrorKind::NoPath
            | UrlErrorKind::BadGroup
            | UrlErrorKind::NotMulticast
            | UrlErrorKind::UnsupportedProtocol
            | UrlErrorKind::NotAnAddress => 8,
            UrlErrorKind::RirNotAlone | UrlErrorKind::MustBeEscaped(_) => 9,
            UrlErrorKind::BadIor(_) | UrlErrorKind::BadEscape | UrlErrorKind::NotText => 10,
        }
    }

    /// The BAD_PARAM that `string_to_object` raises.
    #[must_use]
    pub const fn exception(&self) -> SystemException {
        SystemException::omg(ExceptionKind::BadParam, self.minor(), Completion::No)
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            // The text of the error contains the offset.
            UrlErrorKind::BadIor(error) => error.fmt(f),
            kind => write!(f, "{kind} (at offset {})", self.offset),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for UrlError {}
