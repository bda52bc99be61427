// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event sources of a reader: its lines, for receiving and for sending.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use orbium_sys::Interest;

use super::Reader;
use crate::line::Line;

/// The token of a line's source, followed by that of its sending source.
const fn token(number: u64) -> u64 {
    number * 2
}

/// The line of a token, and whether the token reports room to send only.
pub(super) const fn line_of(token: u64) -> (u64, bool) {
    (token / 2, token % 2 == 1)
}

impl Reader {
    /// Watches a line, unless it has ended.
    pub(crate) fn watch(&self, line: &Arc<Line>, source: &dyn AsFd) -> io::Result<()> {
        let mut state = self.lock();
        if state.ended || line.is_over() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.watched.insert(line.number(), Arc::clone(line));
        self.poller
            .add(source, token(line.number()), Interest::Read)
    }

    /// Changes the interest in a line's source.
    pub(crate) fn change(
        &self,
        number: u64,
        source: &dyn AsFd,
        interest: Interest,
    ) -> io::Result<()> {
        self.poller.modify(source, token(number), interest)
    }

    /// Registers a separate source for room to send.
    pub(crate) fn watch_sending(&self, number: u64, source: &Arc<OwnedFd>) -> io::Result<()> {
        self.poller.add(source, token(number) + 1, Interest::Write)
    }

    pub(crate) fn ignore_sending(&self, number: u64, source: &Arc<OwnedFd>) -> io::Result<()> {
        self.poller.remove(source, token(number) + 1)
    }

    /// Has a line checked regardless of the readiness of its source.
    pub(crate) fn look_at(&self, line: &Arc<Line>) {
        self.lock().looks.push(Arc::clone(line));
        self.waker.wake();
    }

    /// Has the reader thread send the queued messages of a line. It need not be woken while it is
    /// running: it checks the lines before it waits.
    pub(crate) fn send_soon(&self, line: &Arc<Line>) {
        let waits = {
            let mut state = self.lock();
            state.deferred.push(Arc::clone(line));
            std::mem::take(&mut state.is_waiting)
        };
        if waits {
            self.waker.wake();
        }
    }

    /// Deregisters a line that has ended.
    pub(crate) fn forget(&self, line: &Arc<Line>) {
        let mut state = self.lock();
        state.recent = None;
        if let Some(known) = state.lines.get(line.key())
            && Arc::ptr_eq(known, line)
        {
            state.lines.remove(line.key());
        }
        let watched = state.watched.remove(&line.number());
        if let (Some(_), Some(source)) = (watched, line.source()) {
            let _ = self.poller.remove(source, token(line.number()));
        }
    }
}
