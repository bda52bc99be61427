// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers: adapters, strategies, lanes, shutdown, metrics.

mod configuration;
mod demultiplexing;
mod dispatch_hook;
mod fair_queues;
mod fair_turns;
mod lanes;
mod last_replies;
mod leader_followers;
mod metrics;
mod metrics_recorder;
mod poa;
mod shutdown;
mod starting;
mod worker_pool;
