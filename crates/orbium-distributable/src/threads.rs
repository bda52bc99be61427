// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distributable threads of an ORB.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::interceptor::{DuplicateName, Interceptors};
use orbium::{Orb, PoaError};

use crate::client::Sending;
use crate::control::{CONTROL_KEY, Canceller};
use crate::current::Current;
use crate::id::ThreadId;
use crate::registry::Registry;
use crate::scheduler::Scheduler;
use crate::server::Receiving;
use crate::shared::Shared;
use crate::thread::DistributableThread;
use crate::thread_control::Control;

/// The distributable threads of an ORB, and their scheduler. A clone is the same.
#[derive(Clone)]
pub struct DistributableThreads(Arc<Shared>);

impl DistributableThreads {
    /// With that scheduler.
    #[must_use]
    pub fn new(scheduler: impl Scheduler) -> Self {
        Self(Arc::new(Shared {
            scheduler: Box::new(scheduler),
            registry: Registry::default(),
            refused: AtomicU64::new(0),
        }))
    }

    /// Adds what carries threads into and out of requests, to an ORB that is built later.
    ///
    /// # Errors
    /// [`DuplicateName`]: it was added already.
    pub fn install(&self, interceptors: &mut Interceptors) -> Result<(), DuplicateName> {
        interceptors.add_client(Sending(Arc::clone(&self.0)))?;
        interceptors.add_server(Receiving(Arc::clone(&self.0)))
    }

    /// Serves the object by which cancellation arrives from other processes. An ORB that does not is not
    /// notified: its threads raise THREAD_CANCELLED when they have returned.
    ///
    /// # Errors
    /// As [`Orb::serve`].
    pub fn serve(&self, orb: &Orb) -> Result<(), PoaError> {
        let servant = Canceller(Arc::clone(&self.0));
        let _: Control = orb.serve(CONTROL_KEY, servant)?;
        Ok(())
    }

    /// The calling thread (`RTScheduler_Current`).
    #[must_use]
    pub fn current(&self) -> Current {
        Current(Arc::clone(&self.0))
    }

    /// The thread of that id, if it runs here.
    #[must_use]
    pub fn lookup(&self, id: ThreadId) -> Option<DistributableThread> {
        self.0.registry.find(id)
    }

    /// How often the host has refused a native priority that the scheduler assigned.
    #[must_use]
    pub fn refused_schedulings(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for DistributableThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributableThreads")
            .field("discipline", &self.0.scheduler.discipline())
            .finish_non_exhaustive()
    }
}
