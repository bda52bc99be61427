// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies: marshalling by servants, and paths to clients.

mod intercepted_reply;
mod kept;
mod path;
mod request_end;
mod slot;
mod untyped;

pub(crate) use intercepted_reply::{
    InterceptedPath, InterceptedReply, OverlookedReply, SeenRequest,
};
pub use kept::Kept;
pub use path::ReplyPath;
pub(crate) use request_end::RequestEnd;
pub use slot::{Reply, Sent};
pub(crate) use untyped::ReplyHead;
pub use untyped::UntypedReply;
