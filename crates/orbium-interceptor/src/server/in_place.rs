// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated requests, without a message.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_giop::{Completion, EncodedContexts, Ior, ResponseFlags, SystemException};
use orbium_invocation::raises::{ExceptionId, Raised, Raises};

use super::flow::RequestFlow;
use super::request_info::{InterceptedObject, RequestFacts};
use super::request_outcome::RequestOutcome;
use crate::errors;
use crate::registration::registry::Interceptors;
use crate::request::context_list::ContextList;
use crate::request::interrupt::Interrupt;
use crate::request::reply_contexts::AddedContexts;

/// The id of a request without a connection.
const NO_ID: u32 = 0;

/// A collocated request with interceptors.
#[derive(Clone, Copy)]
pub struct InterceptedRequest<'r> {
    /// The interceptors.
    pub all: &'r Interceptors,
    /// The facts of the request for them.
    pub facts: RequestFacts<'r>,
    /// Its object.
    pub object: &'r dyn InterceptedObject,
    /// The exception for a panic of the servant.
    pub panicked: SystemException,
}

/// The result of a servant, or the reason why there is none.
pub type Served = Result<Result<(), ExceptionId>, Unserved>;

/// The end of a request without a result of a servant.
#[derive(Debug)]
pub enum Unserved {
    /// Raised when the servant was about to be called, or after its call.
    Raised(SystemException),
    /// The servant has panicked.
    Panicked(SystemException),
    /// The servant was not called.
    Refused(SystemException),
    /// No thread has begun the request: its caller has stopped waiting, or must not wait.
    Withdrawn(SystemException),
    /// The caller is forwarded.
    Elsewhere(Arc<Ior>),
}

impl Unserved {
    /// The system exception of the request, or else the forward.
    ///
    /// # Errors
    /// The forward of the caller.
    pub fn exception(self) -> Result<SystemException, Arc<Ior>> {
        match self {
            Self::Raised(it) | Self::Panicked(it) | Self::Refused(it) | Self::Withdrawn(it) => {
                Ok(it)
            }
            Self::Elsewhere(to) => Err(to),
        }
    }
}

/// The exception of a request, if it ends with one.
pub fn raised(served: &Served) -> Option<Raised<'_>> {
    match served {
        Ok(outcome) => outcome.as_ref().err().map(Raises::raised),
        Err(
            Unserved::Raised(it)
            | Unserved::Panicked(it)
            | Unserved::Refused(it)
            | Unserved::Withdrawn(it),
        ) => Some(Raised::System(*it)),
        Err(Unserved::Elsewhere(_)) => None,
    }
}

/// The result that the caller of a oneway waits for; `None` if it waits for none.
#[must_use]
pub fn awaited_by_oneway(response: ResponseFlags, served: Served) -> Option<Served> {
    match (response, served) {
        (_, served @ Err(Unserved::Withdrawn(_))) => Some(served),
        (ResponseFlags::None, _) => None,
        // Confirmed before the servant was called.
        (
            ResponseFlags::SyncWithServer,
            Ok(_) | Err(Unserved::Raised(_) | Unserved::Panicked(_)),
        ) => Some(Ok(Ok(()))),
        (_, served) => Some(served),
    }
}

/// The headers that a message and its reply would have for a request without a message.
#[derive(Debug)]
pub struct Carried {
    /// The reply that the caller expects.
    pub response: ResponseFlags,
    /// The service contexts of the request.
    pub contexts: EncodedContexts,
    /// The service contexts of the reply.
    pub reply_contexts: RefCell<ContextList>,
}

impl Carried {
    /// For a request with these service contexts.
    #[must_use]
    pub fn new(response: ResponseFlags, contexts: EncodedContexts) -> Self {
        Self {
            response,
            contexts,
            reply_contexts: RefCell::default(),
        }
    }
}

/// The end of a request without a message.
pub struct ServedInPlace {
    /// The result for its caller.
    pub served: Served,
    /// The service contexts of the reply.
    pub contexts: ContextList,
    /// The payload of a panic of the servant.
    pub panic: Option<Box<dyn Any + Send>>,
}

/// Results or an exception of a servant; or else the interrupt of the request.
pub type UpcallResult = Result<Result<(), ExceptionId>, Interrupt>;

