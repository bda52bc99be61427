// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handle of a lane.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_channel::endpoints::{Endpoints, ListenError};
use orbium_channel::protocol::ChannelOptions;
use orbium_channel::{Channel, Protocols};
use orbium_config::ServerStrategy;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::{CallQueue, Priority};
use orbium_metrics::LaneSnapshot;
use orbium_sys::{Reservation, Scheduling};
use orbium_transport::Endpoint;

use crate::{LaneSizes, OrbError};

/// A day: times have a maximum.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(24 * 3600);

/// Constant facts of a lane.
#[derive(Debug)]
pub struct LaneFacts {
    /// The unique number in the ORB; 0 is the ORB's own lane.
    pub number: u32,
    /// The name of its threads.
    pub name: String,
    /// The CORBA priority at which its requests are served.
    pub priority: Option<Priority>,
    /// The scheduling granted by the host.
    pub scheduling: Option<Scheduling>,
    /// The reservation granted by the host.
    pub reservation: Option<Reservation>,
}

/// A serving lane, as used by its handles.
pub trait ServingLane: Send + Sync {
    /// The constant facts of the lane.
    fn facts(&self) -> &LaneFacts;

    /// The present strategy.
    fn strategy(&self) -> ServerStrategy;

    /// As [`Lane::resize`], with checked sizes.
    ///
    /// # Errors
    /// The system refuses another thread; nothing is changed then.
    fn resize(&self, sizes: &LaneSizes) -> io::Result<()>;

    /// The endpoints of the lane.
    fn endpoints(&self) -> &Endpoints;

    /// Whether it has a thread that reads.
    fn reads(&self) -> bool;

    /// A snapshot of the lane.
    fn snapshot(&self) -> LaneSnapshot;

    /// The number of requests refused so far because the queue was full.
    fn refused(&self) -> u64;

    /// The number of queued requests.
    fn waiting(&self) -> usize;

    /// Whether the calling thread is one of its threads.
    fn is_of_this_thread(&self) -> bool;

    /// Stops accepting and reading; requests in progress are completed.
    fn halt(&self);

    /// Waits for the requests in progress after the lane was halted.
    fn await_end(&self);

    /// Removes the lane from the ORB.
    fn leave(&self);

    /// Excludes the lane from new requests.
    fn begin_leaving(&self);

    /// Has another lane listen at its endpoints: requests of its clients before it has ended are
    /// served, as a forward would have the address of their connections.
    fn keep_clients(&self);

    /// Ends the lane while accepted requests are served; see [`Lane::drain`].
    fn drain(&self, deadline: Instant) -> usize;

    /// Whether the lane is ending or has ended, so that other lanes serve new requests.
    fn is_leaving(&self) -> bool;

    /// As [`Lane::serve_one`].
    fn serve_one(&self, waits: bool) -> bool;

    /// Whether there is work.
    fn has_work(&self) -> bool;

    /// Whether no request is queued, or served by a thread of the queue and not answered yet.
    fn is_idle(&self) -> bool;

    /// Its queue, for collocated calls.
    fn call_queue(&self) -> &dyn CallQueue;

    /// For downcasts by the engine.
    fn as_any(&self) -> &dyn Any;
}

/// A lane: threads at one priority with their own endpoints, connections, buffers and queue. An ORB
/// has one from the beginning, described by its `Config`; `Orb::add_lane` adds others, which end
/// with the ORB or before ([`Lane::stop`]). `Policies::lanes` assigns lanes to adapters. Cheap to
/// clone; clones are the same lane.
#[derive(Clone)]
pub struct Lane(Arc<dyn ServingLane>, Option<Arc<()>>);

impl Lane {
    /// The handle of a serving lane.
    #[must_use]
    pub fn new(lane: Arc<dyn ServingLane>) -> Self {
        Self(lane, None)
    }

    /// A handle of the same lane that counts its clones, for [`is_idle`](Self::is_idle).
    #[must_use]
    pub fn counted(&self) -> Self {
        Self(Arc::clone(&self.0), Some(Arc::default()))
    }

