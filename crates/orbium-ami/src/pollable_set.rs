// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of calls, to wait for the first reply (`CORBA::PollableSet`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use orbium_giop::SystemException;
use orbium_invocation::raises::Raises;

use super::handle::Asynchronous;
use super::ready_queue::ReadyQueue;

/// Member of a [`PollableSet`] (`CORBA::Pollable`): a pending call, or a program's own enum of such
/// calls.
pub trait Pollable {
    /// Has the waker woken once there is a result; returns `true` if there is one already. Only the
    /// last waker is kept.
    fn wake_when_ready(&self, waker: &Waker) -> bool;
}

impl<T, E: Raises> Pollable for Asynchronous<T, E> {
    fn wake_when_ready(&self, waker: &Waker) -> bool {
        self.call().is_none_or(|call| call.wake_when_ready(waker))
    }
}

impl<P: Pollable + ?Sized> Pollable for Box<P> {
    fn wake_when_ready(&self, waker: &Waker) -> bool {
        (**self).wake_when_ready(waker)
    }
}

/// Names a member of a [`PollableSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PollableId(u64);

/// Error of a [`PollableSet`] without a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PollableError {
    /// The set is empty.
    NoPossiblePollable,
    /// It has no such member.
    UnknownPollable,
    /// NO_RESPONSE 1: none is ready, and none was waited for; TIMEOUT 1: none was within the
    /// time.
    System(SystemException),
}

impl fmt::Display for PollableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPossiblePollable => f.write_str("the set of pollables is empty"),
            Self::UnknownPollable => f.write_str("the set has no such pollable"),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

impl fmt::Debug for PollableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PollableError {}

/// Pending calls of which the first to complete is returned. Dropping the set cancels its calls. It
/// can be moved to another thread, and calls can be added while others are pending.
///
/// ```
/// use std::time::Duration;
///
/// use orbium_core::asynchronous::{Asynchronous, PollableError, PollableSet};
///
/// fn first(calls: Vec<Asynchronous<i32>>) -> Result<i32, Box<dyn std::error::Error>> {
///     let mut set = PollableSet::new();
///     for call in calls {
///         set.add(call);
///     }
///     let (_, call) = set.next_ready(Some(Duration::from_secs(5)))?;
///     Ok(call.wait()?)
/// }
/// assert!(first(Vec::new()).is_err());
/// ```
pub struct PollableSet<P> {
    members: BTreeMap<PollableId, P>,
    next: u64,
    /// Members with a result, in the order of arrival.
    ready: Arc<ReadyQueue<PollableId>>,
}

/// Woken when a member has its result.
struct Member {
    id: PollableId,
    ready: Arc<ReadyQueue<PollableId>>,
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.id);
    }
}

impl<P: Pollable> PollableSet<P> {
    /// An empty set (`create_pollable_set`).
    #[must_use]
    pub fn new() -> Self {
        Self {
            members: BTreeMap::new(),
            next: 0,
            ready: Arc::default(),
        }
    }

    /// Adds a call (`add_pollable`).
    pub fn add(&mut self, pollable: P) -> PollableId {
        let id = PollableId(self.next);
        self.next += 1;
        let ready = Arc::clone(&self.ready);
        if pollable.wake_when_ready(&Waker::from(Arc::new(Member { id, ready }))) {
            self.ready.push(id);
        }
        self.members.insert(id, pollable);
        id
    }

    /// Removes a call, ready or not (`remove`).
    ///
    /// # Errors
    /// [`PollableError::UnknownPollable`].
    pub fn remove(&mut self, id: PollableId) -> Result<P, PollableError> {
        let removed = self.members.remove(&id);
        removed.ok_or(PollableError::UnknownPollable)
    }

    /// The number of calls in the set (`number_left`).
    #[must_use]
    pub fn number_left(&self) -> usize {
        self.members.len()
    }

    /// Removes and returns the call with the earliest result, for which it waits for at most
    /// `timeout`; `None` waits without limit (`get_ready_pollable`).
    ///
    /// # Errors
    /// [`PollableError::NoPossiblePollable`], [`PollableError::System`].
    pub fn next_ready(
        &mut self,
        timeout: Option<Duration>,
    ) -> Result<(PollableId, P), PollableError> {
        if self.members.is_empty() {
            return Err(PollableError::NoPossiblePollable);
        }
        // One that was removed is passed over.
        let take = |id| Some((id, self.members.remove(&id)?));
        let taken = self.ready.next(timeout, take);
        taken.map_err(PollableError::System)
    }
}

impl<P: Pollable> Default for PollableSet<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> fmt::Debug for PollableSet<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollableSet")
            .field("number_left", &self.members.len())
            .finish_non_exhaustive()
    }
}
