// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: everything needed to serve at one priority, and nothing shared that
//! could block.

mod config;
mod room;
mod route;
pub(crate) mod thread;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::PerProcess;

use crate::server::LaneCore;
use crate::{Channel, Priority, ServerStrategy};

pub use config::LaneConfig;
pub(crate) use room::Place;
pub use room::QueueRoom;
pub(crate) use route::{ASKED, Decided, OWN, Route, SETTLED, lane_for};

/// A lane: threads at one priority with their own endpoints, connections,
/// buffers and queue. An ORB has one from the beginning, which its
/// `Config` describes; `Orb::add_lane` adds others, with the feature
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
        let dispatcher = self.0.host.dispatcher();
        if self.is_of_this_thread() {
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                3,
                Completion::No,
            ));
        }
        self.0.halt();
        self.0.await_end();
        if let Some(dispatcher) = dispatcher {
            dispatcher.forget_lane(self.0.number);
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
    /// Those of the configuration, once they are there.
    configured: OnceLock<Vec<Lane>>,
    last: AtomicU32,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        let added = self.added.get_or_init(Mutex::default);
        added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next lane.
    pub(crate) fn next_number(&self) -> u32 {
        1 + self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// A lane was added.
    pub(crate) fn add(&self, lane: Lane) {
        self.lock().push(lane);
    }

    /// The lane of that number has ended.
    pub(crate) fn forget(&self, number: u32) {
        self.lock().retain(|it| it.0.number != number);
    }

    /// Those that were added and not stopped.
    pub(crate) fn all(&self) -> Vec<Lane> {
        self.lock().clone()
    }

    /// The lane of that name.
    pub(crate) fn named(&self, name: &str) -> Option<Lane> {
        self.lock().iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lane of that number.
    pub(crate) fn numbered(&self, number: u32) -> Option<Lane> {
        let lanes = self.lock();
        lanes.iter().find(|lane| lane.0.number == number).cloned()
    }

    /// Whether one of them listens there.
    pub(crate) fn listen_at(&self, channel: &Channel) -> bool {
        self.lock()
            .iter()
            .any(|lane| lane.channels().contains(channel))
    }

    /// Those of the configuration, once they are there.
    pub(crate) fn configured(&self) -> Option<&[Lane]> {
        self.configured.get().map(Vec::as_slice)
    }

    /// The lanes of the configuration serve.
    pub(crate) fn set_configured(&self, lanes: Vec<Lane>) {
        let _ = self.configured.set(lanes);
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

impl Lane {
    /// Whether it is the lane of that number.
    pub(crate) fn has_number(&self, number: u32) -> bool {
        self.0.number == number
    }

    /// The number that no other lane of its ORB has.
    pub(crate) fn number(&self) -> u32 {
        self.0.number
    }
}
