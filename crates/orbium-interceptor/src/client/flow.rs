// SPDX-License-Identifier: MIT OR Apache-2.0
//! One attempt at a call on its way through the interceptors.

use std::fmt;

use orbium_giop::{Completion, SystemException};

use super::call_outcome::CallOutcome;
use super::info::{
    ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest,
};
use super::links::{RECEIVE_REPLY, SEND_REQUEST};
use super::points::ClientInterceptor;
use super::start::CallStart;
use crate::chain::{Chain, Point, Stopped, Unimplemented};
use crate::processing_mode::Locality;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;
use crate::request::interrupt::Interrupt;

/// How far an attempt has got.
#[derive(Debug)]
pub struct Progress {
    id: u32,
    /// How many interceptors are owed an ending point.
    started: usize,
    /// The service contexts of the request, if an interceptor has added to the caller's.
    pub(super) extended: Option<ContextList>,
}

/// An attempt at a call, and the interceptors that have seen it begin.
pub struct CallFlow<'i> {
    interceptors: &'i Chain<dyn ClientInterceptor>,
    start: CallStart<'i>,
    progress: Progress,
}

impl<'i> CallFlow<'i> {
    /// A flow that no interceptor has seen yet.
    #[must_use]
    #[inline]
    pub fn new(all: &'i Interceptors, start: CallStart<'i>) -> Self {
        let progress = Progress {
            id: all.next_request(),
            started: 0,
            extended: None,
        };
        Self::resumed(all, start, progress)
    }

    /// A flow that is under way: each interceptor has passed its starting point, or does not
    /// implement it, and is owed an ending point.
    #[must_use]
    #[inline]
    pub fn under_way(all: &'i Interceptors, start: CallStart<'i>, id: u32) -> Self {
        let progress = Progress {
            id,
            started: all.client.of(start.target.locality()).len(),
            extended: None,
        };
        Self::resumed(all, start, progress)
    }

    /// A flow that goes on where another one has stopped.
    #[must_use]
    #[inline]
    pub fn resumed(all: &'i Interceptors, start: CallStart<'i>, progress: Progress) -> Self {
        Self {
            interceptors: all.client.of(start.target.locality()),
            start,
            progress,
        }
    }

    /// Distinguishes the request from others under way.
    #[must_use]
    #[inline]
    pub fn id(&self) -> u32 {
        self.progress.id
    }

    /// How far the flow has got, for one that goes on in its place.
    #[must_use]
    pub fn into_progress(self) -> Progress {
        self.progress
    }

    pub(super) fn into_parts(self) -> (CallStart<'i>, Progress) {
        (self.start, self.progress)
    }

