// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols: which there are, and what references say of them.

mod coded;
mod datagram;
mod host;
mod library;
mod offer;
mod offered;
mod packets;
mod policy;
mod publish;
mod published;
mod registry;

pub use library::LoadError;
pub use offer::Channel;
pub(crate) use offer::{Offer, code_sets, groups, lanes, not_understood, offers};
pub use offered::OfferedProtocol;
pub(crate) use offered::{offered, wanted};
pub use policy::{ProtocolPolicy, ProtocolPolicyError};
pub(crate) use publish::{profiles, profiles_with};
pub(crate) use published::{exposed_protocols, published_policies};
pub use registry::{Protocols, UnknownProtocol};
