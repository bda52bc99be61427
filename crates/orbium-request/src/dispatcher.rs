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
    /// It is active here.
    Here,
    /// There is none.
    Unknown,
    /// Where that reference leads; for good if the second is set.
    At(Ior, bool),
    /// The server cannot tell yet.
    NotYet(SystemException),
}

/// An ORB, as its server engine sees it. The engine holds it while it serves.
pub trait Dispatcher: Send + Sync {
    /// The facts that the engine asks for most.
    fn context(&self) -> &ServerContext;

    /// Serves a request and answers it, whatever happens.
    fn serve(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    );

    /// As `serve`, where [`ServerContext::observes_requests`] was asked before.
    fn serve_unobserved(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    );

    /// Where a request goes that has just arrived; `None` if that shows when it is
    /// served.
    ///
    /// # Errors
    /// Why it is refused.
    fn destination(&self, request: &IncomingRequest<'_>) -> Result<Option<Route>, SystemException>;

    /// Whether a key leads to an object here.
    fn locate(&self, key: &[u8]) -> Located;

    /// Whether the adapter of the object with that key takes the listen points that its clients
    /// announce.
    fn takes_listen_points(&self, key: &[u8]) -> bool;

    /// The lane of that number has ended.
    fn forget_lane(&self, number: u32);

    /// The reference to the object with that key as it is made now.
    fn reference_of(&self, key: &[u8]) -> Option<Ior>;
}

/// An ORB that a lane serves for: its facts, and the ORB itself as long as it is there.
#[derive(Clone)]
pub struct Host {
    /// The facts.
    pub context: Arc<ServerContext>,
    dispatcher: Weak<dyn Dispatcher>,
}

impl Host {
    /// The ORB with those facts.
    #[must_use]
    pub fn new(context: Arc<ServerContext>, dispatcher: Weak<dyn Dispatcher>) -> Self {
        Self {
            context,
            dispatcher,
        }
    }

    /// The ORB, unless its last reference is gone.
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
