// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hooks that decide for each request: its lane, its priority, or its refusal.

use std::fmt;
use std::sync::Arc;

use orbium_giop::{ServiceContexts, SystemException};
use orbium_interceptor::server::InterceptedObject;
use orbium_metrics::Quality;
use orbium_request::{IncomingRequest, PeerConnection, asked_priority};
use orbium_sys::Scheduling;
use orbium_transport::Peer;

use crate::adapter::ForwardRequest;
use crate::{Lane, Priority, RequestTiming};
use orbium_request::Target;

/// Decision of a dispatch hook about a request.
#[derive(Clone, Debug)]
pub enum Dispatch {
    /// The thread that read it serves it, as without a hook.
    Here,
    /// The thread that has read it serves it at that CORBA priority, and at the native one if
    /// given; queues are ordered by it.
    At(Priority, Option<Scheduling>),
    /// Another lane serves it.
    In(Lane),
    /// Another lane serves it, by these times of its operation's schedule.
    Timed(Lane, RequestTiming),
    /// Another lane serves it, at that CORBA priority and, if given, native one; the queue is ordered
    /// by it.
    InAt(Lane, Priority, Option<Scheduling>),
    /// The reply is that exception.
    Refuse(SystemException),
    /// The client is forwarded to another object: LOCATION_FORWARD. A queue may call the hook again
    /// for the same request.
    Forward(ForwardRequest),
}

/// Called for every request before its arguments are read: by an ORB
/// ([`Config::dispatch`](crate::Config)), or by an adapter
/// ([`Policies::dispatch`](crate::Policies)); its decision takes precedence unless it is
/// [`Dispatch::Here`]. The hook runs on the reading thread, so it must neither block nor make
/// calls.
///
/// ```
/// use std::sync::Arc;
/// use orbium_core::{Config, Dispatch, DispatchHook, Hook, RequestInfo};
/// use orbium_core::{Completion, ExceptionKind, SystemException};
///
/// /// Refuses requests that would change something.
/// #[derive(Debug)]
/// struct ReadOnly;
///
/// impl DispatchHook for ReadOnly {
///     fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
///         match request.operation() {
///             operation if operation.starts_with(b"_set_") => Dispatch::Refuse(
///                 SystemException::new(ExceptionKind::NoPermission, 0, Completion::No),
///             ),
///             _ => Dispatch::Here,
///         }
///     }
/// }
///
/// let config = Config {
///     dispatch: Some(Hook(Arc::new(ReadOnly))),
///     ..Config::default()
/// };
/// # drop(config);
/// ```
pub trait DispatchHook: fmt::Debug + Send + Sync + 'static {
    /// Decides about a request that has arrived for an active object.
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch;

    /// Called on the thread that is about to serve the request, after any wait in a queue. A
    /// returned exception is the reply, and no hook is called at the end of the request.
    ///
    /// # Errors
    /// The exception of the reply.
    fn begins(&self, _request: &RequestInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Called after a request was served: its servant has replied, or it has failed with `failed`,
    /// which the returned exception replaces. Runs on the serving thread, the last hook first; not
    /// for requests refused or forwarded on arrival, nor after a panic of the servant.
    fn leaves(
        &self,
        _request: &RequestInfo<'_>,
        failed: Option<SystemException>,
    ) -> Option<SystemException> {
        failed
    }
}

/// A [`DispatchHook`] as a setting of an ORB or an adapter. Hooks are compared by identity.
#[derive(Clone, Debug)]
pub struct Hook(pub Arc<dyn DispatchHook>);

orbium_invocation::equal_if_same!(Hook);

/// Information about a request before it is served.
#[derive(Clone, Copy)]
pub struct RequestInfo<'r> {
    pub(crate) incoming: &'r IncomingRequest<'r>,
    pub(crate) object: &'r dyn Target,
    /// Whether it is an asynchronous call of the ORB to its own object.
    pub(crate) is_asynchronous: bool,
}

impl<'r> RequestInfo<'r> {
    pub(crate) fn new(incoming: &'r IncomingRequest<'r>, object: &'r dyn Target) -> Self {
        Self {
            incoming,
            object,
            is_asynchronous: false,
        }
    }

    /// The object called, with its adapter and its interface, as seen by interceptors.
    #[must_use]
    pub fn target(&self) -> &'r dyn InterceptedObject {
        self.object
    }

    /// Its timing, if a hook has set it.
    #[must_use]
    pub fn timing(&self) -> Option<RequestTiming> {
        self.incoming.decided?.timing
    }

    /// Name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> &'r [u8] {
        self.incoming.operation
    }

    /// Id of the object called.
    #[must_use]
    pub fn object_id(&self) -> &'r [u8] {
        self.object.object_id()
    }

    /// The priority assigned to the object.
    #[must_use]
    pub fn object_priority(&self) -> Option<Priority> {
        self.object.priority()
    }

    /// Service contexts of the request.
    #[must_use]
    pub fn service_contexts(&self) -> ServiceContexts<'r> {
        self.incoming.contexts
    }

    /// The priority that the client propagates (service context RTCorbaPriority).
    #[must_use]
    #[inline]
    pub fn priority(&self) -> Option<Priority> {
        asked_priority(&self.incoming.contexts)
    }

    /// The unique number of its connection; `None` for a collocated call.
    #[must_use]
    pub fn connection(&self) -> Option<u64> {
        self.incoming.peer.map(PeerConnection::id)
    }

    /// The client; `None` for a collocated call.
    #[must_use]
    #[inline]
    pub fn peer(&self) -> Option<&'r Peer> {
        self.incoming.peer.map(PeerConnection::peer)
    }

    /// Whether a lane may serve it: it came over a connection, or is an asynchronous call of this
    /// ORB. All other collocated calls are served by the calling thread.
    #[must_use]
    pub fn may_be_queued(&self) -> bool {
        self.is_asynchronous || self.incoming.peer.is_some()
    }

    /// Records the present quality of the connection's requests:
    /// [`Orb::connections`](crate::Orb::connections) and `orbium top` show it. No effect for a
    /// collocated call.
    pub fn note_quality(&self, quality: Quality) {
        if let Some(connection) = self.incoming.peer {
            connection.note_quality(quality);
        }
    }

    /// Whether the caller expects a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.incoming.response.expects_reply()
    }
}

impl fmt::Debug for RequestInfo<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestInfo")
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .field("object_id", &self.object.object_id())
            .finish_non_exhaustive()
    }
}
