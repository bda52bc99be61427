// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server engine of an ORB: connections of clients and what arrives over them, the
//! threading strategies, lanes, queues and dedicated threads.
//!
//! It knows neither servants nor object adapters nor references: a request that was read
//! is an [`IncomingRequest`](orbium_request::IncomingRequest) and goes to the ORB as a
//! [`Dispatcher`](orbium_request::Dispatcher); what else the engine asks of its ORB is a
//! [`ServerContext`](orbium_request::ServerContext). Its user is `orbium-core`.
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
