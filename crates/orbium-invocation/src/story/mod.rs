// SPDX-License-Identifier: MIT OR Apache-2.0
//! The story of a call that failed.
//!
//! Failures of the steps of a call are recorded for its thread, where they occur. A call that fails
//! as a whole makes a [`Failure`] of the notes; a successful one only records the time of its
//! beginning, three instructions.

mod failure;
mod notes;
mod telling;

pub use failure::{Explanation, Failure, Phase, Step};
pub use notes::{
    Note, claim, connecting, explain, explain_refusal, keep_offered, last_failure, note,
    note_connecting, prepare, remember, start_connecting, story_of, take_notes, unreadable,
};
pub use telling::Failed;
