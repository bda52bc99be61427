// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads: the interfaces by which a layer above (`orbium-rt`) grants a
//! connection a thread of its own and admits its requests. Without that layer an ORB
//! ignores the request for one.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_giop::SystemException;
use orbium_giop::dedication::Undedicated;
use orbium_sys::Scheduling;
use orbium_transport::Peer;

use crate::{Call, Orb, Priority, UntypedReply};

/// Is asked when the first request of a connection has the marker of
/// [`orbium_giop::dedication`].
pub trait Dedication: Send + Sync + 'static {
    /// Decides what the connection gets.
    ///
    /// # Errors
    ///
    /// Why it gets nothing: then it is served like any other, and the reply says so.
    fn asked(&self, request: &ThreadAsked<'_>) -> Result<OwnThread, Undedicated>;
}

/// A connection asks for a thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadAsked<'c> {
    /// The priority that it is to have; `None` leaves that open.
    pub priority: Option<Priority>,
    /// The client.
    pub peer: &'c Peer,
}

/// What a connection is given.
#[derive(Clone, Debug, Default)]
pub struct OwnThread {
    /// The CORBA priority that the thread has, for its requests and the calls
    /// they make. `None`: that of the lane.
    pub priority: Option<Priority>,
    /// Its scheduling. `None`: as the lane's threads.
    pub scheduling: Option<Scheduling>,
    /// Admits its requests, until the connection ends. `None`: all are served.
    pub gate: Option<Arc<dyn Gate>>,
}

/// Is asked about each request of a connection that has a thread of its own, by
/// that thread. Dropped when the connection has ended.
pub trait Gate: fmt::Debug + Send + Sync + 'static {
    /// A request has arrived whole.
    fn arrived(&self, request: &Arrival<'_>) -> Pass;

    /// Whether the first of the requests that wait may begin now, which counts as
    /// its beginning.
    ///
    /// # Errors
    /// The time until it may.
    fn begin(&self) -> Result<(), Duration>;

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// A request at a [`Gate`].
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'r> {
    /// The key of its object; none if it names that otherwise.
    pub object_key: &'r [u8],
    /// Name of the operation on the wire.
    pub operation: &'r [u8],
    /// Octets of the message.
    pub octets: usize,
    /// Requests of the connection that wait.
    pub waiting: usize,
    /// Octets of all of those.
    pub waiting_octets: usize,
}

/// What becomes of a request at a [`Gate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is served, behind those that wait.
    Begin,
    /// It waits until [`Gate::begin`] says yes.
    Wait,
    /// It is answered with that exception; a oneway is dropped.
    Refuse(SystemException),
}

/// One of the connections that may have a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Place {
    /// `None` if all are taken.
    fn take(taken: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        let more = |count: usize| (count < limit).then_some(count + 1);
        let took = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        took.ok().map(|_| Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Grants dedicated threads, and counts them.
#[derive(Default)]
pub(crate) struct Dedications {
    pub(crate) decides: OnceLock<Arc<dyn Dedication>>,
    granted: Arc<AtomicUsize>,
}

impl Dedications {
    /// Whether somebody decides.
    pub(crate) fn are_decided(&self) -> bool {
        self.decides.get().is_some()
    }
}

impl Orb {
    /// Has connections that ask for a thread of their own decided about from now
    /// on; `false` if somebody else does already.
    pub fn install_dedication(&self, dedication: Arc<dyn Dedication>) -> bool {
        self.core().dedications.decides.set(dedication).is_ok()
    }

    /// Connections that have a thread of their own now; at most
    /// [`Limits::dedicated_threads`](crate::Limits).
    #[must_use]
    pub fn dedicated_threads(&self) -> usize {
        self.core().dedications.granted.load(Ordering::Acquire)
    }

    pub(crate) fn place_for_thread(&self) -> Result<Place, Undedicated> {
        let limit = self.config().limits.dedicated_threads;
        Place::take(&self.core().dedications.granted, limit).ok_or(Undedicated::Limit)
    }
}

impl Call<'_> {
    /// Gives the connection of this request a thread of its own, which serves all
    /// that comes after it. To be said before the answer, and before anything
    /// that blocks.
    ///
    /// # Errors
    /// Why it cannot have one.
    pub fn dedicate(
        &self,
        reply: &mut UntypedReply<'_>,
        thread: OwnThread,
    ) -> Result<(), Undedicated> {
        let connection = self.incoming.peer.ok_or(Undedicated::Shared)?;
        connection.settle(self.orb(), || Ok(thread))?;
        reply.path.dedicated();
        Ok(())
    }

    /// Ends the connection after this request, and gives back what it was granted
    /// at once.
    pub fn end_dedication(&self) {
        if let Some(connection) = self.incoming.peer {
            connection.give_thread_back();
        }
    }

    /// Admits the requests of this connection.
    #[must_use]
    pub fn gate(&self) -> Option<Arc<dyn Gate>> {
        self.incoming.peer?.thread()?.gate
    }
}
