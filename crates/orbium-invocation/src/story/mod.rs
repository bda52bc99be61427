// SPDX-License-Identifier: MIT OR Apache-2.0
//! The story of a call that failed.
//!
//! What goes wrong on the way of a call is noted for its thread, where it happens. A
//! call that fails as a whole makes a [`Failure`] of the notes; one that succeeds pays for
//! the moment it began, three instructions, and no more.

mod failure;
mod notes;
mod telling;

pub use failure::{Explanation, Failure, Phase, Step};
pub use notes::{
    Note, claim, connecting, explain, explain_refusal, keep_offered, last_failure, note,
    note_connecting, prepare, remember, start_connecting, story_of, take_notes, unreadable,
};
pub use telling::Failed;
