// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call that awaits its reply, as its connection and its reader see it.

use std::sync::Arc;
use std::time::Instant;

use orbium_channel::Channel;
use orbium_giop::SystemException;
use orbium_invocation::story::{Note, Phase};

use super::answer::Answer;
use orbium_client::received_reply::ReceivedReply;
use orbium_connection::outcome::Outcome;
use orbium_invocation::Decoding;

/// The result of a call.
pub(super) type Answered = Result<Answer, SystemException>;

/// The outcome of a request without an answer.
#[derive(Debug)]
pub(super) enum News {
    Outcome(Outcome),
    /// There was no connection.
    Unreachable(SystemException),
}

/// A pending call. No method blocks, as they run on the reader thread.
pub(super) trait PendingCall: Send + Sync {
    /// The parameters for reading its results.
    fn decoding(&self) -> &Decoding;

    /// Processes a reply. A late one is discarded, an early one delayed.
    fn answer(self: Arc<Self>, answered: Answered);

    /// Goes on after something that was no answer.
    fn hear(self: Arc<Self>, news: News);

    /// Whether the call may be continued after a failure.
    fn may_go_on(&self) -> bool;

    /// Ends the call with the ORB.
    fn end(self: Arc<Self>, ended: SystemException);

    /// Performs the action of the timer of that time.
    fn fire(self: Arc<Self>, at: Instant);

    /// Adds a note of a step.
    fn note(&self, note: Note);

    /// Something happened to the connection that it was to use, or uses.
    fn note_after_its_beginning(&self, notes: &[Note]);
}

/// Delivers the reply of a call, over a channel or within the process.
pub(super) fn answer(
    call: Arc<dyn PendingCall>,
    mut reply: ReceivedReply,
    channel: Option<&Channel>,
) {
    let outcome = reply.outcome(Some(call.decoding()));
    if let Some(outcome) = &outcome {
        call.note(Note::new(Phase::Wait, channel, &outcome.text()));
    }
    match outcome {
        None => call.answer(Ok(Answer::Message(reply))),
        Some(Outcome::Failed(exception)) if !call.may_go_on() => call.answer(Err(exception)),
        Some(outcome) => call.hear(News::Outcome(outcome)),
    }
}
