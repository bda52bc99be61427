// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests between the server engine of an ORB, which receives them, and its object adapters,
//! which dispatch them: an [`IncomingRequest`], the [`UntypedReply`] that answers it,
//! [deferred](DeferredReply) replies, and the [`ServerContext`] used by both sides.
//!
//! It depends on neither servants, adapters nor references, nor on threads, queues or connections
//! of the engine: an adapter sees the connection of a request as a [`PeerConnection`], and the
//! engine sees the ORB as a [`Dispatcher`]. It is used by `orbium-server` and `orbium-core`;
//! programs use `orbium`.
#![forbid(unsafe_code)]

pub mod conclusion;
mod context;
mod dedications;
mod deferred;
mod dispatcher;
mod incoming;
mod intercepted;
mod log;
mod observed_request;
mod peer_connection;
mod reply;
pub mod spans;
mod target;

pub use context::{OrbFacts, ServerContext};
pub use dedications::{Dedications, GrantedPlace};
pub use deferred::{
    AnswerPath, AsyncCall, AsyncServant, ByUrgency, DeferredReply, Forward, OpenRequests, Spawn,
    Task, Unanswered, Urgency, WaitingCaller,
};
pub use dispatcher::{Dispatcher, Host, Located};
pub use incoming::{IncomingRequest, asked_priority, key_of};
pub use intercepted::{intercept, intercept_linked, intercept_unlinked, interrupted};
pub use observed_request::ObservedRequest;
pub use peer_connection::{ConnectionWatch, PeerConnection};
pub use reply::{Kept, Reply, ReplyPath, Sent, UntypedReply};
pub use target::{ReceivedContext, Target};
