// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of calls: messaging, routers, time.

pub(crate) mod expiry;
pub(crate) mod messaging;
pub mod router_policies;
pub(crate) mod time_policies;
pub mod timing;
