// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of calls.

mod flow;
mod info;
mod outcome;
pub(crate) mod points;

pub use flow::{CallFlow, SuspendedFlow};
pub use info::{
    CallFacts, ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest,
};
pub use outcome::CallOutcome;
pub use points::ClientInterceptor;
