// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request: what the ORB sees of it, its observers, its outcome and its reply.

pub mod conclusion;
pub(crate) mod dispatcher;
pub(crate) mod incoming;
pub(crate) mod intercepted;
pub(crate) mod message_outcome;
pub(crate) mod observed_request;
pub(crate) mod reply;
pub mod spans;
