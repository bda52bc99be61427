// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call as its connection and its reader see it.

use std::sync::Arc;
use std::time::Instant;

use orbium_giop::SystemException;
use orbium_invocation::story::Note;

use super::super::pending_call::{Answered, News, PendingCall};
use super::Call;
use orbium_invocation::Decoding;

impl PendingCall for Call {
    fn decoding(&self) -> &Decoding {
        self.client().decoding()
    }

    fn answer(self: Arc<Self>, answered: Answered) {
        Self::answer(&self, answered);
    }

    fn hear(self: Arc<Self>, news: News) {
        Self::hear(&self, news);
    }

    fn may_go_on(&self) -> bool {
        self.may_go_on()
    }

    fn end(self: Arc<Self>, ended: SystemException) {
        Self::end(&self, ended);
    }

    fn fire(self: Arc<Self>, at: Instant) {
        Self::fire(&self, at);
    }

    fn note(&self, note: Note) {
        self.note(note);
    }

    fn note_after_its_beginning(&self, notes: &[Note]) {
        self.note_after_its_beginning(notes);
    }
}
