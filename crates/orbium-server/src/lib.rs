// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server engine of an ORB: connections of clients and what arrives over them, the
//! threading strategies, lanes, queues, dedicated threads and replies.
//!
//! It knows neither servants nor object adapters nor references: a request that was read
//! is an [`IncomingRequest`] and goes to the ORB as a [`Dispatcher`]; what else the engine
//! asks of its ORB is a [`ServerContext`]. Its user is `orbium-core`.
#![forbid(unsafe_code)]

mod connections;
mod context;
mod dedication;
mod deferred;
mod hand_off;
mod intake;
mod lane;
mod log;
mod request;
mod strategy;

pub use connections::connection::ServerConnection;
pub use context::{OrbFacts, ServerContext};
pub use dedication::{Arrival, DedicatedThread, Dedication, Dedications, Gate, Pass, ThreadAsked};
pub use deferred::{
    AnswerPath, AsyncCall, AsyncServant, ByUrgency, DeferredReply, Forward, OpenRequests, Spawn,
    Task, Unanswered, Urgency, WaitingCaller,
};
use lane::lane_core::LaneCore;
pub use lane::lane_start::start_lane;
pub use request::dispatcher::{Dispatcher, Host, Located};
pub use request::incoming::{IncomingRequest, asked_priority};
pub use request::intercepted::{Interception, intercept};
pub use request::observed_request::ObservedRequest;
pub use request::reply::{Kept, Reply, ReplyPath, Sent, UntypedReply};
pub use request::{conclusion, spans};
