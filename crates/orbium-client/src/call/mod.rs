// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call: its attempts, each with one exchange; its policies, interceptors, metrics and spans.

pub mod attempt;
pub(crate) mod buffered;
pub mod exchange;
pub(crate) mod intercepted;
pub mod link;
mod locate;
pub mod notice;
pub(crate) mod observed;
pub mod received_reply;
pub(crate) mod request_header;
pub mod span;
pub(crate) mod synchronous;
