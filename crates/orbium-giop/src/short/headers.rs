// SPDX-License-Identifier: MIT OR Apache-2.0
//! Header forms on which the two ends of a stream have agreed.

use super::form::{DEFINES, NATIVE, NUMBERED};
use crate::message::header::{HEADER_LEN, MessageHeader};

/// Header forms of requests and replies over a stream, as agreed by its two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Headers {
    /// Whether short headers are in use.
    short: bool,
    /// Whether bodies may be in the [`native`](crate::Version::NATIVE) data representation.
    native: bool,
    /// Whether objects and operations are assigned [numbers](crate::numbers).
    numbered: bool,
}

impl Headers {
    /// Headers of GIOP.
    pub const GIOP: Self = Self {
        short: false,
        native: false,
        numbered: false,
    };

    /// [Short ones](crate::Version::SHORT), where possible.
    pub const SHORT: Self = Self {
        short: true,
        ..Self::GIOP
    };

    /// Short ones with bodies in the [`native`](crate::Version::NATIVE) data representation.
    pub const NATIVE: Self = Self::SHORT.with_native_bodies();

    /// Short ones with [numbers](crate::numbers) in place of names.
    pub const NUMBERED: Self = Self {
        numbered: true,
        ..Self::SHORT
    };

    /// The same, with bodies in the [`native`](crate::Version::NATIVE) data representation.
    #[must_use]
    pub const fn with_native_bodies(self) -> Self {
        Self {
            native: true,
            ..self
        }
    }

    /// Whether short headers are in use.
    #[must_use]
    pub const fn are_short(self) -> bool {
        self.short
    }

    /// Whether bodies are in the [`native`](crate::Version::NATIVE) data representation.
    #[must_use]
    pub const fn are_native(self) -> bool {
        self.native
    }

    /// Whether objects and operations are assigned [numbers](crate::numbers).
    #[must_use]
    pub const fn are_numbered(self) -> bool {
        self.numbered
    }

    /// Reads a short header, if it is one of this set.
    #[must_use]
    #[inline]
    pub const fn parse(self, octets: &[u8; HEADER_LEN]) -> Option<MessageHeader> {
        let form = octets[0];
        if !self.short
            || form & NATIVE != 0 && !self.native
            || form & (NUMBERED | DEFINES) != 0 && !self.numbered
        {
            return None;
        }
        MessageHeader::parse_short(octets)
    }
}
