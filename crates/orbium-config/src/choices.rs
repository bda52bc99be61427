// SPDX-License-Identifier: MIT OR Apache-2.0
//! Choices with a default of their own.

use std::time::Duration;

/// Whether clients that call by a bound key are sent to the whole reference: yes by
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardBoundKeys(pub bool);

impl Default for ForwardBoundKeys {
    fn default() -> Self {
        Self(true)
    }
}

/// A connect timeout, 10 s by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectTimeout(pub Duration);

impl ConnectTimeout {
    /// No limit of its own: as long as the call may take, and the system tries.
    pub const NONE: Self = Self(Duration::MAX);
}

impl Default for ConnectTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

/// Whether a server sends replies to pipelined requests together; it does by default.
///
/// A reply is collected while the next request of its connection lies whole in the receive
/// buffer, and sent with those behind it, up to 6 KiB. It is held for 100 µs while requests
/// are served quickly, and never for longer than 2 ms and the wake-up of a thread, however
/// long a servant takes. Nothing is collected while servants take more than 50 µs each, nor
/// where one request is answered before the next is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyBatching(pub bool);

impl Default for ReplyBatching {
    fn default() -> Self {
        Self(true)
    }
}

/// A GIOP minor version from 0 to 2, 2 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiopMinor(u8);

impl Default for GiopMinor {
    fn default() -> Self {
        Self(2)
    }
}

impl GiopMinor {
    /// GIOP 1.`minor`; `None` beyond 1.2.
    #[must_use]
    #[inline]
    pub const fn new(minor: u8) -> Option<Self> {
        if minor <= 2 { Some(Self(minor)) } else { None }
    }

    /// The number.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }
}
