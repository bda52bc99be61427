// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of media in references.

/// The name of this messaging in endpoints and references.
pub const MESSAGING: &str = "media";

/// Type of the references of receivers. It has no operations.
pub const RECEIVER_REPOSITORY_ID: &str = "IDL:orbium/MediaReceiver:1.0";
