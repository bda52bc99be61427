// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORB types: the ORB that wrote a reference (TAG_ORB_TYPE).

/// ORB type of omniORB.
pub const ORB_TYPE_OMNIORB: u32 = 0x4154_5400;
/// ORB type of TAO.
pub const ORB_TYPE_TAO: u32 = 0x5441_4F00;
/// ORB type of JacORB.
pub const ORB_TYPE_JACORB: u32 = 0x4A41_4300;
/// ORB type of orbium ("ORB\0"; not registered with the OMG).
pub const ORB_TYPE_ORBIUM: u32 = 0x4F52_4200;

/// The name of an ORB type, or `None` for an unknown one.
#[must_use]
pub const fn orb_name(orb_type: u32) -> Option<&'static str> {
    match orb_type {
        ORB_TYPE_OMNIORB => Some("omniORB"),
        ORB_TYPE_TAO => Some("TAO"),
        ORB_TYPE_JACORB => Some("JacORB"),
        ORB_TYPE_ORBIUM => Some("orbium"),
        _ => None,
    }
}
