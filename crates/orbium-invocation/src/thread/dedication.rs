// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads: the interfaces by which a layer above (`orbium-rt`) grants a
//! connection a thread of its own and admits its requests. Without that layer an ORB
//! ignores the request for one.

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

/// Dedicated thread of a connection.
#[derive(Clone, Debug, Default)]
pub struct DedicatedThread {
    /// The CORBA priority that the thread has, for its requests and the calls
    /// they make. `None`: that of the lane.
    pub priority: Option<Priority>,
    /// Its scheduling. `None`: as the lane's threads.
    pub scheduling: Option<Scheduling>,
    /// Time that the host reserves for it, in place of the scheduling; the gate learns whether it does.
    pub reservation: Option<Reservation>,
    /// Admits its requests, until the connection ends. `None`: all are served.
    pub gate: Option<Arc<dyn Gate>>,
}

impl DedicatedThread {
    /// What is in force for the connection, in words.
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
    /// A request has arrived whole.
    fn arrived(&self, request: &Arrival<'_>) -> Pass;

    /// Whether the first of the requests that wait may begin now, which counts as
    /// its beginning.
    ///
    /// # Errors
    /// The time until it may.
    fn begin(&self) -> Result<(), Duration>;

    /// A thread that serves the connection has begun, with its reservation or without the one that the host
    /// refused. Default: nothing.
    fn begun(&self, refused: Option<&RealTimeError>) {
        let _ = refused;
    }

    /// What was agreed on, in words; nothing by default.
    fn in_force(&self) -> Option<String> {
        None
    }

    /// The priority, the scheduling and the reservation that the thread has from now on; asked before each request, `Some`
    /// once for each change. Default: it keeps what it was granted.
    fn changed(&self) -> Option<DedicatedThread> {
        None
    }

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

/// Outcome of a request at a [`Gate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is served, behind those that wait.
    Begin,
    /// It is served before those that wait.
    Overtake,
    /// It waits until [`Gate::begin`] says yes.
    Wait,
    /// It is answered with that exception; a oneway is dropped.
    Refuse(SystemException),
}
