// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols: which there are, and what references say of them.

mod coded;
mod datagram;
mod host;
#[cfg(feature = "libraries")]
mod library;
mod offer;
mod offered;
mod opening;
mod packets;
mod policy;
mod publish;
mod published;
mod registry;
#[cfg(feature = "tls")]
mod secured;

#[cfg(feature = "libraries")]
pub use library::LoadError;
pub use offer::Channel;
pub(crate) use offer::lanes;
#[cfg(feature = "bridge")]
pub(crate) use offer::not_understood;
pub(crate) use offer::{Offer, bears_cancelling, code_sets, groups, offers, orb_type};
pub use offered::OfferedProtocol;
pub(crate) use offered::{offered, wanted};
pub use policy::{ProtocolPolicy, ProtocolPolicyError};
pub(crate) use publish::profiles;
#[cfg(feature = "bridge")]
pub(crate) use publish::profiles_with;
pub(crate) use published::{exposed_protocols, published_policies};
pub use registry::{Protocols, UnknownProtocol};
