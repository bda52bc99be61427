// SPDX-License-Identifier: MIT OR Apache-2.0
//! A caller in this process that waits for a late answer.

use std::sync::{Arc, PoisonError};

use orbium_cdr::CdrWriter;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Condvar, Mutex};
use orbium_sync::role;
use orbium_transport::Deadline;

use super::way::Way;

/// The thread that made a call within the process, while its request is open.
#[derive(Debug, Default)]
pub struct WaitingCaller {
    message: Mutex<Vec<u8>>,
    answered: Condvar,
}

impl WaitingCaller {
    /// Waits for the message of the answer.
    ///
    /// # Errors
    /// TIMEOUT, completed MAYBE: the deadline has passed.
    pub fn wait(&self, until: Deadline) -> Result<Vec<u8>, SystemException> {
        // What this thread reads or serves otherwise goes on without it.
        role::about_to_block();
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        while message.is_empty() {
            let left = until.remaining();
            message = match left {
                Ok(None) => {
                    let waited = self.answered.wait(message);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Ok(Some(left)) => {
                    let waited = self.answered.wait_timeout(message, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Err(_) => {
                    let late = (ExceptionKind::Timeout, Completion::Maybe);
                    return Err(SystemException::new(late.0, 0, late.1));
                }
            };
        }
        Ok(std::mem::take(&mut message))
    }
}

impl Way for Arc<WaitingCaller> {
    fn send(&self, _: u32, message: &CdrWriter<'_>) {
        let mut kept = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in message.pieces() {
            kept.extend_from_slice(piece);
        }
        drop(kept);
        self.answered.notify_all();
    }

    /// If the thread waits no longer, only this holds it.
    fn is_dead(&self) -> bool {
        Arc::strong_count(self) == 1
    }
}
