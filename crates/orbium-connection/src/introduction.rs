// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts of first requests: code sets and priorities.

use orbium_channel::dedication::DedicationRequest;
use orbium_giop::codeset::Negotiated;
use orbium_giop::real_time::PriorityBand;
use orbium_invocation::Priority;

/// The service contexts about priorities that a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityContext {
    /// No priority.
    None,
    /// The priority of this request (CLIENT_PROPAGATED).
    Priority(Priority),
    /// The band of all requests that the connection will carry.
    Range(PriorityBand),
    /// A request for a dedicated thread, and the priority of this request; -1 means none.
    Marker {
        /// The requested priority of the thread.
        asks: i16,
        /// The priority of the request.
        priority: i16,
    },
}

impl PriorityContext {
    /// Adds a request for a dedicated thread.
    pub fn with(self, marker: DedicationRequest) -> Self {
        let priority = match self {
            Self::Priority(priority) => priority.number(),
            _ => -1,
        };
        Self::Marker {
            asks: marker.priority.unwrap_or(-1),
            priority,
        }
    }
}

/// Service contexts that only the first requests of a connection carry, or those with a
/// priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduction {
    /// Sent until the first reply shows that the server has received them.
    pub code_sets: Option<Negotiated>,
    /// The priorities of the request.
    pub said: PriorityContext,
}

impl Introduction {
    /// `None` if the request needs no service context.
    pub fn new(code_sets: Option<Negotiated>, said: PriorityContext) -> Option<Self> {
        match (code_sets, said) {
            (None, PriorityContext::None) => None,
            (code_sets, said) => Some(Self { code_sets, said }),
        }
    }
}
