// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies: what a servant writes, and where it goes.

mod path;
mod slot;
mod untyped;

pub use path::ReplyPath;
pub use slot::{Reply, Sent};
pub use untyped::UntypedReply;
