// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies: what a servant writes, and where it goes.

mod kept;
mod path;
mod slot;
mod untyped;
mod whole;

pub use kept::Kept;
pub use path::ReplyPath;
pub use slot::{Reply, Sent};
pub use untyped::UntypedReply;
pub(crate) use whole::KeptReply;
