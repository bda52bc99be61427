// SPDX-License-Identifier: MIT OR Apache-2.0
//! The serving side: from connections to requests.

mod books;
mod cancelled;
mod connection;
mod context;
mod dedicated;
mod dispatcher;
mod ending;
mod flusher;
mod idle;
mod incoming;
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
mod start_error;
mod threads;
mod waiting;
mod worker_pool;

use crate::Lane;
pub(crate) use connection::ServerConnection;
pub(crate) use context::ServerContext;
pub(crate) use dispatcher::{Dispatcher, Host, Located};
pub(crate) use incoming::IncomingRequest;
pub(crate) use lane_core::LaneCore;
pub(crate) use start_error::StartError;

/// The lane that an ORB has from the beginning, as long as the ORB is held.
pub(crate) struct Server(pub(crate) Lane);

impl Drop for Server {
    /// The last reference to the ORB is gone: it stops accepting.
    fn drop(&mut self) {
        self.0.0.halt();
    }
}
