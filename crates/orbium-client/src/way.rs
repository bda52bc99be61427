// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways that a request can take.

use std::sync::Arc;

use orbium_giop::real_time::PriorityBand;

use crate::candidate::Candidate;
use crate::introduction::PriorityContext;
use crate::pool::Pool;
use crate::private_connections::PrivateConnections;

/// Which candidate is to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The one that suits the call's priority, or answered last.
    First,
    /// The one that was chosen before.
    Same,
    /// The one behind that.
    Next,
}

/// How a request reaches its object.
pub(crate) struct Way<'s> {
    pub(crate) candidate: &'s Candidate,
    /// The connections that it may use; `None` within the process.
    pub(crate) pool: Option<&'s Arc<Pool>>,
    /// What the request says of priorities.
    pub(crate) said: PriorityContext,
    /// Bound with the server before the first request.
    pub(crate) band: Option<PriorityBand>,
    pub(crate) own: Option<&'s Arc<PrivateConnections>>,
}
