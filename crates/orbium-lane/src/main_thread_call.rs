// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated calls that wait for the main thread.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::{CancellationToken, QueueableCall, QueuedCall, priority};
use orbium_sync::lock::Mutex;
use orbium_sync::{Lender, Loan, OneshotReceiver, OneshotSender, lend, oneshot, role};
use orbium_transport::Deadline;

use crate::{Lane, MainThread};

/// The exception for a call that the main thread will not serve.
fn not_served() -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No)
}

impl MainThread {
    /// Has the main thread, which serves `lane`, run `work` with a message, and waits for it until
    /// the deadline, or until the token is cancelled.
    ///
    /// # Errors
    /// The exception of `work`; TRANSIENT 1: the lane's queue is full, or the lane has ended;
    /// TIMEOUT, or the exception of the token: the caller has stopped waiting.
    pub fn perform<T: Send + 'static>(
        &self,
        lane: &Lane,
        message: Vec<u8>,
        until: Deadline,
        token: Option<&CancellationToken>,
        work: impl Fn(Vec<u8>) -> Result<T, SystemException> + Send + Sync + 'static,
    ) -> Result<T, SystemException> {
        let queue = lane.serving().call_queue();
        let octets = if queue.bounds_octets() {
            message.len()
        } else {
            0
        };
        let (done, performed) = oneshot();
        let call = Arc::new(MainThreadCall {
            work,
            message: Mutex::new(Some(message)),
            done,
        });
        let waiting = Arc::downgrade(&call);
        let number = self.next_call();
        queue.put(QueuedCall {
            number,
            priority: priority::current(),
            deadline: until.instant(),
            octets,
            call,
        })?;
        role::about_to_block();
        let given_up = match await_end(&performed, until, token) {
            Ok(performed) => return performed,
            Err(given_up) => given_up,
        };
        let call = waiting.upgrade();
        let begun = call.is_none_or(|call| call.take_message().is_none());
        queue.withdraw(number);
        Err(SystemException {
            completed: if begun {
                Completion::Maybe
            } else {
                Completion::No
            },
            ..given_up
        })
    }
}

impl MainThread {
    /// Has the main thread, which serves `lane`, run `work` at the priority and in the span of the
    /// calling thread, which waits for its end. At the deadline, or when the token is cancelled,
    /// work that was not begun is withdrawn; the end of running work is always awaited. Its size
    /// belongs to the caller and does not count for the limits of the queue.
    ///
    /// # Errors
    /// TRANSIENT 1: the lane's queue is full, or the lane has ended; TIMEOUT, or the exception of
    /// the token: the work was withdrawn.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn lend<T: Send>(
        &self,
        lane: &Lane,
        until: Deadline,
        token: Option<&CancellationToken>,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, SystemException> {
        let queue = lane.serving().call_queue();
        let (number, priority) = (self.next_call(), priority::current());
        let mut refused = None;
        let span = tracing::Span::current();
        let work = || span.in_scope(|| priority::while_at(priority, work));
        let performed = lend(work, |loan, lender| {
            let put = queue.put(QueuedCall {
                number,
                priority,
                deadline: until.instant(),
                octets: 0,
                call: Arc::new(LentCall(loan)),
            });
            role::about_to_block();
            let awaited = put.and_then(|()| await_lent(lender, until, token));
            refused = awaited.err();
        });
        performed.ok_or_else(|| {
            queue.withdraw(number);
            SystemException {
                completed: Completion::No,
                ..refused.unwrap_or_else(not_served)
            }
        })
    }
}

/// Waits for the end of work lent to the main thread; fails if the caller has stopped waiting.
fn await_lent(
    lender: &Lender,
    until: Deadline,
    token: Option<&CancellationToken>,
) -> Result<(), SystemException> {
    loop {
        let left = CancellationToken::next_check(token, until).remaining();
        if lender.wait(left.unwrap_or(Some(Duration::ZERO))) {
            return Ok(());
        }
        check_given_up(until, token)?;
    }
}

/// Fails if a caller has to stop waiting for the main thread.
fn check_given_up(
    until: Deadline,
    token: Option<&CancellationToken>,
) -> Result<(), SystemException> {
    if let Some(token) = token {
        token.check(Completion::Maybe)?;
    }
    if until.has_passed() {
        return Err(deadline_passed());
    }
    Ok(())
}

/// Work lent to the main thread.
struct LentCall(Loan);

impl QueueableCall for LentCall {
    fn serve(self: Arc<Self>, answers: &dyn Fn()) {
        self.0.run(answers);
    }

    fn refuse(self: Arc<Self>, _: SystemException) {
        self.0.give_back();
    }
}

type Performed<T> = Result<T, SystemException>;

/// Waits for the end of a call on the main thread; fails if the caller has stopped waiting.
fn await_end<T>(
    performed: &OneshotReceiver<Performed<T>>,
    until: Deadline,
    token: Option<&CancellationToken>,
) -> Result<Performed<T>, SystemException> {
    loop {
        let end = match CancellationToken::next_check(token, until).remaining() {
            Ok(None) => performed.recv().ok_or(RecvTimeoutError::Disconnected),
            Ok(Some(left)) => performed.recv_timeout(left),
            Err(_) => Err(RecvTimeoutError::Timeout),
        };
        match end {
            Ok(performed) => return Ok(performed),
            // The call was dropped with the lane.
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(not_served())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        check_given_up(until, token)?;
    }
}

/// A collocated call that waits for the main thread.
struct MainThreadCall<T, W> {
    work: W,
    /// Taken by the main thread, or by a caller that stops waiting.
    message: Mutex<Option<Vec<u8>>>,
    done: OneshotSender<Performed<T>>,
}

impl<T, W> MainThreadCall<T, W> {
    fn take_message(&self) -> Option<Vec<u8>> {
        let mut message = self.message.lock();
        message.take()
    }

    fn end(&self, performed: Performed<T>) {
        self.done.send(performed);
    }
}

impl<T, W> QueueableCall for MainThreadCall<T, W>
where
    T: Send + 'static,
    W: Fn(Vec<u8>) -> Result<T, SystemException> + Send + Sync + 'static,
{
    fn serve(self: Arc<Self>, answers: &dyn Fn()) {
        if let Some(message) = self.take_message() {
            let performed = (self.work)(message);
            answers();
            self.end(performed);
        }
    }

    fn refuse(self: Arc<Self>, exception: SystemException) {
        self.end(Err(exception));
    }
}
