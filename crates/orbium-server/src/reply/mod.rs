// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies: what a servant writes, and where it goes.

mod intercepted;
mod kept;
mod path;
mod slot;
mod untyped;

pub(crate) use intercepted::InterceptedReply;
pub use kept::Kept;
pub use path::ReplyPath;
pub use slot::{Reply, Sent};
pub use untyped::UntypedReply;
