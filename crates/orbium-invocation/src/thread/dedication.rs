// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads: the interfaces by which a layer above (`orbium-rt`) grants a connection a
//! dedicated thread and admits its requests. Without that layer an ORB ignores requests for one.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use orbium_channel::dedication::Undedicated;
use orbium_giop::SystemException;
use orbium_sys::{RealTimeError, Reservation, Scheduling};
use orbium_transport::Peer;

use crate::Priority;

/// Decides about dedicated threads: called when the first request of a connection has the marker of
/// [`orbium_channel::dedication`].
pub trait Dedication: Send + Sync + 'static {
    /// Decides about the thread of the connection.
    ///
    /// # Errors
    ///
    /// The reason of a refusal: the connection is served like any other then, and the reply
    /// contains the reason.
    fn decide(&self, request: &ThreadRequest<'_>) -> Result<DedicatedThread, Undedicated>;
}

/// A connection's request for a dedicated thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadRequest<'c> {
    /// The requested priority; `None` leaves the choice to the server.
    pub priority: Option<Priority>,
    /// The client.
    pub peer: &'c Peer,
}

/// Dedicated thread of a connection.
#[derive(Clone, Debug, Default)]
pub struct DedicatedThread {
    /// The CORBA priority of the thread, for its requests and the calls they make. `None`: that of
    /// the lane.
    pub priority: Option<Priority>,
    /// Its scheduling. `None`: as the lane's threads.
    pub scheduling: Option<Scheduling>,
    /// Reservation by the host, in place of the scheduling; the gate is notified whether the host
    /// accepts it.
    pub reservation: Option<Reservation>,
    /// Admission control of its requests, until the connection ends. `None`: all are served.
    pub gate: Option<Arc<dyn Gate>>,
}

impl DedicatedThread {
    /// A description of the settings in force for the connection.
    #[must_use]
    pub fn in_force(&self) -> String {
        let agreed = self.gate.as_ref().and_then(|it| it.in_force());
        let mut text = match (agreed, self.priority) {
            (Some(agreed), _) => format!("binding: {agreed}"),
            (None, Some(priority)) => format!("dedicated thread: priority {priority}"),
            (None, None) => "dedicated thread".to_owned(),
        };
        if let Some(reservation) = self.reservation {
            text += &format!(", reserved {reservation}");
        } else if let Some(scheduling) = self.scheduling {
            text += &format!(", {scheduling}");
        }
        text
    }
}

/// Admission control of a connection with a dedicated thread: called for each request, on
/// that thread. Dropped when the connection has ended.
pub trait Gate: fmt::Debug + Send + Sync + 'static {
    /// Decides about a complete request.
    fn arrived(&self, request: &Arrival<'_>) -> Admittance;

    /// Whether the first queued request may begin now, which counts as its beginning.
    ///
    /// # Errors
    /// The time until it may.
    fn begin(&self) -> Result<(), Duration>;

    /// Called when a thread of the connection has begun, with its reservation or with the host's
    /// refusal of it. Default: no effect.
    fn begun(&self, refused: Option<&RealTimeError>) {
        let _ = refused;
    }

    /// A description of the agreement; none by default.
    fn in_force(&self) -> Option<String> {
        None
    }

    /// The new priority, scheduling and reservation of the thread; called before each request,
    /// `Some` once for each change. Default: the thread keeps its granted settings.
    fn changed(&self) -> Option<DedicatedThread> {
        None
    }

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// A request at a [`Gate`].
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'r> {
    /// The key of its object; empty if the request addresses it otherwise.
    pub object_key: &'r [u8],
    /// Name of the operation on the wire.
    pub operation: &'r [u8],
    /// Size of the message.
    pub octets: usize,
    /// The number of queued requests of the connection.
    pub waiting: usize,
    /// The total size of these.
    pub waiting_octets: usize,
}

/// Outcome of a request at a [`Gate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admittance {
    /// It is served, after the queued ones.
    Begin,
    /// It is served before the queued ones.
    Overtake,
    /// It is queued until [`Gate::begin`] permits it.
    Wait,
    /// It is answered with that exception; a oneway is discarded.
    Refuse(SystemException),
}
