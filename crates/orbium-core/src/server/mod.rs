// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side: from connections to requests.

mod books;
mod cancelled;
mod connection;
mod dedicated;
mod ending;
mod flusher;
mod idle;
mod intake;
mod lane_core;
mod leader_followers;
mod notifier;
mod origin;
mod own_thread;
mod passing;
mod pool;
mod reactive;
mod reactor;
mod receiving;
mod start_barrier;
mod threads;
mod waiting;
mod worker_pool;

use orbium_transport::Endpoint;

use crate::orb::OrbError;
use crate::{Lane, Orb};
pub(crate) use connection::ServerConnection;
pub(crate) use lane_core::LaneCore;

/// The lane that an ORB has from the beginning, as long as the ORB is held.
pub(crate) struct Server(pub(crate) Lane);

impl Server {
    /// Listens, and starts the threads that serve.
    pub(crate) fn start(orb: &Orb, endpoints: &[Endpoint]) -> Result<Self, OrbError> {
        Ok(Self(Lane(LaneCore::start_own(orb, endpoints)?)))
    }
}

impl Drop for Server {
    /// The last reference to the ORB is gone: it stops accepting.
    fn drop(&mut self) {
        self.0.0.halt();
    }
}
