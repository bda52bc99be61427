// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatch interface of the server engine: an ORB, which finds the servants of requests.

use std::fmt;
use std::sync::{Arc, Weak};

use orbium_cdr::CdrReader;
use orbium_giop::{Ior, SystemException};

use crate::reply::UntypedReply;
use crate::{IncomingRequest, ServerContext};
use orbium_lane::Route;

/// Location of an object.
#[derive(Clone, Debug)]
pub enum Located {
    /// It exists here.
    Here,
    /// It is unknown.
    Unknown,
    /// It is at that reference; permanently if the second is set.
    At(Ior, bool),
    /// The server cannot decide yet.
    NotYet(SystemException),
}

/// An ORB as used by its server engine. The engine holds it while it serves.
pub trait Dispatcher: Send + Sync {
    /// The state that the engine uses most.
    fn context(&self) -> &ServerContext;

    /// Serves a request and answers it in every case.
    fn serve(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    );

    /// As `serve`, for callers that have checked [`ServerContext::observes_requests`].
    fn serve_unobserved(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    );

    /// The route of a request on arrival; `None` if it is resolved when the request is served.
    ///
    /// # Errors
    /// The exception of a refusal.
    fn destination(&self, request: &IncomingRequest<'_>) -> Result<Option<Route>, SystemException>;

    /// Whether a key belongs to an object here.
    fn locate(&self, key: &[u8]) -> Located;

    /// Whether the adapter of the object with that key accepts the listen points announced by its
    /// clients.
    fn takes_listen_points(&self, key: &[u8]) -> bool;

    /// Removes the lane with that number: it has ended.
    fn forget_lane(&self, number: u32);

    /// The present reference to the object with that key.
    fn reference_of(&self, key: &[u8]) -> Option<Ior>;
}

/// The ORB of a lane: its context, and the ORB itself as long as it exists.
#[derive(Clone)]
pub struct Host {
    /// The context.
    pub context: Arc<ServerContext>,
    dispatcher: Weak<dyn Dispatcher>,
}

impl Host {
    /// The ORB with that context.
    #[must_use]
    pub fn new(context: Arc<ServerContext>, dispatcher: Weak<dyn Dispatcher>) -> Self {
        Self {
            context,
            dispatcher,
        }
    }

    /// The ORB, unless its last handle is gone.
    #[must_use]
    pub fn dispatcher(&self) -> Option<Arc<dyn Dispatcher>> {
        self.dispatcher.upgrade()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.fmt(f)
    }
}
