// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request between the engine, which has received it, and the ORB, which dispatches it.

use std::fmt;

use orbium_giop::real_time::read_priority_context;
use orbium_giop::{
    HEADER_LEN, MessageHeader, RequestHeader, ResponseFlags, ServiceContexts, service_context,
};
use orbium_interceptor::Locality;
use orbium_interceptor::server::{InterceptedMessage, ServedRequest};
use orbium_invocation::{Operation, Priority};

use crate::{PeerConnection, ServerContext};
use orbium_invocation::Expiry;
use orbium_lane::{Decided, OWN};
use orbium_sys::RealTimeError;

/// The object key of a request message.
#[must_use]
pub fn key_of(message: &[u8]) -> Option<Vec<u8>> {
    let mut message = message.to_vec();
    let (header, body) = message.split_first_chunk_mut::<HEADER_LEN>()?;
    let header = MessageHeader::parse(header).ok()?;
    let mut reader = header.reader(body);
    let request = RequestHeader::read(&mut reader, header.version.minor).ok()?;
    Some(request.target.object_key()?.to_vec())
}

/// A request to be dispatched to a servant.
// In this order, pairs of words that are stored at once are at multiples of 16 bytes, never in two
// cache lines: otherwise such a store before an atomic addition made a collocated call 8 ns slower
// at unfavourable stack alignments.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct IncomingRequest<'r> {
    /// The key of its object.
    pub key: &'r [u8],
    /// Name of the operation on the wire.
    pub operation: &'r [u8],
    /// The expiry of the request.
    pub expiry: Expiry,
    /// The ORB that serves it.
    pub context: &'r ServerContext,
    /// Its service contexts.
    pub contexts: ServiceContexts<'r>,
    /// Number of the lane of the thread that holds it; [`SETTLED`](orbium_lane::SETTLED) if the
    /// lane was decided before.
    pub lane: u32,
    /// The reply that its client expects.
    pub response: ResponseFlags,
    /// The connection of the request; `None` for a collocated one.
    pub peer: Option<&'r dyn PeerConnection>,
    /// The priority and times decided on its arrival.
    pub decided: Option<&'r Decided>,
}

impl<'r> IncomingRequest<'r> {
    /// Whether its client belongs to the same ORB.
    #[must_use]
    #[inline]
    pub fn locality(&self) -> Locality {
        match self.peer {
            Some(_) => Locality::Remote,
            None => Locality::Local,
        }
    }

    /// A collocated request to the object with that key, without a message.
    #[must_use]
    #[inline]
    pub fn collocated(
        context: &'r ServerContext,
        key: &'r [u8],
        operation: &'static Operation,
        expiry: Expiry,
    ) -> Self {
        Self {
            context,
            key,
            operation: operation.name().as_bytes(),
            contexts: ServiceContexts::EMPTY,
            peer: None,
            response: if operation.is_oneway() {
                ResponseFlags::None
            } else {
                ResponseFlags::Full
            },
            expiry,
            lane: OWN,
            decided: None,
        }
    }
}

impl IncomingRequest<'_> {
    /// Serves the request at the decided priority.
    ///
    /// # Errors
    /// The host refuses the native priority; nothing was done.
    #[inline]
    pub fn serve_as<R>(
        &self,
        decided: &Decided,
        serve: impl FnOnce(&IncomingRequest<'_>) -> R,
    ) -> Result<R, RealTimeError> {
        decided.run(|| match decided.timing {
            None => serve(self),
            Some(_) => serve(&IncomingRequest {
                expiry: decided.expiry(self.expiry),
                decided: Some(decided),
                ..*self
            }),
        })
    }
}

impl InterceptedMessage for IncomingRequest<'_> {
    fn operation(&self) -> &[u8] {
        self.operation
    }

    fn contexts(&self) -> ServiceContexts<'_> {
        self.contexts
    }

    fn response(&self) -> ResponseFlags {
        self.response
    }

    #[inline]
    fn locality(&self) -> Locality {
        IncomingRequest::locality(self)
    }

    fn served(&self) -> ServedRequest {
        ServedRequest::of(self)
    }
}

impl fmt::Debug for IncomingRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingRequest")
            .field("operation", &String::from_utf8_lossy(self.operation))
            .field("lane", &self.lane)
            .finish_non_exhaustive()
    }
}

/// The CORBA priority propagated by a request (Real-time CORBA 1.2, clause 5.5); `None` without a
/// valid one.
#[must_use]
pub fn asked_priority(contexts: &ServiceContexts<'_>) -> Option<Priority> {
    let data = contexts.find(service_context::RT_CORBA_PRIORITY)?;
    Priority::new(read_priority_context(data).ok()?)
}
