// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of objects (OMG Unreliable Multicast Inter-ORB Protocol 1.0).

use crate::Version;

/// A group of objects, within its domain (`PortableGroup::TagGroupTaggedComponent`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectGroup {
    /// Version of the component: 1.0.
    pub version: Version,
    /// Domain of the group.
    pub domain: String,
    /// Id of the group in the domain.
    pub id: u64,
    /// Version of the group's reference; 0 if unknown.
    pub reference_version: u32,
}

impl ObjectGroup {
    /// The object key that represents the group where requests arrive, since they name their target
    /// by the profile.
    #[must_use]
    pub fn object_key(&self) -> Vec<u8> {
        format!("miop/{}/{}", self.id, self.domain).into_bytes()
    }
}
