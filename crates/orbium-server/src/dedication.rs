// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads: the interfaces by which a layer above (`orbium-rt`) grants a
//! connection a thread of its own and admits its requests. Without that layer an ORB
//! ignores the request for one.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_channel::dedication::Undedicated;
use orbium_giop::SystemException;
use orbium_sys::Scheduling;
use orbium_transport::Peer;

use orbium_invocation::Priority;

/// Is asked when the first request of a connection has the marker of
/// [`orbium_channel::dedication`].
pub trait Dedication: Send + Sync + 'static {
    /// Decides what the connection gets.
    ///
    /// # Errors
    ///
    /// Why it gets nothing: then it is served like any other, and the reply says so.
    fn asked(&self, request: &ThreadAsked<'_>) -> Result<DedicatedThread, Undedicated>;
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
pub struct DedicatedThread {
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
pub struct Dedications {
    decides: OnceLock<Arc<dyn Dedication>>,
    granted: Arc<AtomicUsize>,
}

impl Dedications {
    /// Has connections that ask for a thread of their own decided about from now on;
    /// `false` if that was installed before.
    pub fn install(&self, dedication: Arc<dyn Dedication>) -> bool {
        self.decides.set(dedication).is_ok()
    }

    /// What decides, if it is installed.
    #[inline]
    pub fn decides(&self) -> Option<&Arc<dyn Dedication>> {
        self.decides.get()
    }

    /// Connections that have a thread of their own now.
    pub fn granted(&self) -> usize {
        self.granted.load(Ordering::Acquire)
    }

    /// A place for one more, if there are fewer than `limit`.
    pub(crate) fn place(&self, limit: usize) -> Result<Place, Undedicated> {
        Place::take(&self.granted, limit).ok_or(Undedicated::Limit)
    }
}
