// SPDX-License-Identifier: MIT OR Apache-2.0
//! A span for each call of a client.

mod call;

pub(crate) use call::{CallSpan, note_request_id};
