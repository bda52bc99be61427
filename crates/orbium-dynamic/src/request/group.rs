// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several requests at once, collected in the order of their replies.

use std::collections::HashMap;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};

use orbium_core::SystemException;

use super::outcome::Received;
use super::{Request, RequestError, State, wrong_order};
use crate::body::Body;

/// Number of a request in its set, and its reply.
type Reply = (u64, Result<Body, Received>);

/// Requests that were sent together (`ORB::send_multiple_requests_deferred`), each handed back
/// when its reply is there.
///
/// The set owns its requests until then, so none is collected twice. Dropping it discards
/// the replies.
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
pub struct Requests {
    sent: HashMap<u64, Request>,
    next: u64,
    replies: Receiver<Reply>,
    reply: Sender<Reply>,
    /// One that [`poll_next_response`](Self::poll_next_response) has found.
    found: Option<Reply>,
}

impl Requests {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        let (reply, replies) = channel();
        Self {
            sent: HashMap::new(),
            next: 0,
            replies,
            reply,
            found: None,
        }
    }

    /// Sends a request with the others.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: it was invoked or sent before. The requests sent before it stay
    /// sent.
    pub fn send(&mut self, mut request: Request) -> Result<(), SystemException> {
        let deferred = request.begin()?;
        request.state = State::InSet;
        let number = self.next;
        self.next += 1;
        self.sent.insert(number, request);
        let reply = self.reply.clone();
        // Its receiver is gone once the set was dropped.
        deferred.on_reply(move |received| drop(reply.send((number, received))));
        Ok(())
    }

    /// Requests without a reply that was handed back.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.sent.len()
    }

    /// Whether a reply is there that was not handed back.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding.
    pub fn poll_next_response(&mut self) -> Result<bool, SystemException> {
        if self.sent.is_empty() {
            return Err(wrong_order(11));
        }
        if self.found.is_none() {
            self.found = self.replies.try_recv().ok();
        }
        Ok(self.found.is_some())
    }

    /// Waits for the next reply, and returns its request with what came of it. The order is
    /// that of the replies.
    ///
    /// # Errors
    /// BAD_INV_ORDER 11: no request is outstanding.
    pub fn get_next_response(
        &mut self,
    ) -> Result<(Request, Result<(), RequestError>), SystemException> {
        if self.sent.is_empty() {
            return Err(wrong_order(11));
        }
        let found = self.found.take().or_else(|| self.replies.recv().ok());
        let (number, reply) = found.ok_or_else(|| wrong_order(11))?;
        let request = self.sent.remove(&number);
        let mut request = request.ok_or_else(|| wrong_order(11))?;
        let outcome = request.collect(reply);
        Ok((request, outcome))
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests")
            .field("outstanding", &self.sent.len())
            .finish_non_exhaustive()
    }
}
