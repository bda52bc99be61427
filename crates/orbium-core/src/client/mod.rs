// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling side: from a reference and arguments to results.

mod asynchronous;
mod attempt;
mod band_operation;
mod bands;
mod binding;
mod call;
mod candidate;
mod config;
mod connecting;
mod connection;
mod connection_policies;
mod context;
mod counts;
mod decoding;
mod ended;
mod errors;
mod exchange;
mod introduction;
mod link;
mod local_orb;
mod locate;
pub(crate) mod notice;
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
mod story;
mod thread_policies;
mod ticks;
mod time_policies;
mod timing;
mod waiting;
mod way;

pub(crate) use asynchronous::call_async;
pub(crate) use call::{call, call_once, connect, locate, send};
pub(crate) use config::ClientConfig;
pub(crate) use connection_policies::ConnectionPolicies;
pub(crate) use context::ClientContext;
pub(crate) use errors::no_usable_protocol;
pub(crate) use local_orb::{LocalOrb, LocalReply};
pub(crate) use overrides::Overrides;
pub(crate) use private_connections::PrivateConnections;
pub(crate) use reference::Reference;
pub(crate) use story::prepare as prepare_stories;

pub use asynchronous::Asynchronous;
#[doc(hidden)]
pub use story::explain_refusal;
pub use story::{Explanation, Failure, Phase, Step, explain, last_failure};
pub use time_policies::TimePolicies;
