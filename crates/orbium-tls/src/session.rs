// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a handshake.

use crate::TlsVersion;

/// The result of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The protocol version.
    pub version: TlsVersion,
    /// The cipher suite, as the specification names it.
    pub suite: String,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
}
