// SPDX-License-Identifier: MIT OR Apache-2.0
//! The intake of a connection: from received bytes to requests that are dispatched, enqueued or
//! refused.

mod arriving;
mod contexts;
mod dedication_reply;
mod gated;
mod messages;
mod numbered;
mod plain;
mod queued;
mod refused;
mod refusing;
mod request;
mod source;
mod state;

pub(crate) use queued::{Answering, Queued, Sink, count_waited, no_room};
pub(crate) use source::{HandOver, Source};
pub(crate) use state::Intake;
