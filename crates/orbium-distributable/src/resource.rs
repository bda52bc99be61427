// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutexes that distributable threads own.

pub(crate) mod resource_error;
pub(crate) mod resources;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use orbium::Orb;
use orbium_sync::role;

use crate::error::SegmentError;
use crate::resource::resource_error::ResourceError;
use crate::scheduling::parameter::SchedulingParameter;
use crate::shared::Shared;
use crate::thread::id::ThreadId;
use crate::thread::level;
use crate::thread::{DistributableThread, State};

/// A mutex that the scheduler knows (`RTScheduling::ResourceManager`). A clone is another handle of
/// the same resource, which is destroyed with its last handle.
///
/// * Its owner is a distributable thread, wherever its head is: an upcall of that thread may unlock
///   what its caller in this process has locked. Not recursive.
/// * While a thread waits, the owner is scheduled at least by the parameter of the most urgent waiter
///   (priority inheritance), and always by the ceiling, if the resource has one. So are the upcalls that
///   the owner has begun in other processes, and the owners of the resources for which it waits.
/// * The most urgent waiter is the next owner; of equal ones, the first in order of arrival.
/// * The locks of an upcall are released when it ends, the others when the distributable thread
///   ends.
///
/// Locking is a scheduling point: waiting ends when the thread is cancelled.
pub struct ResourceManager {
    shared: Arc<Shared>,
    key: u64,
    name: Arc<str>,
}

impl ResourceManager {
    pub(crate) fn create(
        shared: &Arc<Shared>,
        orb: &Orb,
        name: &str,
        ceiling: Option<SchedulingParameter>,
    ) -> Result<Self, ResourceError> {
        shared.check(ceiling)?;
        let key = shared.resources.add(name, ceiling, orb, &shared.scheduler);
        let key = key.ok_or_else(|| ResourceError::NameTaken(name.to_owned()))?;
        Ok(Self::of(shared, key, name))
    }

    pub(crate) fn named(shared: &Arc<Shared>, name: &str) -> Option<Self> {
        let key = shared.resources.find(name, &shared.scheduler)?;
        Some(Self::of(shared, key, name))
    }

    fn of(shared: &Arc<Shared>, key: u64, name: &str) -> Self {
        Self {
            shared: Arc::clone(shared),
            key,
            name: name.into(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The present owner, a distributable thread.
    #[must_use]
    pub fn owner(&self) -> Option<ThreadId> {
        let Shared {
            resources,
            scheduler,
            ..
        } = &*self.shared;
        resources.owner(self.key, scheduler).map(|it| it.id())
    }

    /// Locks it, without a time-out.
    ///
    /// # Errors
    /// [`ResourceError::NoSegment`], [`ResourceError::Held`], [`ResourceError::Deadlock`], [`ResourceError::Waits`];
    /// [`ResourceError::Segment`] if the thread is cancelled.
    pub fn lock(&self) -> Result<(), ResourceError> {
        self.lock_until(None).map(drop)
    }

    /// Locks it within the time-out `wait`; zero does not wait. Returns whether it did.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn try_lock(&self, wait: Duration) -> Result<bool, ResourceError> {
        let thread = self.caller()?;
        if wait.is_zero() {
            let Shared {
                resources,
                scheduler,
                ..
            } = &*self.shared;
            return resources.try_lock(self.key, &thread, scheduler);
        }
        // A time beyond the range of the clock is never reached.
        self.lock_until(Instant::now().checked_add(wait))
    }

    /// Unlocks it.
    ///
    /// # Errors
    /// [`ResourceError::NotHeld`], [`ResourceError::NoSegment`]. A cancelled thread can unlock,
    /// too.
    pub fn unlock(&self) -> Result<(), ResourceError> {
        let thread = level::with(|level| level.thread.clone());
        let thread = thread.ok_or(ResourceError::NoSegment)?;
        let Shared {
            resources,
            scheduler,
            ..
        } = &*self.shared;
        resources.unlock(self.key, &thread, scheduler)
    }

    /// The calling distributable thread.
    fn caller(&self) -> Result<DistributableThread, ResourceError> {
        let thread = level::with(|level| level.thread.clone());
        let thread = thread.ok_or(ResourceError::NoSegment)?;
        match thread.state() {
            State::Active => Ok(thread),
            State::Cancelled => Err(SegmentError::Cancelled.into()),
        }
    }

    fn lock_until(&self, until: Option<Instant>) -> Result<bool, ResourceError> {
        let thread = self.caller()?;
        let Shared {
            resources,
            scheduler,
            ..
        } = &*self.shared;
        if resources.try_lock(self.key, &thread, scheduler)? {
            return Ok(true);
        }
        // The owner may depend on a request that this thread is to read.
        role::about_to_block();
        resources.enter(self.key, &thread, scheduler)?;
        let waited = self.wait(&thread, until);
        thread.presence().unblock(scheduler);
        waited
    }

    /// Waits until the thread owns the resource, is cancelled, or `until` is reached.
    fn wait(
        &self,
        thread: &DistributableThread,
        until: Option<Instant>,
    ) -> Result<bool, ResourceError> {
        let Shared {
            resources,
            scheduler,
            ..
        } = &*self.shared;
        while !resources.is_owner(self.key, thread, scheduler) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let is_cancelled = thread.state() == State::Cancelled;
            if is_cancelled || left.is_some_and(|it| it.is_zero()) {
                let is_owner = resources.leave(self.key, thread, scheduler);
                return if is_cancelled && !is_owner {
                    Err(SegmentError::Cancelled.into())
                } else {
                    Ok(is_owner)
                };
            }
            match left {
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
        }
        Ok(true)
    }
}

impl Clone for ResourceManager {
    fn clone(&self) -> Self {
        self.shared
            .resources
            .share(self.key, &self.shared.scheduler);
        Self {
            shared: Arc::clone(&self.shared),
            key: self.key,
            name: Arc::clone(&self.name),
        }
    }
}

impl Drop for ResourceManager {
    fn drop(&mut self) {
        let Shared {
            resources,
            scheduler,
            ..
        } = &*self.shared;
        resources.drop_handle(self.key, scheduler);
    }
}

impl PartialEq for ResourceManager {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.key == other.key
    }
}

impl fmt::Debug for ResourceManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceManager")
            .field("name", &self.name)
            .field("owner", &self.owner())
            .finish()
    }
}
