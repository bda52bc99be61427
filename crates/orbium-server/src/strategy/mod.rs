// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strategies: the threads of a lane that read connections, and those that run servants.

pub(crate) mod leader_followers;
pub(crate) mod notifier;
pub(crate) mod reactive;
mod reactor;
pub(crate) mod thread_per_connection;
pub(crate) mod worker_pool;
