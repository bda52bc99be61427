// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are sent now, with the reply collected later.

use std::task::Waker;
use std::time::Duration;

use orbium_cdr::{Any, CdrWriter, TypeCode};
use orbium_core::asynchronous::Pollable;
use orbium_core::{Completion, Properties, SystemException};

use super::received_exception::{Deferred, Received};
use super::{Request, RequestError, State, wrong_order};
use crate::body::Body;
use crate::operations::operation;

/// A copy of the contents of a request, owned by its call.
pub(super) struct Sent {
    values: Vec<Any>,
    contexts: Option<Properties>,
}

impl Sent {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        for value in &self.values {
            value.write_value(writer);
        }
        super::write_contexts(self.contexts.as_deref(), writer);
    }
}

impl Request {
    /// Sends the request; [`get_response`](Self::get_response) collects its results. All errors,
    /// including those of sending, are returned there. Dropping the request cancels the call.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked or sent before.
    pub fn send(&mut self) -> Result<(), SystemException> {
        self.state = State::Sent(self.begin()?);
        Ok(())
    }

    /// Begins the call.
    pub(super) fn begin(&self) -> Result<Deferred, SystemException> {
        self.check_fresh()?;
        let operation = operation(&self.operation, false)?;
        let values = match &self.sent_struct {
            Some(all) => vec![all.clone()],
            None => {
                let sent = self.arguments.iter().filter(|it| it.direction.is_sent());
                sent.map(|it| it.value.clone()).collect()
            }
        };
        let sent = Sent {
            values,
            contexts: self.contexts.clone(),
        };
        Ok(self.intercepted(operation, |_| {
            self.target
                .call_async(operation, sent, Sent::write, Body::take)
        }))
    }

    /// Whether the reply to a request that was sent has arrived. Does not collect it.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: the request was not sent; 12: its reply was collected; 13: it was
    /// invoked and not sent.
    pub fn poll_response(&self) -> Result<bool, SystemException> {
        match &self.state {
            State::Sent(deferred) => Ok(deferred.is_ready(Some(Duration::ZERO))),
            other => Err(other.not_sent()),
        }
    }

    /// Waits for the reply to a request that was sent; the request then has its results.
    ///
    /// # Errors
    /// As [`poll_response`](Self::poll_response), and those of [`invoke`](Self::invoke).
    pub fn get_response(&mut self) -> Result<(), RequestError> {
        match std::mem::replace(&mut self.state, State::Collected) {
            State::Sent(deferred) => self.collect(deferred.wait()),
            other => {
                let refused = other.not_sent();
                self.state = other;
                Err(refused.into())
            }
        }
    }

    /// Applies the types to a reply.
    pub(super) fn collect(&mut self, reply: Result<Body, Received>) -> Result<(), RequestError> {
        self.state = State::Collected;
        let body = reply.map_err(|received| received.resolve(&self.exceptions))?;
        let results = body.read(|reader| self.read_results(reader));
        let failed = |error| SystemException::from_cdr(error, Completion::Yes);
        self.take_results(results.map_err(failed)?);
        Ok(())
    }

    /// The exceptions that the operation may raise.
    #[must_use]
    pub fn exceptions(&self) -> &[TypeCode] {
        &self.exceptions
    }
}

/// A request that was sent is ready once [`get_response`](Request::get_response) does not block
/// (`CORBA::DIIPollable`, CORBA 3.3 Part 1, clause 17); one that was not is ready, for its error.
///
/// ```
/// use std::time::Duration;
///
/// use orbium_core::ObjectRef;
/// use orbium_core::asynchronous::PollableSet;
/// use orbium_dynamic::Request;
///
/// fn first(cubes: &[ObjectRef]) -> Result<Request, Box<dyn std::error::Error>> {
///     let mut set = PollableSet::new();
///     for cube in cubes {
///         let mut request = Request::new(cube, "noop")?;
///         request.send()?;
///         set.add(request);
///     }
///     let (_, mut request) = set.next_ready(Some(Duration::from_secs(5)))?;
///     request.get_response()?;
///     Ok(request)
/// }
/// assert!(first(&[]).is_err());
/// ```
impl Pollable for Request {
    fn wake_when_ready(&self, waker: &Waker) -> bool {
        match &self.state {
            State::Sent(deferred) => deferred.wake_when_ready(waker),
            _ => true,
        }
    }
}

impl State {
    /// The exception if no reply can be collected.
    pub(super) fn not_sent(&self) -> SystemException {
        wrong_order(match self {
            Self::Fresh => 11,
            Self::Collected => 12,
            Self::Sent(_) | Self::Invoked | Self::InSet => 13,
        })
    }
}
