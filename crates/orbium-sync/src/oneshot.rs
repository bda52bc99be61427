// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel for one value.
//!
//! Channels of the standard library carry any number of values, in three implementations that are
//! all compiled for every type of values: ten times as much code.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::lock::{Condvar, Mutex};

#[derive(Debug)]
enum State<T> {
    Pending,
    Sent(T),
    /// The value was received, or the sender dropped without one.
    Closed,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// A channel for one value.
///
/// ```
/// let (sender, receiver) = orbium_sync::oneshot();
/// let thread = std::thread::spawn(move || sender.send(7));
/// assert_eq!(receiver.recv(), Some(7));
/// # thread.join().unwrap();
/// ```
#[must_use]
pub fn oneshot<T>() -> (OneshotSender<T>, OneshotReceiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Pending),
        changed: Condvar::new(),
    });
    (OneshotSender(Arc::clone(&shared)), OneshotReceiver(shared))
}

/// The sending end; dropping it without a value ends the wait for one.
#[derive(Debug)]
pub struct OneshotSender<T>(Arc<Shared<T>>);

impl<T> OneshotSender<T> {
    /// Sends the value. A second one is dropped.
    pub fn send(&self, value: T) {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Pending) {
            *state = State::Sent(value);
            drop(state);
            self.0.changed.notify_one();
        }
    }
}

impl<T> Drop for OneshotSender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Pending) {
            *state = State::Closed;
            drop(state);
            self.0.changed.notify_one();
        }
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct OneshotReceiver<T>(Arc<Shared<T>>);

impl<T> OneshotReceiver<T> {
    /// Waits for the value; `None` if the sender was dropped without one.
    #[must_use]
    pub fn recv(&self) -> Option<T> {
        let mut state = self.0.state.lock();
        while matches!(*state, State::Pending) {
            state = self.0.changed.wait(state);
        }
        State::take(&mut state)
    }

    /// As [`recv`](Self::recv), for at most that time; spurious wake-ups are possible.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`]: there is no value yet; [`RecvTimeoutError::Disconnected`]:
    /// the sender was dropped without one.
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Pending) {
            (state, _) = self.0.changed.wait_timeout(state, time);
        }
        match *state {
            State::Pending => Err(RecvTimeoutError::Timeout),
            _ => State::take(&mut state).ok_or(RecvTimeoutError::Disconnected),
        }
    }
}

impl<T> State<T> {
    fn take(state: &mut Self) -> Option<T> {
        match std::mem::replace(state, Self::Closed) {
            Self::Sent(value) => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn a_value_is_received_once() {
        let (sender, receiver) = oneshot();
        sender.send(1);
        sender.send(2);
        assert_eq!(receiver.recv(), Some(1));
        assert_eq!(receiver.recv(), None);
        assert_eq!(
            receiver.recv_timeout(LONG),
            Err(RecvTimeoutError::Disconnected)
        );
    }

    #[test]
    fn a_wait_ends_with_the_value_of_another_thread() {
        let (sender, receiver) = oneshot();
        thread::scope(|scope| {
            let value = scope.spawn(move || receiver.recv());
            sender.send(7);
            assert_eq!(value.join().unwrap(), Some(7));
        });
    }

    #[test]
    fn a_sender_that_is_dropped_ends_the_wait() {
        let (sender, receiver) = oneshot::<()>();
        thread::scope(|scope| {
            let value = scope.spawn(move || receiver.recv());
            drop(sender);
            assert_eq!(value.join().unwrap(), None);
        });
        let (sender, receiver) = oneshot::<()>();
        sender.send(());
        drop(sender);
        assert_eq!(receiver.recv_timeout(LONG), Ok(()));
    }

    #[test]
    fn no_value_within_the_time() {
        let (sender, receiver) = oneshot::<()>();
        let early = receiver.recv_timeout(Duration::ZERO);
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
        sender.send(());
        assert_eq!(receiver.recv(), Some(()));
    }
}
