// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linked interceptors of calls, at the points of a call with results.

use std::sync::Arc;

use orbium_giop::Completion;

use super::info::{ReceiveReply, SendRequest};
use super::points::ClientInterceptor;
use crate::chain::{Entry, Link, Linked, Passed, Point};

/// A link of interceptors of calls. Other points are run one interceptor after the other.
pub(crate) trait ClientLinks: Send + Sync {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Passed;

    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Passed;
}

impl<T: ClientInterceptor> ClientLinks for Link<T, dyn ClientLinks> {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Passed {
        self.run(SEND_REQUEST, |it| it.send_request(request))?;
        self.next.send_request(request)
    }

    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Passed {
        self.run(RECEIVE_REPLY, |it| it.receive_reply(request))?;
        self.next.receive_reply(request)
    }
}

/// The end of the links.
struct End;

impl ClientLinks for End {
    fn send_request(&self, _: &mut SendRequest<'_>) -> Passed {
        Ok(())
    }

    fn receive_reply(&self, _: &mut ReceiveReply<'_>) -> Passed {
        Ok(())
    }
}

impl Linked for dyn ClientInterceptor {
    type Links = dyn ClientLinks;

    fn end() -> Box<dyn ClientLinks> {
        Box::new(End)
    }
}

/// The chain entry of an interceptor of calls.
pub(crate) fn entry<T: ClientInterceptor>(
    name: String,
    interceptor: T,
) -> Arc<Entry<dyn ClientInterceptor>> {
    let own = Arc::new(interceptor);
    let of_link = Arc::clone(&own);
    let link = move |place, next: Box<dyn ClientLinks>| -> Box<dyn ClientLinks> {
        Link::new(&of_link, place, next)
    };
    Entry::<dyn ClientInterceptor>::new::<T>(name, own, Box::new(link))
}

pub(super) const SEND_REQUEST: Point = Point {
    bit: 1,
    completed: Completion::No,
};

pub(super) const RECEIVE_REPLY: Point = Point {
    bit: 4,
    completed: Completion::Yes,
};
