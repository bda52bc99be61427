// SPDX-License-Identifier: MIT OR Apache-2.0
//! Group commit: sets of events that arrive during a write are written together, by one
//! transaction.

use std::sync::Arc;

use super::{Failed, Spool, State, WAITING, entry, size};
use crate::error::JetStreamError;
use crate::stream::message::Message;

impl Spool {
    /// Adds events behind those that wait; they are on the disk when it returns.
    ///
    /// # Errors
    /// [`JetStreamError::SpoolFull`] or [`JetStreamError::Spool`]: none has been added.
    pub(crate) fn append(&self, messages: &Arc<[Message]>) -> Result<(), JetStreamError> {
        let mut state = self.state.lock();
        let bytes: u64 = messages.iter().map(size).sum();
        if state.bytes.saturating_add(bytes) > self.max_bytes {
            return Err(JetStreamError::SpoolFull);
        }
        state.bytes += bytes;
        state.is_direct = false;
        state.pending.sets.push(Arc::clone(messages));
        let outcome = Arc::clone(&state.pending.outcome);
        // A thread that finds no writer writes for all.
        while state.pending.is_writing {
            state = self.written.0.wait(state);
            // Stored under the lock.
            if let Some(outcome) = outcome.get() {
                return outcome.clone();
            }
        }
        let sets = std::mem::take(&mut state.pending.sets);
        state.pending.outcome = Arc::default();
        state.pending.is_writing = true;
        let first = state.next;
        drop(state);
        let written = self.insert(first, &sets).map_err(JetStreamError::from);
        let mut state = self.state.lock();
        state.end_write(&sets, written.is_ok());
        // It is set nowhere else.
        let _ = outcome.set(written.clone());
        drop(state);
        self.written.0.notify_all();
        self.filled.notify_one();
        written
    }

    fn insert(&self, first: u64, sets: &[Arc<[Message]>]) -> Result<(), Failed> {
        let transaction = self.database.begin_write()?;
        let mut table = transaction.open_table(WAITING)?;
        let messages = sets.iter().flat_map(|it| it.iter());
        for (number, message) in (first..).zip(messages) {
            table.insert(number, entry(message))?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }
}

impl State {
    fn end_write(&mut self, sets: &[Arc<[Message]>], is_written: bool) {
        self.pending.is_writing = false;
        if is_written {
            let events: usize = sets.iter().map(|it| it.len()).sum();
            self.next += events as u64;
            self.events += events as u64;
        } else {
            let messages = sets.iter().flat_map(|it| it.iter());
            self.bytes -= messages.map(size).sum::<u64>();
        }
    }
}
