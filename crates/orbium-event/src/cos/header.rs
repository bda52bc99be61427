// SPDX-License-Identifier: MIT OR Apache-2.0
//! Type and source of COS suppliers' events in the real-time event channel.

/// The type and source that events from COS suppliers have for consumers of the real-time event
/// channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CosHeader {
    /// The type.
    pub r#type: i32,
    /// The source.
    pub source: i32,
}
