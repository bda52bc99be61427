// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of requests to servants.

mod flow;
mod in_place;
mod info;
pub(crate) mod links;
pub(crate) mod points;
mod request_info;
mod request_outcome;

pub use crate::request::reply_contexts::{AddedContexts, ServedRequest, add_to_reply, describe};
pub use flow::{EndedOtherwise, LinkedRequests, RequestFlow};
pub use in_place::{
    Carried, InterceptedRequest, Served, ServedInPlace, Unserved, UpcallResult, awaited_by_oneway,
    raised,
};
pub use info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
pub use points::ServerInterceptor;
pub use request_info::{InterceptedMessage, InterceptedObject, RequestFacts, ServerRequest};
pub use request_outcome::RequestOutcome;
