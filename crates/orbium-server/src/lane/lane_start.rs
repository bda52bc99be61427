// SPDX-License-Identifier: MIT OR Apache-2.0
//! The start of a lane: its threads, by its strategy.

use std::sync::Arc;

use orbium_channel::Channel;
use orbium_channel::accepting::Accepting;
use orbium_config::ServerStrategy;
use orbium_sys::Waker;

use crate::lane::lane_core::LaneCore;
use crate::strategy::{leader_followers, reactive, thread_per_connection, worker_pool};
use orbium_lane::{Lane, LaneConfig, StartError};
use orbium_request::Host;

/// Starts a lane with that number, which is unique in its ORB: it serves the accepted connections,
/// and its channels are published.
///
/// # Errors
/// The host refuses its scheduling or threads; nothing remains of it then.
pub fn start_lane(
    host: &Host,
    number: u32,
    config: &LaneConfig,
    accepting: Accepting,
    published: Vec<Channel>,
) -> Result<Lane, StartError> {
    host.context.serve_here();
    let failed = |error| StartError::Threads(config.name.clone(), error);
    // Owned by the threads that wait for connections.
    let waker = Arc::new(Waker::new().map_err(failed)?);
    let lane = LaneCore::new(host, config, number, (&accepting, &waker), published)?;
    let started = match config.strategy {
        ServerStrategy::ThreadPerConnection => {
            thread_per_connection::start(&lane, accepting, waker)
        }
        ServerStrategy::Reactive => reactive::start(&lane, accepting, &waker),
        ServerStrategy::LeaderFollowers { .. } => {
            leader_followers::start(&lane, accepting, &waker, &config.sizes())
        }
        ServerStrategy::WorkerPool { .. } => worker_pool::start(&lane, accepting, &waker),
    };
    if let Err(error) = started {
        // Threads that are already started have no work.
        lane.stop();
        lane.wait_for_threads();
        return Err(failed(error));
    }
    log_addresses(&lane);
    Ok(Lane::new(lane))
}

fn log_addresses(lane: &LaneCore) {
    for channel in lane.endpoints.published().iter() {
        crate::log::info!(
            target: "orbium::conn",
            lane = lane.label(),
            published = %channel,
            "listening; this address is of use to {}",
            channel.audience()
        );
    }
}
