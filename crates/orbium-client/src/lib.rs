// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling side of an ORB: from a [`Reference`] and arguments to results, over
//! connections of `orbium-connection` that a [`ClientContext`] pools.
//!
//! It depends on neither object adapters nor servants: a call to an object of the caller's own ORB
//! goes through [`LocalOrb`]. It is used by `orbium-core`; programs use `orbium`. The modules are
//! public for `orbium-ami`, which makes the same attempts without a thread for each.
#![forbid(unsafe_code)]

mod call;
mod collocation;
mod context;
mod policy;
mod priorities;
mod reference;

use orbium_invocation::call_exceptions as errors;

pub use call::buffered::flush_oneways;
pub use call::intercepted::{InPlace, ServedCall};
pub use call::synchronous::{call, call_or_serve, connect, locate, send, send_or_serve};
pub use call::{attempt, exchange, link, notice, received_reply, span};
pub use collocation::detour::{Detour, ObservedCall};
pub use collocation::local_orb::{LocalOrb, LocalReply};
pub use collocation::own_object::Collocated;
pub use collocation::terms::{LentTerms, Terms};
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
pub use policy::validation_error::ValidationError;
pub use priorities::band_operation;
pub use reference::Reference;
pub use reference::binding::offered;
pub use reference::object_url::object_url;
pub use reference::{candidate, request_path};
