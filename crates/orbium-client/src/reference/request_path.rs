// SPDX-License-Identifier: MIT OR Apache-2.0
//! Path of a request: the candidate, and the connections that it may use.

use std::sync::Arc;

use orbium_giop::real_time::PriorityBand;

use crate::reference::candidate::Candidate;
use orbium_connection::PrivateConnections;
use orbium_connection::introduction::PriorityContext;
use orbium_connection::pool::Pool;

/// Choice of the candidate to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The candidate for the call's priority, or that of the last reply.
    First,
    /// The candidate chosen before.
    Same,
    /// The next candidate.
    Next,
}

/// Path of a request to its object.
pub struct RequestPath<'s> {
    /// The candidate of the request.
    pub candidate: &'s Candidate,
    /// The connections that it may use; `None` within the process.
    pub pool: Option<&'s Arc<Pool>>,
    /// The priority context of the request.
    pub said: PriorityContext,
    /// Bound with the server before the first request.
    pub band: Option<PriorityBand>,
    /// The private connections of the reference, if any.
    pub own: Option<&'s Arc<PrivateConnections>>,
}
