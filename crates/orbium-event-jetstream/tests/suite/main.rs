// SPDX-License-Identifier: MIT OR Apache-2.0
//! Persistent channels with a NATS server of their own. Without `nats-server` the tests say that they
//! were skipped.

mod clusters;
mod connecting;
mod dead_letters;
mod delivering;
mod full_disk;
mod hostile;
mod notification;
mod partitioned;
mod pulled;
mod replayed;
mod requests;
mod restarted;
mod sets;
mod spooled;
mod stage;
mod waiting;