/// A request in progress.
struct UnderWay {
    /// The result so far.
    outcome: UpcallResult,
    /// Whether the servant was, or would have been, called: a caller that waits only for the server
    /// has its reply.
    is_begun: bool,
    /// The payload of a panic of the servant.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'r> InterceptedRequest<'r> {
    /// Serves the request, with each point of the interceptors. `serve` runs the servant of the
    /// object found by `upcall`, or returns the interrupt that replaces it; `upcall` runs the code
    /// between their first point and the servant, and may fail before or after it.
    #[cold]
    pub fn serve<O: InterceptedObject>(
        self,
        upcall: impl FnOnce(&mut dyn FnMut(&O)) -> Result<(), Interrupt>,
        serve: &mut dyn FnMut(&O) -> UpcallResult,
    ) -> ServedInPlace {
        let added = AddedContexts::of(self.facts.served);
        let mut flow = if self.all.ignores_requests(self.facts.locality) {
            None
        } else {
            Some(RequestFlow::new(self.all, NO_ID, &self.facts, self.object))
        };
        let mut under_way = self.begin(flow.as_mut(), upcall, serve);
        let outcome = self.outcome(&under_way);
        let of_servant = added.take();
        if flow.is_none() && outcome == RequestOutcome::Results {
            return under_way.ended(self.facts.response, of_servant);
        }
        let mut flow = flow
            .unwrap_or_else(|| RequestFlow::under_way(self.all, NO_ID, &self.facts, self.object));
        match flow.end(&outcome, of_servant) {
            Err(RequestOutcome::Raised(exception)) => under_way.outcome = Err(exception.into()),
            Err(RequestOutcome::Forward(to)) => under_way.outcome = Err(Interrupt::Forward(to)),
            _ => {}
        }
        let contexts = flow.reply_contexts().cloned().unwrap_or_default();
        under_way.ended(self.facts.response, contexts)
    }

    /// Runs the points before the servant, and the servant.
    fn begin<'s, O: InterceptedObject>(
        &'s self,
        mut flow: Option<&mut RequestFlow<'s>>,
        upcall: impl FnOnce(&mut dyn FnMut(&O)) -> Result<(), Interrupt>,
        serve: &mut dyn FnMut(&O) -> UpcallResult,
    ) -> UnderWay {
        let mut served = UnderWay {
            outcome: Err(Interrupt::Raise(self.panicked)),
            is_begun: false,
            panic: None,
        };
        if let Some(flow) = &mut flow
            && let Err(interrupt) = flow.receive_contexts()
        {
            served.outcome = Err(*interrupt);
            return served;
        }
        served.is_begun = true;
        let mut upcalled = |object: &O| {
            let known = flow.as_mut().map(|it| it.receive_request(object));
            if let Some(Err(interrupt)) = known {
                served.outcome = Err(*interrupt);
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| serve(object))) {
                Ok(outcome) => served.outcome = outcome,
                Err(panic) => served.panic = Some(panic),
            }
        };
        match catch_unwind(AssertUnwindSafe(|| upcall(&mut upcalled))) {
            // The adapter found no servant, or the code after it has failed. A panic takes
            // precedence.
            Ok(Err(interrupt)) if served.panic.is_none() => served.outcome = Err(interrupt),
            Ok(_) => {}
            Err(panic) => {
                served.outcome = Err(Interrupt::Raise(self.panicked));
                served.panic = Some(panic);
            }
        }
        served
    }

    /// The outcome of the request for the interceptors.
    fn outcome(&self, served: &UnderWay) -> RequestOutcome {
        let is_awaited = self.facts.response == ResponseFlags::Full;
        match &served.outcome {
            Ok(Ok(_)) if is_awaited => RequestOutcome::Results,
            Ok(Ok(_)) => RequestOutcome::Unanswered,
            Ok(Err(error)) => match error.raised() {
                Raised::User(id, _) => RequestOutcome::UserException(id.to_owned()),
                Raised::System(exception) => RequestOutcome::Raised(exception),
            },
            Err(Interrupt::Forward(_)) if served.is_begun && !is_awaited => {
                RequestOutcome::Unanswered
            }
            Err(interrupt) => interrupt.clone().into(),
        }
    }
}

impl UnderWay {
    /// The result for the caller, which waits for that reply.
    fn ended(self, response: ResponseFlags, contexts: ContextList) -> ServedInPlace {
        let (is_begun, has_panicked) = (self.is_begun, self.panic.is_some());
        let served = match self.outcome {
            Ok(outcome) => Ok(outcome),
            Err(Interrupt::Raise(exception)) if has_panicked => Err(Unserved::Panicked(exception)),
            Err(Interrupt::Raise(exception)) if is_begun => Err(Unserved::Raised(exception)),
            Err(Interrupt::Raise(exception)) => Err(Unserved::Refused(exception)),
            // It has the confirmation of the server, or no reply.
            Err(Interrupt::Forward(_)) if is_begun && response != ResponseFlags::Full => {
                Err(Unserved::Raised(errors::panicked(Completion::Maybe)))
            }
            Err(Interrupt::Forward(to)) => Err(Unserved::Elsewhere(to)),
        };
        ServedInPlace {
            served,
            contexts,
            panic: self.panic,
        }
    }
}

impl fmt::Debug for InterceptedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InterceptedRequest")
            .field(&self.facts)
            .finish()
    }
}

impl fmt::Debug for ServedInPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedInPlace")
            .field("contexts", &self.contexts)
            .finish_non_exhaustive()
    }
}
