// SPDX-License-Identifier: MIT OR Apache-2.0
//! A span for each call of a client and one for each request of a server.

mod call;
mod request;

pub(crate) use call::{CallSpan, note_request_id};
pub(crate) use request::{RequestSpan, note_user_exception, serve_within};
