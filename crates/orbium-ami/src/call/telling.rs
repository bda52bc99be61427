// SPDX-License-Identifier: MIT OR Apache-2.0
//! The story of a call that fails, from where it happens to the thread that takes the
//! result.

use orbium_giop::SystemException;
use orbium_invocation::story::{self, Failed, Note};

use super::super::pending_call::Answered;
use super::Call;
use super::state::State;

impl Call {
    /// Adds a note of a step.
    pub(crate) fn note(&self, note: Note) {
        self.lock().notes.push(note);
    }

    /// Something happened to the connection that it was to use, or uses.
    pub(crate) fn note_after_its_beginning(&self, notes: &[Note]) {
        let own = notes.iter().filter(|note| note.is_after(self.begun));
        self.lock().notes.extend(own.cloned());
    }

    /// Takes over the notes of this thread since the call began.
    pub(super) fn take_notes(&self) {
        let mut notes = story::take_notes(self.begun);
        self.lock().notes.append(&mut notes);
    }

    /// Creates the story if the call has failed.
    pub(super) fn make_story(&self, state: &mut State, answered: &Answered) {
        let (Err(exception), None) = (answered, &state.failure) else {
            return;
        };
        let notes = std::mem::take(&mut state.notes);
        let (retries, forwards) = state.counts;
        let failed = Failed {
            object: self.object.ior(),
            operation: self.operation.name(),
            begun: self.begun,
            retries,
            forwards,
        };
        state.failure = Some(failed.failure(*exception, &notes, Vec::new()));
    }

    /// Stores the story for this thread, which takes the result.
    pub(crate) fn tell(&self) {
        if let Some(failure) = self.lock().failure.take() {
            story::remember(failure);
        }
    }

    /// Stores the story for this thread after a reply that cannot be read.
    pub(crate) fn tell_of_reading(&self, exception: SystemException, note: Note) {
        let mut state = self.lock();
        state.notes.push(note);
        self.make_story(&mut state, &Err(exception));
        drop(state);
        self.tell();
    }
}
