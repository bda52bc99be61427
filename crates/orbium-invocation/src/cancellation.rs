// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cancellation of a call from another thread than the one that waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_transport::Deadline;

/// The maximum interval at which a cancellable caller checks its token.
pub const CANCELLATION_PERIOD: Duration = Duration::from_millis(10);

/// A token that cancels the calls it is passed to, from any thread. A clone is the same token; a
/// cancelled token stays cancelled.
///
/// ```
/// use orbium_invocation::CancellationToken;
///
/// let token = CancellationToken::new();
/// let of_another_thread = token.clone();
/// of_another_thread.cancel();
/// assert!(token.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls in progress, and those that begin later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// The deadline, or an earlier time to check whether the call was cancelled.
    #[must_use]
    pub fn next_check(token: Option<&Self>, until: Deadline) -> Deadline {
        match token {
            Some(_) => until.earlier(Deadline::after(Some(CANCELLATION_PERIOD))),
            None => until,
        }
    }

    /// Checks that it was not cancelled, for a request with that completion status.
    ///
    /// # Errors
    /// TRANSIENT 3.
    pub fn check(&self, completed: Completion) -> Result<(), SystemException> {
        if self.is_cancelled() {
            Err(call_cancelled(completed))
        } else {
            Ok(())
        }
    }
}

/// The exception of a cancelled call: TRANSIENT 3 (CORBA 3.3 Part 1, annex A).
#[must_use]
pub fn call_cancelled(completed: Completion) -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 3, completed)
}
