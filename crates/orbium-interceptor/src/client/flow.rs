// SPDX-License-Identifier: MIT OR Apache-2.0
//! One attempt at a call on its way through the interceptors.

use std::fmt;

use orbium_giop::Completion;
use orbium_invocation::Operation;

use super::info::{
    ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, RequestContexts, SendPoll,
    SendRequest,
};
use super::outcome::CallOutcome;
use super::target::CallTarget;
use crate::chain::{Point, Unimplemented};
use crate::context_list::ContextList;
use crate::interrupt::Interrupt;
use crate::registry::Interceptors;
use crate::slots::SlotTable;

/// What an attempt is made with.
#[derive(Clone, Copy)]
pub struct CallStart<'i> {
    /// The interceptors.
    pub all: &'i Interceptors,
    /// What is called.
    pub operation: &'static Operation,
    /// Where the request goes.
    pub target: &'i dyn CallTarget,
    /// The slots that the calling thread had when it made the call.
    pub slots: &'i SlotTable,
    /// Service contexts that the caller added by hand.
    pub contexts: &'i ContextList,
}

/// How far an attempt has got.
#[derive(Debug)]
pub(super) struct Progress {
    id: u32,
    /// How many interceptors are owed an ending point.
    started: usize,
    /// The service contexts of the request, if an interceptor has added to the caller's.
    pub(super) extended: Option<ContextList>,
}

/// An attempt at a call, and the interceptors that have seen it begin.
pub struct CallFlow<'i> {
    start: CallStart<'i>,
    progress: Progress,
}

impl<'i> CallFlow<'i> {
    /// A flow that no interceptor has seen yet.
    #[must_use]
    #[inline]
    pub fn new(start: CallStart<'i>) -> Self {
        let progress = Progress {
            id: start.all.next_request(),
            started: 0,
            extended: None,
        };
        Self { start, progress }
    }

    /// A flow that goes on where another one has stopped.
    pub(super) fn resumed(start: CallStart<'i>, progress: Progress) -> Self {
        Self { start, progress }
    }

    pub(super) fn into_parts(self) -> (CallStart<'i>, Progress) {
        (self.start, self.progress)
    }

    #[inline]
    fn request(&self) -> ClientRequest<'i> {
        ClientRequest {
            id: self.progress.id,
            operation: self.start.operation,
            target: self.start.target,
            current: self.start.all.current(),
            slots: self.start.slots,
        }
    }

    /// Starts with `send_request` of each interceptor.
    ///
    /// # Errors
    /// What the attempt ends with; ending points were called already.
    #[inline]
    pub fn send_request(&mut self) -> Result<(), CallOutcome> {
        let request = self.request();
        let Progress {
            started, extended, ..
        } = &mut self.progress;
        let mut info = SendRequest {
            contexts: RequestContexts {
                of_caller: self.start.contexts,
                extended,
            },
            request,
            unimplemented: Unimplemented::default(),
        };
        let all = &self.start.all.client;
        let sent = all.start(
            SEND_REQUEST,
            request.current,
            started,
            &mut info,
            |it, info| it.send_request(info),
        );
        sent.map_err(|interrupt| self.interrupted(interrupt.into()))
    }

    /// Starts with `send_poll` of each interceptor: the reply to an asynchronous request is
    /// there.
    pub(super) fn send_poll(&mut self) -> Result<(), CallOutcome> {
        let request = self.request();
        let mut info = SendPoll {
            request,
            unimplemented: Unimplemented::default(),
        };
        let (all, started) = (&self.start.all.client, &mut self.progress.started);
        let polled = all.start(
            SEND_POLL,
            request.current,
            started,
            &mut info,
            |it, info| it.send_poll(info),
        );
        polled.map_err(|exception| self.interrupted(CallOutcome::Raised(exception)))
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
        extended.unwrap_or(self.start.contexts)
    }

    /// Ends with the ending points of the interceptors that have seen it begin, in reverse;
    /// `reply` are the service contexts of the reply.
    ///
    /// # Errors
    /// What the attempt ends with instead, where an interceptor has changed that.
    #[inline]
    pub fn end(&mut self, outcome: &CallOutcome, reply: &ContextList) -> Result<(), CallOutcome> {
        match self.ending_points(outcome, reply) {
            Ok(()) => Ok(()),
            Err(interrupt) => Err(self.end_changed(interrupt.into(), reply)),
        }
    }

    /// An interceptor has changed what the attempt ends with: the remaining ones see that.
    #[cold]
    fn end_changed(&mut self, mut outcome: CallOutcome, reply: &ContextList) -> CallOutcome {
        while let Err(interrupt) = self.ending_points(&outcome, reply) {
            outcome = interrupt.into();
        }
        outcome
    }

    #[inline]
    fn ending_points(
        &mut self,
        outcome: &CallOutcome,
        reply_contexts: &ContextList,
    ) -> Result<(), Interrupt> {
        let request = self.request();
        let extended = self.progress.extended.as_ref();
        let contexts = extended.unwrap_or(self.start.contexts);
        let unimplemented = Unimplemented::default();
        let (all, started) = (&self.start.all.client, &mut self.progress.started);
        let current = request.current;
        match outcome {
            CallOutcome::Results => {
                let mut info = ReceiveReply {
                    request,
                    contexts,
                    reply_contexts,
                    unimplemented,
                };
                all.end(RECEIVE_REPLY, current, started, &mut info, |it, info| {
                    it.receive_reply(info).map_err(Interrupt::Raise)
                })
            }
            CallOutcome::UserException(_) | CallOutcome::Raised(_) => {
                let mut info = ReceiveException {
                    request,
                    contexts,
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
                    contexts,
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

impl fmt::Debug for CallFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFlow")
            .field("request", &self.request())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

const SEND_REQUEST: Point = Point {
    bit: 1,
    completed: Completion::No,
};
const SEND_POLL: Point = Point {
    bit: 2,
    completed: Completion::No,
};
const RECEIVE_REPLY: Point = Point {
    bit: 4,
    completed: Completion::Yes,
};
const RECEIVE_EXCEPTION: Point = Point {
    bit: 8,
    completed: Completion::Maybe,
};
const RECEIVE_OTHER: Point = Point {
    bit: 16,
    completed: Completion::Maybe,
};
