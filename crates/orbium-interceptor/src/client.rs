// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of calls.

mod call_outcome;
mod flow;
mod info;
pub(crate) mod links;
mod plain;
pub(crate) mod points;
mod start;
mod suspended;
mod target;

pub use call_outcome::CallOutcome;
pub use flow::{CallFlow, Progress};
pub use info::{
    ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest,
};
pub use plain::{Begun, BegunCall};
pub use points::ClientInterceptor;
pub use start::CallStart;
pub use suspended::SuspendedFlow;
pub use target::{CallFacts, CallPolicies, CallTarget};
