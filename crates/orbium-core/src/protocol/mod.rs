// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols: which there are, and what references say of them.

mod coded;
mod host;
mod offer;
mod offered;
mod policy;
mod publish;
mod registry;

pub use offer::Channel;
pub(crate) use offer::{Offer, code_sets, offers};
pub use offered::OfferedProtocol;
pub(crate) use offered::{offered, wanted};
pub use policy::{ProtocolPolicy, ProtocolPolicyError};
pub(crate) use publish::profiles;
pub use registry::Protocols;
