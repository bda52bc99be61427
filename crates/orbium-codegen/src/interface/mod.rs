// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces: references, servants, and the operation tables of skeletons.

mod async_servant;
mod asynchronous;
mod client;
mod deferred;
pub(crate) mod demux;
mod errors;
mod handlers;
mod local;
mod operation_table;
pub(crate) mod operations;
mod pollers;
mod results;
pub(crate) mod server;
mod slot;
pub(crate) mod stub;
