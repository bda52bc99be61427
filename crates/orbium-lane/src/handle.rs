// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lane, as others see it.

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

/// A day: points of time have a last one.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(24 * 3600);

/// Facts of a lane from its start to its end.
#[derive(Debug)]
pub struct LaneFacts {
    /// 0 is the ORB's own; no two lanes of an ORB have the same.
    pub number: u32,
    /// How its threads are called.
    pub name: String,
    /// The CORBA priority that its requests are served at.
    pub priority: Option<Priority>,
    /// As the host grants it.
    pub scheduling: Option<Scheduling>,
    /// As the host grants it.
    pub reservation: Option<Reservation>,
}

/// A lane that serves, as its handles see it.
pub trait ServingLane: Send + Sync {
    /// What never changes of it.
    fn facts(&self) -> &LaneFacts;

    /// How it serves now.
    fn strategy(&self) -> ServerStrategy;

    /// As [`Lane::resize`], to numbers that were checked.
    ///
    /// # Errors
    /// The system refuses another thread; nothing is changed then.
    fn resize(&self, sizes: &LaneSizes) -> io::Result<()>;

    /// Where it listens.
    fn endpoints(&self) -> &Endpoints;

    /// Whether it has a thread that reads.
    fn reads(&self) -> bool;

    /// The lane as it is now.
    fn snapshot(&self) -> LaneSnapshot;

    /// Requests for which there was no room so far.
    fn refused(&self) -> u64;

    /// Requests that wait for a thread.
    fn waiting(&self) -> usize;

    /// Whether the calling thread is one of its threads.
    fn is_of_this_thread(&self) -> bool;

    /// Takes nothing more; what is being served goes on.
    fn halt(&self);

    /// Waits for the end of what is being served when the lane was halted.
    fn await_end(&self);

    /// Has the ORB forget the lane.
    fn leave(&self);

    /// Others are to serve what comes from now on.
    fn begin_leaving(&self);

    /// Another lane listens where this one did: what its clients send before it has ended is
    /// served, as they would be sent to the connections that they have.
    fn keep_clients(&self);

    /// Ends the lane while what it has accepted is served; see [`Lane::drain`].
    fn drain(&self, deadline: Instant) -> usize;

    /// Whether the lane ends or has ended: others are to serve what comes.
    fn is_leaving(&self) -> bool;

    /// As [`Lane::serve_one`].
    fn serve_one(&self, waits: bool) -> bool;

    /// Whether there is something to serve.
    fn has_work(&self) -> bool;

    /// Its queue, for calls within the process.
    fn call_queue(&self) -> &dyn CallQueue;

    /// For the engine, which knows the type.
    fn as_any(&self) -> &dyn Any;
}

/// A lane: threads at one priority with their own endpoints, connections,
/// buffers and queue. An ORB has one from the beginning, which its
/// `Config` describes; `Orb::add_lane` adds others, which end with the ORB or before
/// ([`Lane::stop`]). Adapters are given lanes by `Policies::lanes`. Cheap to clone; clones
/// are the same lane.
#[derive(Clone)]
pub struct Lane(Arc<dyn ServingLane>);

impl Lane {
    /// The handle on a lane that serves.
    #[must_use]
    pub fn new(lane: Arc<dyn ServingLane>) -> Self {
        Self(lane)
    }

    /// The lane itself.
    #[must_use]
    #[inline]
    pub fn serving(&self) -> &dyn ServingLane {
        &*self.0
    }

    /// The number that no other lane of its ORB has; [`OWN`](crate::OWN) for the ORB's
    /// own.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.facts().number
    }

    /// Takes nothing more; what is being served goes on.
    pub fn halt(&self) {
        self.0.halt();
    }

    /// Waits for the end of what is being served when the lane was halted.
    pub fn await_end(&self) {
        self.0.await_end();
    }

    /// The name of its threads.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.facts().name
    }

    /// The CORBA priority that its requests are served at.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        self.0.facts().priority
    }

    /// The scheduling that its threads have; `None` if they were given none, or
    /// the host refuses it to a soft lane.
    #[must_use]
    pub fn scheduling(&self) -> Option<Scheduling> {
        self.0.facts().scheduling
    }

    /// The time of a processor that the host reserves for its thread; `None` without, and if the host
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

    /// Gives a lane that serves other threads and another queue. Threads that are added have begun when this returns. One that is too many ends
    /// when it has served its request, or as it is idle; the system has it back after the idle
    /// time. Requests that wait stay, also where a smaller queue would not have taken them.
    ///
    /// # Errors
    /// [`OrbError::Config`] for another kind of strategy, no thread that stays or a lane that ends,
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

    /// The channels at which it listens now, as references say it.
    #[must_use]
    pub fn channels(&self) -> Arc<[Channel]> {
        self.0.endpoints().published()
    }

    /// Listens at one more endpoint: where it is found. References
    /// that are made from now on lead there too.
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

    /// Listens no more at an endpoint; whether it did. What waits there is accepted first, and
    /// connections that were accepted stay.
    pub fn stop_listening(&self, endpoint: &Endpoint) -> bool {
        self.0.endpoints().close(endpoint)
    }

    /// Publishes the endpoints of another lane, which it is to [take over](Self::take_over).
    #[doc(hidden)]
    pub fn announce(&self, other: &Self) {
        self.0.endpoints().announce(other.0.endpoints());
    }

    /// Listens at the endpoints of another lane, which has been announced, in place of it.
    #[doc(hidden)]
    pub fn take_over(&self, other: &Self) {
        other.0.keep_clients();
        other.0.endpoints().hand_over_to(self.0.endpoints());
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
        self.0.waiting()
    }

    /// The lane as it is now.
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

    /// Serves one request if there is one, or, if this `waits`, the next one; whether the
    /// lane has not ended. For lanes that the program's threads serve
    /// ([`LaneConfig::served_by_callers`](crate::LaneConfig)).
    #[must_use]
    pub fn serve_one(&self, waits: bool) -> bool {
        self.0.serve_one(waits)
    }

    /// Whether there is something to serve.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.0.has_work()
    }

    /// Ends the lane while the ORB runs on: it listens nowhere, reads nothing more, and what it has
    /// accepted is served and answered, including waiting requests. Clients are redirected
    /// by LOCATION_FORWARD over shared connections, and by CloseConnection.
    /// What waits after `time`, a day at most, is refused with TRANSIENT and COMPLETED_NO or by CloseConnection;
    /// what is being served then goes on. Returns how many threads still serve. A request that
    /// another lane hands over late is served by a thread that comes for it.
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

    /// Ends the lane: requests being served are completed and answered, those
    /// that wait are dropped, its connections closed; returns when its threads
    /// have ended. Objects of adapters that have no other lane are answered for
    /// with TRANSIENT from now on. A second call does nothing.
    ///
    /// # Errors
    /// BAD_INV_ORDER from a thread of the lane: that would wait for itself.
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
