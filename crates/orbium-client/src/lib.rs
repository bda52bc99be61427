// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling side of an ORB: from a [`Reference`] and arguments to results, over
//! connections that a [`ClientContext`] pools.
//!
//! It knows neither object adapters nor servants: a call to an object of the caller's own
//! ORB goes through [`LocalOrb`]. Its user is `orbium-core`; `orbium` has what programs
//! need.
#![forbid(unsafe_code)]

mod asynchronous;
mod attempt;
mod band_operation;
mod bands;
mod binding;
mod call;
mod candidate;
mod collocated;
mod config;
mod connecting;
mod connection;
mod connection_policies;
mod context;
mod counts;
mod exchange;
mod intercepted;
mod introduction;
mod link;
mod local_orb;
mod locate;
pub mod notice;
mod observed;
mod outcome;
mod overrides;
mod partition;
mod per_thread;
mod pool;
mod pool_key;
mod pools;
mod priorities;
mod private_connections;
mod reacting;
mod reference;
mod request_header;
mod shared;
mod span;
mod thread_policies;
mod waiting;
mod way;

use orbium_invocation::call_exceptions as errors;

pub use asynchronous::{Asynchronous, call_async};
pub use binding::offered;
pub use call::{call, call_once, connect, locate, send};
pub use collocated::Collocated;
pub use config::ClientConfig;
pub use connection_policies::ConnectionPolicies;
pub use context::ClientContext;
pub use local_orb::{LocalOrb, LocalReply};
pub use orbium_invocation::call_exceptions::no_usable_protocol;
pub use overrides::Overrides;
pub use private_connections::PrivateConnections;
pub use reference::Reference;
pub use thread_policies::ThreadPolicies;
