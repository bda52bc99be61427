// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants of a channel: admins, proxies, and their shared state.

pub(crate) mod channel_state;
pub(crate) mod consumers;
pub(crate) mod named_consumers;
pub(crate) mod observation;
pub(crate) mod proxies;
mod proxy_object;
pub(crate) mod suppliers;
