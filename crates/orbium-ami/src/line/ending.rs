// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a line, and its effect on pending calls.

use std::net::Shutdown;
use std::sync::Arc;

use orbium_giop::{Completion, SystemException, Version, close_connection};
use orbium_invocation::story::Phase as CallPhase;

use super::end::End;
use super::{Awaiting, Line, Phase};
use crate::reader::Reader;

impl Line {
    /// Ends the line, unless it has ended before. Not under its lock.
    pub(crate) fn end(self: &Arc<Self>, reader: &Arc<Reader>, end: End) {
        if let Some(text) = end.text() {
            self.note(CallPhase::Wait, &text);
        }
        let (pending, last_sent, midway, notes) = {
            let mut state = self.lock();
            // A call may have been added in between.
            if state.is_over() || end == End::Idle && !state.pending.is_empty() {
                return;
            }
            let midway = state.is_midway();
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
            (pending, state.last_sent, midway, notes)
        };
        reader.forget(self);
        if let Some(stream) = self.stream.get() {
            if let (End::Idle | End::WithOrb(_), false) = (end, midway) {
                let _ = stream.send(&close_connection(Version::V1_2));
            }
            stream.shutdown(Shutdown::Both);
        }
        for pending in pending {
            let is_sent = pending.number <= last_sent;
            let Awaiting::Call(call) = pending.awaiting else {
                continue;
            };
            call.note_after_its_beginning(&notes);
            match end {
                End::WithOrb(exception) => call.end(SystemException {
                    completed: match is_sent {
                        true => Completion::Maybe,
                        false => Completion::No,
                    },
                    ..exception
                }),
                end => call.hear(end.news(is_sent)),
            }
        }
    }

    /// Says something before the end, if that can be done at once.
    pub(super) fn say_last(&self, message: &[u8]) {
        let state = self.lock();
        if let (Some(stream), false) = (self.stream.get(), state.is_midway()) {
            let _ = stream.send(message);
        }
    }
}
