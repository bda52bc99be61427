// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of requests to servants.

mod flow;
mod info;
mod outcome;
pub(crate) mod points;

pub use crate::reply_contexts::{AddedContexts, ServedRequest, add_to_reply};
pub use flow::RequestFlow;
pub use info::{
    InterceptedObject, ReceiveContexts, ReceiveRequest, RequestFacts, SendException, SendOther,
    SendReply, ServerRequest,
};
pub use outcome::RequestOutcome;
pub use points::ServerInterceptor;
