// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points of calls with results that need no flow in between.

use super::call_outcome::CallOutcome;
use super::flow::{CallFlow, Progress};
use super::info::{ClientRequest, ReceiveReply, SendRequest};
use super::links::{RECEIVE_REPLY, SEND_REQUEST};
use super::start::CallStart;
use crate::chain::{Stopped, Unimplemented};
use crate::processing_mode::Locality;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;

/// A call that has begun otherwise than [plainly](CallStart::begin).
#[derive(Debug)]
pub enum Begun {
    /// It has begun plainly all the same: not all interceptors implement the point.
    Plainly(u32),
    /// Its request has service contexts of interceptors.
    Extended(Progress),
    /// An interceptor has ended the attempt.
    Ended(CallOutcome),
}

impl<'i> CallStart<'i> {
    /// Starts with `send_request` of each interceptor: the id of the request if all have passed it and added
    /// nothing to it; `locality` is that of its target. Its flow is [under way](CallFlow::under_way) then.
    ///
    /// # Errors
    /// It begins otherwise.
    #[inline(always)]
    pub fn begin(self, all: &'i Interceptors, locality: Locality) -> Result<u32, Begun> {
        let mut info = SendRequest {
            request: ClientRequest {
                id: all.next_request(),
                start: self,
            },
            extended: None,
            unimplemented: Unimplemented::default(),
        };
        let interceptors = all.client.of(locality);
        if !interceptors.runs_linked(&[SEND_REQUEST], self.orb.current()) {
            return Err(info.begin_unlinked(all));
        }
        match interceptors.starting().send_request(&mut info) {
            Ok(()) if info.extended.is_none() => Ok(info.request.id),
            passed => Err(info.begun(all, passed.err())),
        }
    }

    /// Ends a call with results that has begun plainly, and of which the reply has no service contexts.
    ///
    /// # Errors
    /// What the attempt ends with instead, where an interceptor has changed that.
    #[inline(always)]
    pub fn end(self, all: &'i Interceptors, id: u32) -> Result<(), Box<CallOutcome>> {
        let mut info = ReceiveReply {
            request: ClientRequest { id, start: self },
            extended: &None,
            reply_contexts: ContextList::none(),
            unimplemented: Unimplemented::default(),
        };
        let interceptors = all.client.of(self.target.locality());
        if !interceptors.runs_linked(&[RECEIVE_REPLY], self.orb.current()) {
            return info.end_unlinked(all);
        }
        match interceptors.ending().receive_reply(&mut info) {
            Ok(()) => Ok(()),
            Err(stopped) => Err(info.ended(all, *stopped)),
        }
    }
}

impl SendRequest<'_> {
    /// Runs the starting point one interceptor after the other.
    #[cold]
    #[inline(never)]
    fn begin_unlinked(&self, all: &Interceptors) -> Begun {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::starting(all, start, id);
        match flow.send_request() {
            Ok(()) if flow.has_added_contexts() => Begun::Extended(flow.into_progress()),
            Ok(()) => Begun::Plainly(id),
            Err(outcome) => Begun::Ended(outcome),
        }
    }

    /// The starting point was run for all interceptors, or up to the one that has ended it.
    #[cold]
    #[inline(never)]
    fn begun(&mut self, all: &Interceptors, stopped: Option<Box<Stopped>>) -> Begun {
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
    #[inline(never)]
    fn end_unlinked(&self, all: &Interceptors) -> Result<(), Box<CallOutcome>> {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::under_way(all, start, id);
        flow.end(&CallOutcome::Results, ContextList::none())
            .map_err(Box::new)
    }

    /// An interceptor has ended the ending point.
    #[cold]
    #[inline(never)]
    fn ended(&self, all: &Interceptors, stopped: Stopped) -> Box<CallOutcome> {
        let ClientRequest { id, start } = self.request;
        let mut flow = CallFlow::under_way(all, start, id);
        Box::new(flow.end_stopped(stopped, ContextList::none()))
    }
}
