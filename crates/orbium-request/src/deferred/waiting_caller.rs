// SPDX-License-Identifier: MIT OR Apache-2.0
//! A caller in this process that waits for a deferred reply, or continues without a thread.

use std::fmt;
use std::sync::Arc;

use orbium_cdr::CdrWriter;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::LateAnswer;
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_invocation::served_queue::wait_serving;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::role;
use orbium_transport::Deadline;

use super::answer_path::AnswerPath;

/// The state of the reply.
#[derive(Default)]
struct State {
    /// Empty until it has arrived.
    message: Vec<u8>,
    /// The receiver of the reply, if no thread waits.
    then: Option<Box<dyn LateAnswer>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("octets", &self.message.len())
            .field("is_left", &self.then.is_some())
            .finish_non_exhaustive()
    }
}

/// The caller of a collocated call, while its request is open.
#[derive(Debug, Default)]
pub struct WaitingCaller {
    state: Mutex<State>,
    answered: Condvar,
}

impl WaitingCaller {
    /// Waits for the message of the reply.
    ///
    /// # Errors
    /// TIMEOUT, completed MAYBE: the deadline has passed.
    pub fn wait(self: &Arc<Self>, until: Deadline) -> Result<Vec<u8>, SystemException> {
        // Other work of this thread is handed off.
        role::about_to_block();
        let caller = Arc::clone(self);
        let answered = wait_serving(move || caller.block(until));
        answered.unwrap_or_else(|| Err(broken_invariant()))
    }

    fn block(&self, until: Deadline) -> Result<Vec<u8>, SystemException> {
        let mut state = self.lock();
        while state.message.is_empty() {
            let left = until.remaining();
            state = match left {
                Ok(None) => self.answered.wait(state),
                Ok(Some(left)) => self.answered.wait_timeout(state, left).0,
                Err(_) => {
                    let late = (ExceptionKind::Timeout, Completion::Maybe);
                    return Err(SystemException::new(late.0, 0, late.1));
                }
            };
        }
        Ok(std::mem::take(&mut state.message))
    }

    /// Passes the reply to `then` later; returns it if it has already arrived.
    pub(crate) fn leave_to(&self, then: Box<dyn LateAnswer>) -> Option<Vec<u8>> {
        let mut state = self.lock();
        if !state.message.is_empty() {
            return Some(std::mem::take(&mut state.message));
        }
        state.then = Some(then);
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl AnswerPath for Arc<WaitingCaller> {
    fn send(&self, _: u32, message: &CdrWriter<'_>) {
        let mut state = self.lock();
        for piece in message.pieces() {
            state.message.extend_from_slice(piece);
        }
        let Some(then) = state.then.take() else {
            drop(state);
            return self.answered.notify_all();
        };
        let message = std::mem::take(&mut state.message);
        drop(state);
        then.answered(message);
    }

    /// If no thread waits any more, this is the only reference.
    fn is_dead(&self) -> bool {
        match &self.lock().then {
            Some(then) => then.is_over(),
            None => Arc::strong_count(self) == 1,
        }
    }
}
