// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling side of an ORB: from a [`Reference`] and arguments to results, over
//! connections that a [`ClientContext`] pools.
//!
//! It knows neither object adapters nor servants: a call to an object of the caller's own
//! ORB goes through [`LocalOrb`]. Its user is `orbium-core`; `orbium` has what programs
//! need. The modules are public for `orbium-ami`, which makes the same attempts without a
//! thread for each.
#![forbid(unsafe_code)]

mod buffering;
mod call;
mod client_config;
mod collocation;
mod connection;
mod context;
pub mod counts;
mod policy;
mod pools;
mod reference;
mod shared;

use orbium_invocation::call_exceptions as errors;

pub use buffering::buffered::flush_oneways;
pub use buffering::flow_control::FlowControl;
pub use call::intercepted::{InPlace, ServedCall};
pub use call::synchronous::{call, call_or_serve, connect, locate, send, send_or_serve};
pub use call::{attempt, exchange, introduction, notice, outcome, received_reply, span};
pub use client_config::ClientConfig;
pub use collocation::detour::{Detour, ObservedCall};
pub use collocation::local_orb::{LocalOrb, LocalReply};
pub use collocation::own_object::Collocated;
pub use connection::{connecting, link, waiting};
pub use context::ClientContext;
pub use orbium_invocation::call_exceptions::no_usable_protocol;
pub use orbium_invocation::typed_reply::{
    Acknowledgement, ReplyReader, Results, TypedOutcome, TypedReply,
};
pub use policy::client_policies::ClientPolicies;
pub use policy::messaging_policies::MessagingPolicies;
pub use policy::overrides::Overrides;
pub use policy::policy_manager::PolicyManager;
pub use policy::policy_overrides::{OverrideError, PolicyScope, SetOverride};
pub use policy::standard_policy::standard_policy;
pub use pools::private_connections::PrivateConnections;
pub use pools::{band_operation, partition, pool, pool_key};
pub use reference::Reference;
pub use reference::binding::offered;
pub use reference::{candidate, request_path};
