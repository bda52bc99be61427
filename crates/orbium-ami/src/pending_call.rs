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

/// What a call comes to.
pub(super) type Answered = Result<Answer, SystemException>;

/// What becomes of a request otherwise than by an answer.
#[derive(Debug)]
pub(super) enum News {
    Outcome(Outcome),
    /// There was no connection.
    Unreachable(SystemException),
}

/// A call under way. Nothing here blocks: it runs on the thread that reads.
pub(super) trait PendingCall: Send + Sync {
    /// How its results are read.
    fn decoding(&self) -> &Decoding;

    /// A reply has come. A late one is discarded, an early one kept back.
    fn answer(self: Arc<Self>, answered: Answered);

    /// Goes on after something that was no answer.
    fn hear(self: Arc<Self>, news: News);

    /// Whether a failure is not yet the end.
    fn may_go_on(&self) -> bool;

    /// The ORB has ended, and with it the call.
    fn end(self: Arc<Self>, ended: SystemException);

    /// Does what was to be done at that time.
    fn fire(self: Arc<Self>, at: Instant);

    /// Something happened on its way.
    fn note(&self, note: Note);

    /// Something happened to the connection that it was to use, or uses.
    fn note_after_its_beginning(&self, notes: &[Note]);
}

/// A call has its reply, over a channel or within the process.
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
