// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timer of an asynchronous call, for its request and reply deadlines.

use std::sync::Arc;
use std::time::Instant;

use orbium_channel::Channel;
use orbium_giop::{Completion, SystemException};
use orbium_invocation::story::{Note, Phase};

use super::Call;
use super::state::Due;
use orbium_client::request_path::Choice;
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::timing::Timing;

impl Call {
    /// Arms the timer for the request's deadline.
    pub(super) fn await_sending(self: &Arc<Self>, timing: &Timing) -> Result<(), SystemException> {
        match timing.sending.instant() {
            Some(sending) => self.arm(sending, Due::Sent),
            None => Ok(()),
        }
    }

    /// Sets the timer of the call, in place of any previous one.
    pub(super) fn arm(self: &Arc<Self>, at: Instant, due: Due) -> Result<(), SystemException> {
        let Some(reader) = &self.reader else {
            return Ok(());
        };
        let before = self.lock().timer.replace((at, due));
        if let Some((before, _)) = before {
            reader.disarm(before, self.number);
        }
        reader.arm(at, self.number, Arc::clone(self) as _)
    }

    /// Performs the action of a timer. Runs on the reader thread, and does not block.
    pub(crate) fn fire(self: &Arc<Self>, at: Instant) {
        let due = {
            let mut state = self.lock();
            let due = state.timer.filter(|(armed, _)| *armed == at);
            state.timer = state.timer.filter(|_| due.is_none());
            due
        };
        match due {
            Some((_, Due::Begin)) => {
                let call = Arc::clone(self);
                self.chore(Box::new(move || call.send_at_last()));
            }
            Some((_, Due::Sent)) => self.has_to_be_sent(),
            Some((_, Due::Reply)) => self.expire(),
            Some((_, Due::Deliver)) => self.deliver_early(),
            None => {}
        }
    }

    fn send_at_last(self: &Arc<Self>) {
        let timing = self.lock().timing;
        if let Err(exception) = self.await_sending(&timing) {
            return self.complete(Err(exception));
        }
        self.resume(|call, reader, attempt| call.send(reader, attempt, Choice::First));
    }

    /// The time for sending has ended: from now on that of the reply applies.
    fn has_to_be_sent(self: &Arc<Self>) {
        let (timing, sent, is_performed) = {
            let state = self.lock();
            (state.timing, state.sent.clone(), state.is_performed)
        };
        let is_sent = is_performed || sent.is_some_and(|(line, id)| line.has_sent(id));
        match timing.reply.instant() {
            _ if !is_sent => self.expire(),
            Some(reply) if reply > Instant::now() => {
                if let Err(exception) = self.arm(reply, Due::Reply) {
                    self.complete(Err(exception));
                }
            }
            Some(_) => self.expire(),
            None => {}
        }
    }

    /// The time is over.
    fn expire(self: &Arc<Self>) {
        let channel = self.channel();
        let is_sent = self.withdraw();
        let (phase, what) = match (is_sent, &channel) {
            (true, _) => (Phase::Wait, "no reply before the deadline"),
            (false, Some(_)) => (Phase::Send, "not sent before the deadline"),
            (false, None) => (Phase::Begin, "not sent before the deadline"),
        };
        self.note(Note::new(phase, channel.as_ref(), &what));
        let completed = if is_sent {
            Completion::Maybe
        } else {
            Completion::No
        };
        self.complete(Err(SystemException {
            completed,
            ..deadline_passed()
        }));
    }

    /// The channel over which it was sent, or is queued.
    fn channel(&self) -> Option<Channel> {
        let state = self.lock();
        let (line, _) = state.sent.as_ref()?;
        Some(line.key().channel.clone())
    }

    /// Abandons the reply and cancels the request; returns whether the server has it.
    fn withdraw(&self) -> bool {
        let (sent, queue, is_performed) = {
            let mut state = self.lock();
            state.is_given_up = true;
            (state.sent.take(), state.queue.take(), state.is_performed)
        };
        if let Some(queue) = queue {
            queue.withdraw(self.number);
        }
        match (sent, &self.reader) {
            (Some((line, id)), Some(reader)) => line.withdraw(reader, id),
            _ => is_performed,
        }
    }
}