    /// Whether this [counted](Self::counted) handle has no clones, and the lane no requests. A
    /// clone in the [`Route`](crate::Route) of a request lives until the request is queued: an
    /// idle lane gets no request by an earlier decision.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is_single = |clones| Arc::strong_count(clones) == 1;
        self.1.as_ref().is_some_and(is_single) && self.0.is_idle()
    }

    /// The lane behind the handle.
    #[must_use]
    #[inline]
    pub fn serving(&self) -> &dyn ServingLane {
        &*self.0
    }

    /// The unique number in the ORB; [`OWN`](crate::OWN) for the ORB's own lane.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.facts().number
    }

    /// Stops accepting and reading; requests in progress are completed.
    pub fn halt(&self) {
        self.0.halt();
    }

    /// Waits for the requests in progress after the lane was halted.
    pub fn await_end(&self) {
        self.0.await_end();
    }

    /// The name of its threads.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.facts().name
    }

    /// The CORBA priority at which its requests are served.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        self.0.facts().priority
    }

    /// The scheduling of its threads; `None` if none is configured, or the host refuses it to a
    /// soft lane.
    #[must_use]
    pub fn scheduling(&self) -> Option<Scheduling> {
        self.0.facts().scheduling
    }

    /// The reservation of processor time for its thread; `None` if none is configured, or the host
    /// refuses it to a soft lane.
    #[must_use]
    pub fn reservation(&self) -> Option<Reservation> {
        self.0.facts().reservation
    }

    /// The strategy by which it serves.
    #[must_use]
    pub fn strategy(&self) -> ServerStrategy {
        self.0.strategy()
    }

    /// Changes the threads and the queue of a serving lane. Added threads have started when this
    /// returns. A surplus thread ends when it has served its request, or when it is idle; it is
    /// released to the system after the idle time. Queued requests remain, even if a smaller queue
    /// would not have accepted them.
    ///
    /// # Errors
    /// [`OrbError::Config`] for another kind of strategy, no static thread or a lane that ends,
    /// [`OrbError::Threads`] if the system refuses another thread; nothing is changed then.
    pub fn resize(&self, sizes: &LaneSizes) -> Result<(), OrbError> {
        let strategy = self.strategy();
        if !strategy.is_kind_of(sizes.strategy) {
            return Err(OrbError::Config(
                "a lane that serves keeps its kind of strategy: its numbers alone can change",
            ));
        }
        if self.is_leaving() {
            return Err(has_ended());
        }
        let (fixed, _) = LaneSizes { strategy, ..*sizes }.threads();
        if fixed > 0 && sizes.threads().0 == 0 {
            return Err(OrbError::Config("a lane needs at least 1 static thread"));
        }
        let resized = self.0.resize(sizes);
        resized.map_err(|error| OrbError::Threads(self.name().to_owned(), error))
    }

    /// The channels at which it listens now, as published in references.
    #[must_use]
    pub fn channels(&self) -> Arc<[Channel]> {
        self.0.endpoints().published()
    }

    /// Listens at a further endpoint; returns its published address. Later references contain it,
    /// too.
    ///
    /// # Errors
    /// The endpoint cannot be listened at, or the lane has no thread that reads, or has ended.
    pub fn listen(
        &self,
        endpoint: &Endpoint,
        protocols: &Protocols,
        options: &ChannelOptions,
    ) -> Result<Channel, OrbError> {
        if !self.0.reads() {
            return Err(OrbError::Config(
                "a worker pool that began without endpoints has no thread that reads: it cannot listen",
            ));
        }
        if self.is_leaving() {
            return Err(has_ended());
        }
        let listens = self.0.endpoints().listen(endpoint, protocols, options);
        listens.map_err(|error| match error {
            ListenError::Open(error) => error.into(),
            ListenError::TooMany => OrbError::Config("a lane listens at 255 endpoints at most"),
            ListenError::Ended => has_ended(),
        })
    }

    /// Stops listening at an endpoint; returns whether it did. Connections in the backlog are
    /// accepted first, and accepted connections stay open.
    pub fn stop_listening(&self, endpoint: &Endpoint) -> bool {
        self.0.endpoints().close(endpoint)
    }

    /// Publishes the endpoints of another lane, before [taking them over](Self::take_over).
    #[doc(hidden)]
    pub fn announce(&self, other: &Self) {
        self.0.endpoints().announce(other.0.endpoints());
    }

    /// Listens at the endpoints of another lane, which were announced, in place of that lane.
    #[doc(hidden)]
    pub fn take_over(&self, other: &Self) {
        other.0.keep_clients();
        other.0.endpoints().hand_over_to(self.0.endpoints());
    }

    /// The number of requests refused so far because the queue was full: answered TRANSIENT, or
    /// discarded if they were oneways.
    #[must_use]
    #[inline]
    pub fn refused_requests(&self) -> u64 {
        self.0.refused()
    }

    /// The number of queued requests.
    #[must_use]
    pub fn waiting_requests(&self) -> usize {
        self.0.waiting()
    }

    /// A snapshot of the lane.
    #[must_use]
    pub fn snapshot(&self) -> LaneSnapshot {
        self.0.snapshot()
    }

    /// Whether the calling thread is one of the lane's.
    #[must_use]
    #[inline]
    pub fn is_of_this_thread(&self) -> bool {
        self.0.is_of_this_thread()
    }

    /// Serves one request if there is one, or, if `waits`, the next one; returns whether the lane
    /// has not ended. For lanes served by the program's threads
    /// ([`LaneConfig::served_by_callers`](crate::LaneConfig)).
    #[must_use]
    pub fn serve_one(&self, waits: bool) -> bool {
        self.0.serve_one(waits)
    }

    /// Whether there is work.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.0.has_work()
    }

    /// Ends the lane while the ORB continues: it stops listening and reading, and accepted requests
    /// are served and answered, including queued ones. Clients are redirected by LOCATION_FORWARD
    /// over shared connections, and by CloseConnection. Requests still queued after `time`, at most
    /// a day, are refused with TRANSIENT and COMPLETED_NO or by CloseConnection; requests in
    /// progress are completed. Returns the number of threads that still serve. A request that
    /// another lane hands off late is served by a thread started for it.
    pub fn drain(&self, time: Duration) -> usize {
        self.0.drain(Instant::now() + time.min(MAX_DRAIN_TIME))
    }

    /// Excludes the lane from new requests of its adapters; call [`drain`](Self::drain) next.
    pub fn begin_leaving(&self) {
        self.0.begin_leaving();
    }

    /// Whether the lane is ending or has ended, so that other lanes of its adapters serve new requests.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.0.is_leaving()
    }

    /// Ends the lane: requests in progress are completed and answered, queued ones are dropped, its
    /// connections closed; returns when its threads have ended. Requests to objects of adapters
    /// without another lane are answered with TRANSIENT from now on. A second call has no effect.
    ///
    /// # Errors
    /// BAD_INV_ORDER from a thread of the lane, which would wait for itself.
    pub fn stop(&self) -> Result<(), SystemException> {
        if self.is_of_this_thread() {
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                3,
                Completion::No,
            ));
        }
        self.halt();
        self.await_end();
        self.0.leave();
        Ok(())
    }
}

const fn has_ended() -> OrbError {
    OrbError::Config("the lane has ended")
}

orbium_invocation::equal_if_same!(Lane);

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
