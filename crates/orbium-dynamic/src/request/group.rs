// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several requests at once, collected in the order of their replies.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use orbium_core::asynchronous::ReadyQueue;
use orbium_core::{Completion, ExceptionKind, SystemException};

use super::received_exception::Received;
use super::{Request, RequestError, State, wrong_order};
use crate::body::Body;

/// Number of a request in its set, and its reply.
type Reply = (u64, Result<Body, Received>);

/// A returned request, and its outcome.
type Collected = (Request, Result<(), RequestError>);

/// Requests that were sent together (`ORB::send_multiple_requests_deferred`), each returned when
/// its reply has arrived.
///
/// The set owns its requests until then, so none is collected twice. Dropping it discards the
/// replies.
///
/// ```no_run
/// # fn f(cubes: Vec<orbium_core::ObjectRef>) -> Result<(), Box<dyn std::error::Error>> {
/// use orbium_dynamic::{Request, Requests};
///
/// let mut requests = Requests::new();
/// for cube in &cubes {
///     requests.send(Request::new(cube, "noop")?)?;
/// }
/// while requests.outstanding() > 0 {
///     let (request, outcome) = requests.get_next_response()?;
///     println!("{:?}: {outcome:?}", request.target());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Requests {
    sent: HashMap<u64, Request>,
    next: u64,
    /// The replies not yet returned.
    replies: Arc<ReadyQueue<Reply>>,
}

/// Delivers the reply of a request to its set, also if the call is dropped without one.
struct Answer {
    replies: Arc<ReadyQueue<Reply>>,
    number: u64,
    reply: Option<Result<Body, Received>>,
}

impl Answer {
    fn give(mut self, reply: Result<Body, Received>) {
        self.reply = Some(reply);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let ended = SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::Maybe);
        let reply = self.reply.take().unwrap_or_else(|| Err(ended.into()));
        self.replies.push((self.number, reply));
    }
}

impl Requests {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a request with the others.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: it was invoked or sent before. The requests sent before it remain sent.
    pub fn send(&mut self, mut request: Request) -> Result<(), SystemException> {
        let deferred = request.begin()?;
        request.state = State::InSet;
        let number = self.next;
        self.next += 1;
        self.sent.insert(number, request);
        let answer = Answer {
            replies: Arc::clone(&self.replies),
            number,
            reply: None,
        };
        deferred.on_reply(move |received| answer.give(received));
        Ok(())
    }

    /// The number of requests not yet returned.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.sent.len()
    }

    /// Whether a reply has arrived that was not returned.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding.
    pub fn poll_next_response(&self) -> Result<bool, SystemException> {
        self.check_outstanding()?;
        Ok(!self.replies.is_empty())
    }

    /// Waits for the next reply, and returns its request and outcome, in the order of the replies.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding.
    pub fn get_next_response(&mut self) -> Result<Collected, SystemException> {
        self.next_response(None)
    }

    /// As [`get_next_response`](Self::get_next_response), but waits for at most `timeout`; `None`
    /// waits without limit.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding. NO_RESPONSE 1 without a reply if the time-out
    /// is zero; TIMEOUT 1 without one after the time-out. The requests remain sent.
    pub fn next_response(
        &mut self,
        timeout: Option<Duration>,
    ) -> Result<Collected, SystemException> {
        self.check_outstanding()?;
        let reply = self.replies.next(timeout, Some)?;
        self.collect(reply)
    }

    /// [`get_next_response`](Self::get_next_response) as a future. Dropping it leaves the reply in
    /// the set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding.
    pub fn next_response_async(
        &mut self,
    ) -> impl Future<Output = Result<Collected, SystemException>> + Send + '_ {
        poll_fn(|cx| match self.check_outstanding() {
            Ok(()) => self.replies.poll(cx).map(|reply| self.collect(reply)),
            Err(none) => Poll::Ready(Err(none)),
        })
    }

    fn check_outstanding(&self) -> Result<(), SystemException> {
        if self.sent.is_empty() {
            Err(wrong_order(11))
        } else {
            Ok(())
        }
    }

    fn collect(&mut self, (number, reply): Reply) -> Result<Collected, SystemException> {
        let request = self.sent.remove(&number);
        let mut request = request.ok_or_else(|| wrong_order(11))?;
        let outcome = request.collect(reply);
        Ok((request, outcome))
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests")
            .field("outstanding", &self.sent.len())
            .finish_non_exhaustive()
    }
}