    #[inline]
    fn request(&self) -> ClientRequest<'i> {
        ClientRequest {
            id: self.progress.id,
            start: self.start,
        }
    }

    /// Starts with `send_request` of each interceptor.
    ///
    /// # Errors
    /// What the attempt ends with; ending points were called already.
    pub fn send_request(&mut self) -> Result<(), CallOutcome> {
        let mut info = SendRequest {
            request: self.request(),
            extended: self.progress.extended.take(),
            unimplemented: Unimplemented::default(),
        };
        let current = self.start.orb.current();
        let started = &mut self.progress.started;
        let sent =
            self.interceptors
                .start(SEND_REQUEST, current, started, &mut info, |it, info| {
                    it.send_request(info)
                });
        self.progress.extended = info.extended;
        sent.map_err(|interrupt| self.interrupted(interrupt.into()))
    }

    /// Starts with `send_poll` of each interceptor: the reply to an asynchronous request is
    /// there.
    pub(super) fn send_poll(&mut self) -> Result<(), CallOutcome> {
        let mut info = SendPoll {
            request: self.request(),
            unimplemented: Unimplemented::default(),
        };
        let current = self.start.orb.current();
        let started = &mut self.progress.started;
        let polled = self
            .interceptors
            .start(SEND_POLL, current, started, &mut info, |it, info| {
                it.send_poll(info)
            });
        polled.map_err(|exception| self.interrupted(CallOutcome::Raised(exception)))
    }

    /// The flow, with the service contexts of its request.
    pub(super) fn extended(mut self, extended: Option<ContextList>) -> Self {
        self.progress.extended = extended;
        self
    }

    /// An interceptor has ended the starting point: what the attempt ends with.
    pub(super) fn start_stopped(&mut self, stopped: Stopped) -> CallOutcome {
        let interrupt = self.stopped(stopped);
        self.interrupted(interrupt.into())
    }

    /// An interceptor has ended an ending point: what the attempt ends with.
    pub(super) fn end_stopped(&mut self, stopped: Stopped, reply: &ContextList) -> CallOutcome {
        let interrupt = self.stopped(stopped);
        self.end_changed(interrupt.into(), reply)
    }

    fn stopped(&mut self, stopped: Stopped) -> Interrupt {
        self.interceptors
            .stopped(stopped, &mut self.progress.started)
    }

    #[cold]
    fn interrupted(&mut self, outcome: CallOutcome) -> CallOutcome {
        let ended = self.end(&outcome, &ContextList::default());
        ended.err().unwrap_or(outcome)
    }

    /// The service contexts that the request is to carry.
    #[must_use]
    #[inline]
    pub fn contexts(&self) -> &ContextList {
        let extended = self.progress.extended.as_ref();
        extended.unwrap_or(self.start.target.contexts())
    }

    /// Whether an interceptor has added a service context to those of the caller.
    #[must_use]
    #[inline]
    pub fn has_added_contexts(&self) -> bool {
        self.progress.extended.is_some()
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse;
    /// `reply` are the service contexts of the reply.
    ///
    /// # Errors
    /// What the attempt ends with instead, where an interceptor has changed that.
    pub fn end(&mut self, outcome: &CallOutcome, reply: &ContextList) -> Result<(), CallOutcome> {
        let ended = match outcome {
            CallOutcome::Results => self.receive_reply(reply).map_err(Interrupt::Raise),
            _ => self.receive_other(outcome, reply),
        };
        ended.map_err(|interrupt| self.end_changed(interrupt.into(), reply))
    }

    /// An interceptor has changed what the attempt ends with: the remaining ones see that.
    #[cold]
    fn end_changed(&mut self, mut outcome: CallOutcome, reply: &ContextList) -> CallOutcome {
        while let Err(interrupt) = self.receive_other(&outcome, reply) {
            outcome = interrupt.into();
        }
        outcome
    }

    fn receive_reply(&mut self, reply_contexts: &ContextList) -> Result<(), SystemException> {
        let mut info = ReceiveReply {
            request: self.request(),
            extended: &self.progress.extended,
            reply_contexts,
            unimplemented: Unimplemented::default(),
        };
        let current = self.start.orb.current();
        let started = &mut self.progress.started;
        self.interceptors
            .end(RECEIVE_REPLY, current, started, &mut info, |it, info| {
                it.receive_reply(info)
            })
    }

    /// The ending points of what ends without results.
    #[cold]
    fn receive_other(
        &mut self,
        outcome: &CallOutcome,
        reply_contexts: &ContextList,
    ) -> Result<(), Interrupt> {
        let (request, unimplemented) = (self.request(), Unimplemented::default());
        let Progress {
            started, extended, ..
        } = &mut self.progress;
        let (all, current) = (self.interceptors, self.start.orb.current());
        match outcome {
            CallOutcome::UserException(_) | CallOutcome::Raised(_) => {
                let mut info = ReceiveException {
                    request,
                    extended,
                    reply_contexts,
                    outcome,
                    unimplemented,
                };
                all.end(
                    RECEIVE_EXCEPTION,
                    current,
                    started,
                    &mut info,
                    |it, info| it.receive_exception(info),
                )
            }
            _ => {
                let mut info = ReceiveOther {
                    request,
                    extended,
                    reply_contexts,
                    outcome,
                    unimplemented,
                };
                all.end(RECEIVE_OTHER, current, started, &mut info, |it, info| {
                    it.receive_other(info)
                })
            }
        }
    }
}

impl Interceptors {
    /// Whether no interceptor of such calls implements a point of one that has results. A flow is needed
    /// only for a call that ends without: it is [under way](CallFlow::under_way) then.
    #[must_use]
    #[inline]
    pub fn overlooks_results(&self, locality: Locality) -> bool {
        self.client
            .of(locality)
            .does_nothing_at_all(&[SEND_REQUEST, RECEIVE_REPLY])
    }
}

impl fmt::Debug for CallFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFlow")
            .field("request", &self.request())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

const SEND_POLL: Point = Point {
    bit: 2,
    completed: Completion::No,
};
const RECEIVE_EXCEPTION: Point = Point {
    bit: 8,
    completed: Completion::Maybe,
};
const RECEIVE_OTHER: Point = Point {
    bit: 16,
    completed: Completion::Maybe,
};
