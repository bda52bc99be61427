// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery to consumers: their queues, health and threads.

pub(crate) mod connected;
pub(crate) mod consumer;
pub(crate) mod dispatch;
pub(crate) mod dropped;
pub(crate) mod health;
pub(crate) mod ordered;
pub(crate) mod pull_error;
pub(crate) mod queue;
pub(crate) mod release_guard;
mod scheduler_context;
pub(crate) mod serving;
pub(crate) mod start_once;
pub(crate) mod tasks;
