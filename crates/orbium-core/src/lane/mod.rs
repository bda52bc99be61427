// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: everything needed to serve at one priority, and nothing shared that
//! could block.

mod config;
mod configured;
mod room;
mod route;
pub(crate) mod thread;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::{Origin, PerProcess};

use crate::orb::OrbError;
use crate::server::LaneCore;
use crate::{Channel, Config, Orb, Priority, ServerStrategy};

pub use config::LaneConfig;
pub(crate) use configured::lane_endpoints;
pub(crate) use room::Place;
pub use room::QueueRoom;
pub(crate) use route::{Decided, OWN, Route, SETTLED, lane_of_object};

/// A lane: threads at one priority with their own endpoints, connections,
/// buffers and queue. An ORB has one from the beginning, which its
/// [`Config`] describes; [`Orb::add_lane`] adds others, with the feature
/// `strategies`, which end with the ORB or before ([`Lane::stop`]). Adapters are
/// given lanes by [`Policies::lanes`](crate::Policies). Cheap to clone; clones are
/// the same lane.
///
/// ```
/// use orbium_core::{LaneConfig, Orb, Policies, Priority};
///
/// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
/// let mut lanes = Vec::new();
/// for (name, priority) in [("routine", 10), ("urgent", 100)] {
///     lanes.push(orb.add_lane(&LaneConfig {
///         name: name.into(),
///         priority: Priority::new(priority),
///         endpoints: vec!["iiop://127.0.0.1:0".parse()?],
///         ..LaneConfig::default()
///     })?);
/// }
/// let policies = Policies {
///     lanes,
///     ..Policies::default()
/// };
/// let adapter = orb.root_poa().create_poa("devices", None, policies)?;
/// # drop(adapter);
/// orb.shutdown(true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lane(pub(crate) Arc<LaneCore>);

impl Lane {
    /// How its threads are called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The CORBA priority that its requests are served at.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        self.0.setup.priority
    }

    /// The scheduling that its threads have; `None` if they were given none, or
    /// the host refuses it to a soft lane.
    #[must_use]
    pub fn scheduling(&self) -> Option<orbium_sys::Scheduling> {
        self.0.setup.scheduling
    }

    /// How it serves.
    #[must_use]
    pub fn strategy(&self) -> ServerStrategy {
        self.0.strategy
    }

    /// Where it listens, as references say it.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.0.published
    }

    /// Requests for which there was no room so far: answered TRANSIENT, or
    /// dropped if they were oneways.
    #[must_use]
    #[inline]
    pub fn refused_requests(&self) -> u64 {
        self.0.refused()
    }

    /// Requests that wait for a thread right now.
    #[must_use]
    pub fn waiting_requests(&self) -> usize {
        self.0.pool.waiting()
    }

    /// Whether the calling thread is one of the lane's.
    #[must_use]
    #[inline]
    pub fn is_of_this_thread(&self) -> bool {
        self.0.setup.is_of_this_thread()
    }

    /// Ends the lane: requests being served are completed and answered, those
    /// that wait are dropped, its connections closed; returns when its threads
    /// have ended. Objects of adapters that have no other lane are answered for
    /// with TRANSIENT from now on. A second call does nothing.
    ///
    /// # Errors
    /// BAD_INV_ORDER from a thread of the lane: that would wait for itself.
    #[inline]
    pub fn stop(&self) -> Result<(), SystemException> {
        let orb = self.0.orb.upgrade().map(Orb::from);
        if self.is_of_this_thread() {
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                3,
                Completion::No,
            ));
        }
        self.0.halt();
        self.0.await_end();
        if let Some(orb) = orb {
            orb.core().lanes.lock().retain(|it| it != self);
        }
        Ok(())
    }
}

impl PartialEq for Lane {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Lane {}

impl Hash for Lane {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Lane {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("name", &self.name())
            .field("priority", &self.priority())
            .field("strategy", &self.strategy())
            .finish_non_exhaustive()
    }
}

/// The lanes that were added to an ORB.
#[derive(Default)]
pub(crate) struct Lanes {
    /// In a forked child none.
    added: PerProcess<Mutex<Vec<Lane>>>,
    /// The process that runs the threads of the lanes.
    served_by: OnceLock<Origin>,
    /// Those of the configuration, once they are there.
    configured: OnceLock<Vec<Lane>>,
    last: AtomicU32,
    /// Whether requests may have to go to another lane than their connection's,
    /// or a hook be asked.
    routed: AtomicBool,
}

impl Lanes {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        let added = self.added.get_or_init(Mutex::default);
        added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lane is about to serve in this process.
    pub(crate) fn serve_here(&self) {
        let _ = self.served_by.set(Origin::here());
    }

    /// Whether what serves is in another process, which this one was forked from.
    pub(crate) fn are_left_behind(&self) -> bool {
        self.served_by
            .get()
            .is_some_and(|process| !process.is_here())
    }

    /// Whether it must be found out where a request is to be served.
    pub(crate) fn is_routed(&self) -> bool {
        self.routed.load(Ordering::Acquire)
    }

    /// From now on it must be.
    pub(crate) fn route(&self) {
        self.routed.store(true, Ordering::Release);
    }

    /// Ends all of them; to be waited for.
    pub(crate) fn halt(&self) -> Vec<Lane> {
        let lanes = std::mem::take(&mut *self.lock());
        for lane in &lanes {
            lane.0.halt();
        }
        lanes
    }
}

impl Drop for Lanes {
    /// The last reference to the ORB is gone: its lanes stop.
    fn drop(&mut self) {
        self.halt();
    }
}

impl Orb {
    /// Adds a lane, which serves at once: its static threads are there, at their
    /// priority, when this returns.
    ///
    /// # Errors
    /// [`OrbError::Config`] for choices that make no sense, [`OrbError::RealTime`]
    /// if the host refuses the scheduling or the processors, [`OrbError::Listen`],
    /// [`OrbError::Threads`]; nothing is left of the lane then.
    pub fn add_lane(&self, config: &LaneConfig) -> Result<Lane, OrbError> {
        self.start_lane(config)
    }

    /// The lane of that name, of the configuration or added since.
    #[must_use]
    #[inline]
    pub fn lane(&self, name: &str) -> Option<Lane> {
        let lanes = self.core().lanes.lock();
        lanes.iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lanes that were added and not stopped.
    #[must_use]
    #[inline]
    pub fn lanes(&self) -> Vec<Lane> {
        self.core().lanes.lock().clone()
    }

    /// The lane that the ORB's own configuration describes; it listens at a free
    /// port if no endpoint was given.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn own_lane(&self) -> Result<Lane, SystemException> {
        self.published().cloned()
    }

    /// The lane of that number, if it serves.
    #[inline]
    pub(crate) fn lane_numbered(&self, number: u32) -> Option<Lane> {
        match number {
            OWN => self.own_lane().ok(),
            _ => self.lanes().into_iter().find(|it| it.0.number == number),
        }
    }
}

impl Config {
    /// The lane of an ORB of this configuration.
    pub(crate) fn lane(&self) -> LaneConfig {
        LaneConfig::of_orb(self.strategy)
    }
}
