// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a line, and its effect on pending calls.

use std::net::Shutdown;
use std::sync::Arc;

use orbium_giop::{Completion, SystemException, Version, close_connection};
use orbium_invocation::story::Phase as CallPhase;
use orbium_transport::ByteStream;

use super::end::End;
use super::{Awaiting, Line, Phase};
use crate::reader::Reader;

impl Line {
    /// Ends the line, unless it has ended before. Called without its lock.
    pub(crate) fn end(self: &Arc<Self>, reader: &Arc<Reader>, end: End) {
        if let Some(text) = end.text() {
            self.note(CallPhase::Wait, &text);
        }
        let (pending, last_sent, is_sending, midway, notes) = {
            let mut state = self.lock();
            // A call may have been added in between.
            if state.is_over() || end == End::Idle && !state.pending.is_empty() {
                return;
            }
            let (is_sending, midway) = (state.is_sending, state.is_midway());
            state.phase = Phase::Over(end);
            state.first = None;
            state.queue.clear();
            state.batch = None;
            if let (Some(counted), Some(cause)) = (state.counted.take(), end.closing()) {
                counted.note_cause(cause);
            }
            state.stop_sending(self.number, reader);
            let notes = state.notes.clone();
            let pending = state.pending.take_all();
            (pending, state.last_sent, is_sending, midway, notes)
        };
        reader.forget(self);
        // A sending thread closes the stream itself: it knows whether its message was sent
        // completely.
        if let (Some(stream), false) = (self.stream.get(), is_sending && end.is_orderly()) {
            close(&**stream, end.is_orderly() && !midway);
        }
        for pending in pending {
            let is_sent = pending.number <= last_sent;
            let Awaiting::Call(call) = pending.awaiting else {
                continue;
            };
            call.note_after_its_beginning(&notes);
            match end {
                End::WithOrb(exception) => call.end(SystemException {
                    completed: if is_sent {
                        Completion::Maybe
                    } else {
                        Completion::No
                    },
                    ..exception
                }),
                end => call.hear(end.news(is_sent)),
            }
        }
    }

    /// Sends a last message, if that can be done at once.
    pub(super) fn say_last(&self, message: &[u8]) {
        let state = self.lock();
        if let (Some(stream), false) = (self.stream.get(), state.is_midway()) {
            let _ = stream.send(message);
        }
    }
}

/// Closes a stream, with CloseConnection unless part of a message is unsent.
pub(super) fn close(stream: &dyn ByteStream, in_order: bool) {
    if in_order {
        let _ = stream.send(&close_connection(Version::V1_2));
    }
    stream.shutdown(Shutdown::Both);
}
