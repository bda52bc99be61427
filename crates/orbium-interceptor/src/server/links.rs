// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linked interceptors of requests, at the points of a request with results.

use std::sync::Arc;

use orbium_giop::Completion;

use super::info::{ReceiveContexts, ReceiveRequest, SendReply};
use super::points::ServerInterceptor;
use super::request_info::{InterceptedObject, ServerRequest};
use crate::chain::{Entry, Link, Linked, Passed, Point};

/// A link of interceptors of requests, which creates the information for its interceptor at a
/// point. Other points are run one interceptor after the other.
pub(crate) trait ServerLinks: Send + Sync {
    fn receive_contexts(&self, request: &mut ServerRequest<'_>) -> Passed;

    fn receive_request(
        &self,
        request: &mut ServerRequest<'_>,
        object: &dyn InterceptedObject,
    ) -> Passed;

    fn send_reply(&self, request: &mut ServerRequest<'_>) -> Passed;
}

impl<T: ServerInterceptor> ServerLinks for Link<T, dyn ServerLinks> {
    fn receive_contexts(&self, request: &mut ServerRequest<'_>) -> Passed {
        self.run(RECEIVE_CONTEXTS, |it| {
            it.receive_request_service_contexts(&mut ReceiveContexts::of(request))
        })?;
        self.next.receive_contexts(request)
    }

    fn receive_request(
        &self,
        request: &mut ServerRequest<'_>,
        object: &dyn InterceptedObject,
    ) -> Passed {
        self.run(RECEIVE_REQUEST, |it| {
            it.receive_request(&mut ReceiveRequest::of(request, object))
        })?;
        self.next.receive_request(request, object)
    }

    fn send_reply(&self, request: &mut ServerRequest<'_>) -> Passed {
        self.run(SEND_REPLY, |it| it.send_reply(&mut SendReply::of(request)))?;
        self.next.send_reply(request)
    }
}

/// The end of the links.
struct End;

impl ServerLinks for End {
    fn receive_contexts(&self, _: &mut ServerRequest<'_>) -> Passed {
        Ok(())
    }

    fn receive_request(&self, _: &mut ServerRequest<'_>, _: &dyn InterceptedObject) -> Passed {
        Ok(())
    }

    fn send_reply(&self, _: &mut ServerRequest<'_>) -> Passed {
        Ok(())
    }
}

impl Linked for dyn ServerInterceptor {
    type Links = dyn ServerLinks;

    fn end() -> Box<dyn ServerLinks> {
        Box::new(End)
    }
}

/// The chain entry of an interceptor of requests.
pub(crate) fn entry<T: ServerInterceptor>(
    name: String,
    interceptor: T,
) -> Arc<Entry<dyn ServerInterceptor>> {
    let own = Arc::new(interceptor);
    let of_link = Arc::clone(&own);
    let link = move |place, next: Box<dyn ServerLinks>| -> Box<dyn ServerLinks> {
        Link::new(&of_link, place, next)
    };
    Entry::<dyn ServerInterceptor>::new::<T>(name, own, Box::new(link))
}

pub(super) const RECEIVE_CONTEXTS: Point = Point {
    bit: 1,
    completed: Completion::No,
};

pub(super) const RECEIVE_REQUEST: Point = Point {
    bit: 2,
    completed: Completion::No,
};

pub(super) const SEND_REPLY: Point = Point {
    bit: 4,
    completed: Completion::Yes,
};
