// SPDX-License-Identifier: MIT OR Apache-2.0
//! The intake of a connection: from bytes that arrived to requests that are dispatched,
//! enqueued or refused.

mod arriving;
mod dedication_reply;
mod gated;
mod messages;
mod oversized;
mod queued;
mod refused;
mod request;
mod scarce;
mod source;
mod state;
mod whole;

pub(crate) use queued::{Answering, Queued, Sink};
pub(crate) use source::{HandOver, Source};
pub(crate) use state::Intake;
