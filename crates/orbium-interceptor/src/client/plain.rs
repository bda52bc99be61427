// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points of calls with results without a flow in between.

use super::call_outcome::CallOutcome;
use super::flow::{CallFlow, Progress};
use super::info::{ClientRequest, ReceiveReply, SendRequest};
use super::links::{RECEIVE_REPLY, SEND_REQUEST};
use super::points::ClientInterceptor;
use super::start::CallStart;
use crate::chain::{Chain, Stopped, Unimplemented};
use crate::processing_mode::Locality;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;

/// A call that has passed the starting point of all interceptors without additions. Its flow is [in
/// progress](CallFlow::under_way).
#[derive(Debug)]
pub struct BegunCall<'i> {
    /// The unique id among the requests in progress.
    pub id: u32,
    /// The interceptors, if no slots are to be set aside: links run an ending point that all
    /// implement.
    linked: Option<&'i Chain<dyn ClientInterceptor>>,
}

/// The beginning of a call other than [plainly](CallStart::begin).
#[derive(Debug)]
pub enum Begun<'i> {
    /// Plainly nevertheless: not all interceptors implement the point, or a dynamic call was made
    /// before.
    Plainly(BegunCall<'i>),
    /// Not begun: it carries slots, or facts of a dynamic call.
    NotYet,
    /// Its request has service contexts of interceptors.
    Extended(Progress),
    /// An interceptor has ended the attempt.
    Ended(CallOutcome),
}

impl CallStart<'_> {
    /// Starts with `send_request` of each interceptor, unless the call carries slots: it has begun
    /// if all have passed without additions. `locality` is that of its target.
    ///
    /// # Errors
    /// Any other beginning.
    #[inline(always)]
    pub fn begin(self, all: &Interceptors, locality: Locality) -> Result<BegunCall<'_>, Begun<'_>> {
        let mut info = SendRequest {
            // The id is assigned when the call begins.
            request: ClientRequest { id: 0, start: self },
            extended: None,
            unimplemented: Unimplemented::default(),
        };
        let interceptors = all.client.of(locality);
        if all.slots().carries_nothing() && interceptors.implements(&[SEND_REQUEST]) {
            info.begin_linked(all, interceptors)
        } else {
            Err(info.begin_checked(all, interceptors))
        }
    }
}

impl BegunCall<'_> {
    /// Ends the call with results from a reply without service contexts.
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed the attempt.
    #[inline(always)]
    pub fn end(&self, all: &Interceptors, start: CallStart<'_>) -> Result<(), Box<CallOutcome>> {
        let mut info = ReceiveReply {
            request: ClientRequest { id: self.id, start },
            extended: &None,
            reply_contexts: ContextList::none(),
            unimplemented: Unimplemented::default(),
        };
        match self.linked {
            Some(it) if it.implements(&[RECEIVE_REPLY]) => {
                let passed = it.ending().receive_reply(&mut info);
                passed.map_err(|stopped| info.ended(all, *stopped))
            }
            _ => info.end_unlinked(all),
        }
    }
}

impl SendRequest<'_> {
    /// Begins a call unless it carries slots, which is still to be checked.
    #[cold]
    fn begin_checked<'i>(
        &mut self,
        all: &'i Interceptors,
        interceptors: &'i Chain<dyn ClientInterceptor>,
    ) -> Begun<'i> {
        if !all.has_no_slots_for_calls() {
            return Begun::NotYet;
        }
        if interceptors.implements(&[SEND_REQUEST]) && !all.current().has_slots() {
            let begun = self.begin_linked(all, interceptors);
            return begun.map_or_else(|begun| begun, Begun::Plainly);
        }
        let mut flow = CallFlow::new(all, self.request.start);
        match flow.send_request() {
            Ok(()) if flow.has_added_contexts() => Begun::Extended(flow.into_progress()),
            Ok(()) => Begun::Plainly(BegunCall {
                id: flow.id(),
                linked: None,
            }),
            Err(outcome) => Begun::Ended(outcome),
        }
    }

    /// Runs the starting point by links.
    ///
    /// # Errors
    /// Any other than a plain beginning.
    #[inline(always)]
    fn begin_linked<'i>(
        &mut self,
        all: &'i Interceptors,
        interceptors: &'i Chain<dyn ClientInterceptor>,
    ) -> Result<BegunCall<'i>, Begun<'i>> {
        let id = all.next_request();
        self.request.id = id;
        match interceptors.starting().send_request(self) {
            Ok(()) if self.extended.is_none() => Ok(BegunCall {
                id,
                linked: Some(interceptors),
            }),
            passed => Err(self.begun(all, passed.err())),
        }
    }

    /// The beginning after the starting point was run for all interceptors, or up to the one that
    /// has ended it.
    #[cold]
    fn begun<'i>(&mut self, all: &'i Interceptors, stopped: Option<Box<Stopped>>) -> Begun<'i> {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::under_way(all, start, id).extended(self.extended.take());
        match stopped {
            None => Begun::Extended(flow.into_progress()),
            Some(stopped) => Begun::Ended(flow.start_stopped(*stopped)),
        }
    }
}

impl ReceiveReply<'_> {
    /// Runs the ending point one interceptor after the other.
    #[cold]
    fn end_unlinked(&self, all: &Interceptors) -> Result<(), Box<CallOutcome>> {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::under_way(all, start, id);
        flow.end(&CallOutcome::Results, ContextList::none())
            .map_err(Box::new)
    }

    /// The outcome after an interceptor has ended the ending point.
    #[cold]
    fn ended(&self, all: &Interceptors, stopped: Stopped) -> Box<CallOutcome> {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::under_way(all, start, id);
        Box::new(flow.end_stopped(stopped, ContextList::none()))
    }
}
