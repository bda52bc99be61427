// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server engine of an ORB: connections of clients and what arrives over them, the
//! threading strategies, lanes, queues, dedicated threads and replies.
//!
//! It knows neither servants nor object adapters nor references: a request that was read
//! is an [`IncomingRequest`] and goes to the ORB as a [`Dispatcher`]; what else the engine
//! asks of its ORB is a [`ServerContext`]. Its user is `orbium-core`.
#![forbid(unsafe_code)]

mod books;
mod caller_lane;
mod cancelled;
mod connection;
mod context;
mod dedicated;
mod dedicated_thread;
mod dedication;
mod deferred;
mod dispatcher;
mod ending;
mod expiry;
mod flusher;
mod hand_off;
mod idle;
mod incoming;
mod intake;
mod intercepted;
pub mod lane;
mod lane_core;
mod lane_start;
mod leader_followers;
mod log;
mod notifier;
pub mod object_key;
mod orb_error;
mod origin;
mod outcome;
mod poa_error;
mod pool;
mod reactive;
mod reactor;
mod receiving;
mod reply;
mod settled;
mod start_error;
mod threads;
mod waiting;
mod worker_pool;

pub use connection::ServerConnection;
pub use context::{OrbFacts, ServerContext};
pub use dedication::{Arrival, DedicatedThread, Dedication, Dedications, Gate, Pass, ThreadAsked};
pub use deferred::{
    AsyncCall, AsyncServant, DeferredReply, Forward, OpenRequests, Spawn, Task, Unanswered,
    WaitingCaller, Way,
};
pub use dispatcher::{Dispatcher, Host, Located};
pub use expiry::Expiry;
pub use incoming::{IncomingRequest, asked_priority};
pub use intercepted::{Interception, intercept};
use lane_core::LaneCore;
pub use orb_error::OrbError;
pub use poa_error::PoaError;
pub use reply::{Kept, Reply, ReplyPath, Sent, UntypedReply};
pub use start_error::StartError;
