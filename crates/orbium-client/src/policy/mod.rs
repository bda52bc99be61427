// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of references, threads, connections and the ORB.

pub(crate) mod client_policies;
pub(crate) mod connection_policies;
pub(crate) mod effective_policies;
pub(crate) mod messaging_policies;
pub(crate) mod overrides;
pub(crate) mod policy_manager;
pub(crate) mod policy_overrides;
pub(crate) mod standard_policy;
pub(crate) mod validation_error;
