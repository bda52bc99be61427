// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side: from connections to requests.

mod bell;
mod books;
mod cancelled;
mod connection;
#[cfg(feature = "real-time")]
mod dedicated;
mod ending;
mod idle;
mod intake;
mod lane_core;
#[cfg(feature = "strategies")]
mod leader_followers;
mod origin;
#[cfg(feature = "real-time")]
mod own_thread;
#[cfg(not(feature = "real-time"))]
#[path = "own_thread/left_out.rs"]
mod own_thread;
mod passing;
#[cfg(feature = "strategies")]
mod pool;
#[cfg(not(feature = "strategies"))]
#[path = "pool/left_out.rs"]
mod pool;
mod reactive;
mod reactor;
mod receiving;
#[cfg(feature = "strategies")]
mod starting;
mod threads;
#[cfg(feature = "strategies")]
mod waiting;
#[cfg(feature = "strategies")]
mod worker_pool;

use orbium_transport::Endpoint;

use crate::orb::OrbError;
use crate::{Lane, Orb};
pub(crate) use connection::ServerConnection;
pub(crate) use lane_core::LaneCore;
pub(crate) use reactive::{is_within_a_wait, keeps_reactor, wait_meanwhile};

/// The lane that an ORB has from the beginning, as long as the ORB is held.
pub(crate) struct Server(pub(crate) Lane);

impl Server {
    /// Listens, and starts the threads that serve.
    pub(crate) fn start(orb: &Orb, endpoints: &[Endpoint]) -> Result<Self, OrbError> {
        Ok(Self(Lane(LaneCore::start_own(orb, endpoints)?)))
    }
}

impl Drop for Server {
    /// An ORB that nobody holds any more takes no connections.
    fn drop(&mut self) {
        self.0.0.halt();
    }
}
