// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server engine of an ORB: connections of clients and what arrives over them, the
//! threading strategies, lanes, queues, dedicated threads and replies.
//!
//! It knows neither servants nor object adapters nor references: a request that was read
//! is an [`IncomingRequest`] and goes to the ORB as a [`Dispatcher`]; what else the engine
//! asks of its ORB is a [`ServerContext`]. Its user is `orbium-core`.
#![forbid(unsafe_code)]

mod cancelled;
pub mod conclusion;
mod connection;
mod connection_table;
mod context;
mod dedicated;
mod dedicated_thread;
mod dedication;
mod dedication_state;
mod deferred;
mod dispatcher;
mod ending;
mod flusher;
mod hand_off;
mod idle;
mod incoming;
mod intake;
mod intercepted;
mod lane_core;
mod lane_start;
mod leader_followers;
mod log;
mod notifier;
mod observed_request;
mod origin;
mod outcome;
mod pool;
mod reactive;
mod reactor;
mod receiving;
mod reply;
pub mod spans;
mod threads;
mod waiting;
mod worker_pool;

pub use connection::ServerConnection;
pub use context::{OrbFacts, ServerContext};
pub use dedication::{Arrival, DedicatedThread, Dedication, Dedications, Gate, Pass, ThreadAsked};
pub use deferred::{
    AnswerPath, AsyncCall, AsyncServant, DeferredReply, Forward, OpenRequests, Spawn, Task,
    Unanswered, WaitingCaller,
};
pub use dispatcher::{Dispatcher, Host, Located};
pub use incoming::{IncomingRequest, asked_priority};
pub use intercepted::{Interception, intercept};
use lane_core::LaneCore;
pub use lane_start::start_lane;
pub use observed_request::ObservedRequest;
pub use reply::{Kept, Reply, ReplyPath, Sent, UntypedReply};
