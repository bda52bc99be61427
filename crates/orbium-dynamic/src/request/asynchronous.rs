// SPDX-License-Identifier: MIT OR Apache-2.0
//! The asynchronous forms of stubs for requests: a future, a handler, or none.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use orbium_core::SystemException;

use super::received_exception::Deferred;
use super::{Request, RequestError, State};

impl Request {
    /// Sends the request now; the future is ready once the request has its results. Dropping the
    /// future does not affect a request that was [sent](Self::send): [`response`](Self::response)
    /// and [`get_response`](Self::get_response) still collect its reply.
    ///
    /// ```
    /// use orbium_cdr::{Any, Type};
    /// use orbium_core::{ObjectRef, SystemException};
    /// use orbium_dynamic::{Request, RequestError};
    ///
    /// async fn cube(object: &ObjectRef, value: i32) -> Result<i32, RequestError> {
    ///     let mut request = Request::new(object, "cube_long")?;
    ///     request.add_in("value", Any::from(value))?;
    ///     request.set_return_type(Type::LONG)?;
    ///     request.invoke_async().await?;
    ///     Ok(request.return_value().extract().map_err(SystemException::from)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke).
    pub fn invoke_async(&mut self) -> impl Future<Output = Result<(), RequestError>> + Send + '_ {
        let mut refused = self.send().err();
        poll_fn(move |cx| match refused.take() {
            Some(exception) => Poll::Ready(Err(exception.into())),
            None => self.poll_collect(cx),
        })
    }

    /// [`get_response`](Self::get_response) as a future. Dropping it does not affect the request.
    ///
    /// # Errors
    /// As [`get_response`](Self::get_response).
    pub fn response(&mut self) -> impl Future<Output = Result<(), RequestError>> + Send + '_ {
        poll_fn(|cx| self.poll_collect(cx))
    }

    fn poll_collect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), RequestError>> {
        let State::Sent(deferred) = &mut self.state else {
            return Poll::Ready(Err(self.state.not_sent().into()));
        };
        let reply = ready!(Pin::new(deferred).poll(cx));
        Poll::Ready(self.collect(reply))
    }

    /// Sends the request, unless it was sent before, and registers a handler, which is called with
    /// the request and its outcome, like one of
    /// [`Asynchronous::on_reply`](orbium_core::asynchronous::Asynchronous::on_reply).
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked, or its reply collected. The handler receives all
    /// other errors, including those of sending.
    pub fn on_reply(
        mut self,
        handler: impl FnOnce(Self, Result<(), RequestError>) + Send + 'static,
    ) -> Result<(), SystemException> {
        let deferred = self.take_deferred()?;
        deferred.on_reply(move |reply| {
            let outcome = self.collect(reply);
            handler(self, outcome);
        });
        Ok(())
    }

    /// Sends the request, unless it was sent before, and detaches the call: its results or
    /// exception are discarded.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked, or its reply collected.
    pub fn detach(mut self) -> Result<(), SystemException> {
        self.take_deferred().map(Deferred::detach)
    }

    /// The call of a request of which the reply is collected elsewhere.
    pub(super) fn take_deferred(&mut self) -> Result<Deferred, SystemException> {
        match std::mem::replace(&mut self.state, State::InSet) {
            State::Sent(deferred) => Ok(deferred),
            other => {
                self.state = other;
                self.begin()
            }
        }
    }
}
