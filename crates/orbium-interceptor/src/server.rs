// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of requests to servants.

mod flow;
mod in_place;
mod info;
pub(crate) mod points;
mod request_outcome;

pub use crate::request::reply_contexts::{AddedContexts, ServedRequest, add_to_reply};
pub use flow::RequestFlow;
pub use in_place::{
    Carried, InterceptedRequest, Served, ServedInPlace, Unserved, awaited_by_oneway, raised,
};
pub use info::{
    InterceptedObject, ReceiveContexts, ReceiveRequest, RequestFacts, SendException, SendOther,
    SendReply, ServerRequest,
};
pub use points::ServerInterceptor;
pub use request_outcome::RequestOutcome;
