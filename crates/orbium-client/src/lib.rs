// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling side of an ORB: from a [`Reference`] and arguments to results, over
//! connections that a [`ClientContext`] pools.
//!
//! It knows neither object adapters nor servants: a call to an object of the caller's own
//! ORB goes through [`LocalOrb`]. Its user is `orbium-core`; `orbium` has what programs
//! need. The modules are public for `orbium-ami`, which makes the same attempts without a
//! thread for each.
#![forbid(unsafe_code)]

pub mod attempt;
pub mod band_operation;
mod bands;
mod binding;
mod buffered;
mod call;
pub mod candidate;
mod client_policies;
mod collocated;
mod config;
pub mod connecting;
mod connection;
mod connection_policies;
mod context;
pub mod counts;
mod detour;
mod effective_policies;
pub mod exchange;
mod flow_control;
mod flusher;
mod intercepted;
pub mod introduction;
pub mod link;
mod local_orb;
mod locate;
mod messaging_policies;
pub mod notice;
mod object_url;
mod observed;
pub mod outcome;
mod overrides;
mod own_object;
pub mod partition;
mod per_thread;
mod policy_manager;
mod policy_overrides;
pub mod policy_type;
pub mod pool;
pub mod pool_key;
mod pools;
mod priorities;
mod private_connections;
mod reacting;
pub mod received_reply;
mod reference;
mod request_header;
pub mod request_path;
mod shared;
pub mod span;
mod standard_policy;
pub mod waiting;

use orbium_invocation::call_exceptions as errors;

pub use binding::offered;
pub use buffered::flush_oneways;
pub use call::{call, call_or_serve, connect, locate, send, send_or_serve};
pub use client_policies::ClientPolicies;
pub use config::ClientConfig;
pub use context::ClientContext;
pub use detour::{Detour, ObservedCall};
pub use flow_control::FlowControl;
pub use intercepted::{InPlace, ServedCall};
pub use local_orb::{LocalOrb, LocalReply};
pub use messaging_policies::MessagingPolicies;
pub use object_url::object_url;
pub use orbium_invocation::call_exceptions::no_usable_protocol;
pub use orbium_invocation::typed_reply::{
    Acknowledgement, ReplyReader, Results, TypedOutcome, TypedReply,
};
pub use overrides::Overrides;
pub use own_object::Collocated;
pub use policy_manager::PolicyManager;
pub use policy_overrides::{OverrideError, PolicyScope, SetOverride};
pub use private_connections::PrivateConnections;
pub use reference::Reference;
pub use standard_policy::standard_policy;
