// SPDX-License-Identifier: MIT OR Apache-2.0
//! The available protocols, and their profiles in references.

mod coded;
mod datagram;
mod host;
#[cfg(feature = "libraries")]
pub mod library;
mod offer;
mod offered;
mod opening;
mod packets;
mod policy;
mod protocol_names;
mod publish;
mod published;
mod registry;
mod shared_memory;
mod unusable;

pub use offer::Channel;
pub use offer::lanes;
pub use offer::not_understood;
pub use offer::{Offer, accepts_cancel_requests, code_sets, groups, offers, orb_type};
pub use offered::OfferedProtocol;
pub use offered::{Usable, wanted};
pub use opening::ChannelOptions;
pub use policy::{ProtocolPolicy, ProtocolPolicyError};
pub use protocol_names::missing_feature;
pub use publish::ProfileComponents;
pub use publish::profiles;
pub use publish::profiles_with;
pub use published::{exposed_protocols, names_of_profile, published_policies};
pub use registry::{Protocols, UnknownProtocol};
pub use unusable::{OpenError, Unusable};
