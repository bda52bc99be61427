// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols: which there are, and what references say of them.

mod offer;
mod publish;
mod registry;

pub use offer::Channel;
pub(crate) use offer::{Offer, offers};
pub(crate) use publish::profiles;
pub use registry::Protocols;
