// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server engine of an ORB: connections of clients, processing of received messages, the
//! threading strategies, lanes, queues and dedicated threads.
//!
//! It depends on neither servants, object adapters nor references: a received request is an
//! [`IncomingRequest`](orbium_request::IncomingRequest) and is passed to the ORB as a
//! [`Dispatcher`](orbium_request::Dispatcher); other state of the ORB is in a
//! [`ServerContext`](orbium_request::ServerContext). It is used by `orbium-core`.
#![forbid(unsafe_code)]

mod connections;
mod dedication;
mod hand_off;
mod intake;
mod lane;
mod log;
mod message_outcome;
mod strategy;

use connections::connection::ServerConnection;
use lane::lane_core::LaneCore;
pub use lane::lane_start::start_lane;
