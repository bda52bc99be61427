// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handle of an asynchronous invocation.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::raises::Raises;
use orbium_invocation::story::{Note, Phase};

use super::answer::Results;
use super::call::Call;
use super::pending_call::{Answered, PendingCall};

/// A call in progress (CORBA Messaging's asynchronous method invocation), in each of its three
/// forms:
///
/// * a future, for any executor: `.await`;
/// * a poller ([`is_ready`](Self::is_ready), [`response`](Self::response), [`wait`](Self::wait));
/// * with a handler, on a thread of the ORB ([`on_reply`](Self::on_reply)) or of an executor
///   ([`on_reply_by`](Self::on_reply_by)), or none ([`detach`](Self::detach)).
///
/// The call proceeds whether or not the handle is polled. Dropping the handle cancels
/// the call: its reply is discarded, and the server receives a CancelRequest.
///
/// The request carries the priority and the deadline of its caller, like that of a synchronous
/// call; its reply is received by a thread of that priority.
///
/// ```
/// use orbium_core::asynchronous::Asynchronous;
/// use orbium_core::{ObjectRef, Operation, SystemException};
///
/// static IS_A: Operation = Operation::new("_is_a");
///
/// async fn is_a(object: &ObjectRef, id: &str) -> Result<bool, SystemException> {
///     let answer: Asynchronous<bool> = object.call_async(
///         &IS_A,
///         id.to_owned(),
///         |id, writer| orbium_cdr::Encode::encode(id.as_str(), writer),
///         |reader| reader.read_bool(),
///     );
///     answer.await
/// }
/// ```
#[must_use = "a call that is dropped is cancelled"]
pub struct Asynchronous<T, E = SystemException> {
    /// `None` once it was given away.
    call: Option<Arc<Call>>,
    results: Results<T, E>,
}

impl<T, E: Raises> Asynchronous<T, E> {
    pub(super) fn new(call: Arc<Call>, results: Results<T, E>) -> Self {
        Self {
            call: Some(call),
            results,
        }
    }

    /// The call, unless the handle was detached.
    pub(super) fn call(&self) -> Option<&Call> {
        self.call.as_deref()
    }

    /// The call, for another handle of it.
    pub(super) fn shared_call(&self) -> Option<Arc<Call>> {
        self.call.clone()
    }

    /// Another handle of the same call; the first to take the results gets them.
    pub(super) fn another(&self) -> Self {
        Self {
            call: self.call.clone(),
            results: self.results,
        }
    }

    /// Detaches the call from this handle.
    pub(super) fn give_away(&mut self) {
        self.call = None;
    }

    /// Whether the reply has arrived, for which it waits for at most `timeout`; `None` waits
    /// without limit (`Pollable::is_ready`).
    #[must_use]
    pub fn is_ready(&self, timeout: Option<Duration>) -> bool {
        self.call.as_ref().is_none_or(|call| call.wait(timeout))
    }

    /// Waits for the results for at most `timeout`, or, with `None`, without limit. Only the wait
    /// is bounded: the call continues, and can be waited for again.
    ///
    /// # Errors
    /// The exceptions of the call; NO_RESPONSE 1 without a reply if the time-out is zero; TIMEOUT 1
    /// without one after the time-out; OBJECT_NOT_EXIST 5 if the results were taken before.
    pub fn response(&mut self, timeout: Option<Duration>) -> Result<T, E> {
        let Some(call) = &self.call else {
            return Err(given_away().into());
        };
        if !call.wait(timeout) {
            return Err(no_response(timeout).into());
        }
        let answered = call.take().unwrap_or_else(|| Err(given_away()));
        read(answered, call, self.results)
    }

    /// Waits for the results without limit.
    ///
    /// # Errors
    /// The exceptions of the call.
    pub fn wait(mut self) -> Result<T, E> {
        // With many pending calls the reply has usually arrived.
        if let Some(call) = &self.call
            && let Some(answered) = call.take_if_over()
        {
            let results = read(answered, call, self.results);
            // Nothing remains to be cancelled.
            self.call = None;
            return results;
        }
        self.response(None)
    }

    /// Registers a handler for the results, called once. It runs on a thread of the ORB that has
    /// the caller's priority, and may make calls and block. Handlers of one priority begin in the
    /// order in which their replies arrived, and at most
    /// [`limits.reply_threads`](orbium_connection::ClientConfig::limits) run at once: handlers that
    /// wait for each other may deadlock.
    pub fn on_reply(mut self, handler: impl FnOnce(Result<T, E>) + Send + 'static)
    where
        T: 'static,
        E: 'static,
    {
        if let Some(call) = self.call.take() {
            let (own, results) = (Arc::clone(&call), self.results);
            let handler = move |answered| handler(read(answered, &own, results));
            call.on_reply(Box::new(handler));
        }
    }

    /// As [`on_reply`](Self::on_reply), by an executor: the handler is a task, which is spawned
    /// now, waits for the reply, and is subject to the order and the threads of that executor. A
    /// scheduler context of `orbium-executor` is one. Dropping the task cancels the call.
    ///
    /// ```
    /// # use orbium_core::asynchronous::Asynchronous;
    /// # fn handled(position: Asynchronous<i32>, context: &orbium_executor::SchedulerContext) {
    /// use std::time::Duration;
    /// use orbium_executor::TaskQos;
    ///
    /// let urgent = TaskQos::default().deadline(Duration::from_millis(5));
    /// position.on_reply_by(context.executor(urgent), |position| println!("{position:?}"));
    /// # }
    /// ```
    pub fn on_reply_by(
        self,
        executor: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>),
        handler: impl FnOnce(Result<T, E>) + Send + 'static,
    ) where
        T: 'static,
        E: 'static,
    {
        executor(Box::pin(async move { handler(self.await) }));
    }

    /// Detaches the call: its results or exception are discarded (a nil handler).
    pub fn detach(mut self) {
        if let Some(call) = self.call.take() {
            call.on_reply(Box::new(drop));
        }
    }
}

fn read<T, E: Raises>(answered: Answered, call: &Call, results: Results<T, E>) -> Result<T, E> {
    let exception = match answered {
        Ok(reply) => match reply.into_result(PendingCall::decoding(call), results) {
            Ok(result) => return result,
            Err((exception, cause)) => {
                call.tell_of_reading(exception, Note::new(Phase::Decode, None, &cause));
                exception
            }
        },
        Err(exception) => {
            call.tell();
            exception
        }
    };
    Err(exception.into())
}

/// Raised if there is no reply yet: NO_RESPONSE without a wait, else TIMEOUT.
pub(super) fn no_response(timeout: Option<Duration>) -> SystemException {
    match timeout {
        Some(Duration::ZERO) => {
            SystemException::omg(ExceptionKind::NoResponse, 1, Completion::Maybe)
        }
        _ => SystemException::omg(ExceptionKind::Timeout, 1, Completion::Maybe),
    }
}

/// Raised by a poller of which the results were taken.
pub(super) fn given_away() -> SystemException {
    SystemException::omg(ExceptionKind::ObjectNotExist, 5, Completion::Yes)
}

impl<T, E: Raises> Future for Asynchronous<T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(call) = &self.call else {
            return Poll::Ready(Err(given_away().into()));
        };
        match call.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(answered) => {
                let answered = answered.unwrap_or_else(|| Err(given_away()));
                Poll::Ready(read(answered, call, self.results))
            }
        }
    }
}

impl<T, E> Drop for Asynchronous<T, E> {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            call.cancel();
        }
    }
}

impl<T, E> fmt::Debug for Asynchronous<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asynchronous")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
