// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flow of an attempt at a call through the interceptors.

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

/// The progress of an attempt.
#[derive(Debug)]
pub struct Progress {
    id: u32,
    /// The number of interceptors that have yet to see an ending point.
    started: usize,
    /// The service contexts of the request, if an interceptor has added to those of the caller.
    pub(super) extended: Option<ContextList>,
}

/// An attempt at a call, and the interceptors that have seen its beginning.
pub struct CallFlow<'i> {
    interceptors: &'i Chain<dyn ClientInterceptor>,
    start: CallStart<'i>,
    progress: Progress,
}

impl<'i> CallFlow<'i> {
    /// A flow before the first interceptor.
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

    /// A flow in progress: each interceptor has completed its starting point, or does not implement
    /// it, and has yet to see an ending point.
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

    /// A flow that resumes another one.
    #[must_use]
    #[inline]
    pub fn resumed(all: &'i Interceptors, start: CallStart<'i>, progress: Progress) -> Self {
        Self {
            interceptors: all.client.of(start.target.locality()),
            start,
            progress,
        }
    }

    /// The unique id among the requests in progress.
    #[must_use]
    #[inline]
    pub fn id(&self) -> u32 {
        self.progress.id
    }

    /// The progress of the flow, to be resumed.
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
    /// The outcome of the attempt; ending points were already called.
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

    /// Starts with `send_poll` of each interceptor: the reply to an asynchronous request has
    /// arrived.
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

    /// The outcome after an interceptor has ended the starting point.
    pub(super) fn start_stopped(&mut self, stopped: Stopped) -> CallOutcome {
        let interrupt = self.stopped(stopped);
        self.interrupted(interrupt.into())
    }

    /// The outcome after an interceptor has ended an ending point.
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

    /// The service contexts of the request.
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

    /// Ends with the ending points of the interceptors that have seen the beginning, in reverse;
    /// `reply` has the service contexts of the reply.
    ///
    /// # Errors
    /// The outcome to which an interceptor has changed the attempt.
    pub fn end(&mut self, outcome: &CallOutcome, reply: &ContextList) -> Result<(), CallOutcome> {
        let ended = match outcome {
            CallOutcome::Results => self.receive_reply(reply).map_err(Interrupt::Raise),
            _ => self.receive_other(outcome, reply),
        };
        ended.map_err(|interrupt| self.end_changed(interrupt.into(), reply))
    }

    /// Runs the remaining interceptors after one has changed the outcome.
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

    /// Runs the ending points of an attempt without results.
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
    /// Whether no interceptor of such calls implements a point of a call with results. A flow is
    /// needed only for a call without results: it is [in progress](CallFlow::under_way) then.
    #[must_use]
    #[inline]
    pub fn ignores_results(&self, locality: Locality) -> bool {
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
