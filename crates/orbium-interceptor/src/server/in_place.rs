// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers that come without a message.

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

/// The id of a request in its message, as one without a connection has it.
const NO_ID: u32 = 0;

/// A request without a message, by way of the interceptors.
#[derive(Clone, Copy)]
pub struct InterceptedRequest<'r> {
    /// The interceptors.
    pub all: &'r Interceptors,
    /// What they see of it.
    pub facts: RequestFacts<'r>,
    /// Its object.
    pub object: &'r dyn InterceptedObject,
    /// What its client gets if the servant panics.
    pub panicked: SystemException,
}

/// What a servant came to, or what it did not.
pub type Served = Result<Result<(), ExceptionId>, Unserved>;

/// What a request ends with that no servant has returned.
#[derive(Debug)]
pub enum Unserved {
    /// The servant was about to be called.
    Raised(SystemException),
    /// It has panicked.
    Panicked(SystemException),
    /// It was not called.
    Refused(SystemException),
    /// No thread has begun the request: its caller waits no longer, or is not to wait.
    Withdrawn(SystemException),
    /// The caller is sent elsewhere.
    Elsewhere(Arc<Ior>),
}

impl Unserved {
    /// The system exception that the request ends with, or else where its caller is sent.
    ///
    /// # Errors
    /// It is sent elsewhere.
    pub fn exception(self) -> Result<SystemException, Arc<Ior>> {
        match self {
            Self::Raised(it) | Self::Panicked(it) | Self::Refused(it) | Self::Withdrawn(it) => {
                Ok(it)
            }
            Self::Elsewhere(to) => Err(to),
        }
    }
}

/// The exception that a request ends with, if it ends with one.
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

/// What the caller of a oneway is to have of what the servant came to; `None` if it waits for
/// nothing.
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

/// What the headers of a request without a message and of its reply would say.
#[derive(Debug)]
pub struct Carried {
    /// Which answer the caller expects.
    pub response: ResponseFlags,
    /// The service contexts of the request.
    pub contexts: EncodedContexts,
    /// Those of the reply.
    pub reply_contexts: RefCell<ContextList>,
}

impl Carried {
    /// Of a request with these service contexts.
    #[must_use]
    pub fn new(response: ResponseFlags, contexts: EncodedContexts) -> Self {
        Self {
            response,
            contexts,
            reply_contexts: RefCell::default(),
        }
    }
}

/// What a request without a message ends with.
pub struct ServedInPlace {
    /// What its caller gets.
    pub served: Served,
    /// The service contexts of the reply.
    pub contexts: ContextList,
    /// What the servant has panicked with.
    pub panic: Option<Box<dyn Any + Send>>,
}

/// Results or an exception of a servant; or else what has interrupted the request.
pub type UpcallResult = Result<Result<(), ExceptionId>, Interrupt>;

/// A request on its way.
struct UnderWay {
    /// What it came to.
    outcome: UpcallResult,
    /// Whether the servant was, or would have been, called: a caller that waits for the server
    /// alone has its reply.
    is_begun: bool,
    /// What the servant has panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'r> InterceptedRequest<'r> {
    /// Serves it, with each point of the interceptors. `serve` runs the servant of the object that
    /// `upcall` finds, or says what ends the request in its place; `upcall` runs what is between
    /// their first point and that, and may fail before or after it.
    #[cold]
    pub fn serve<O: InterceptedObject>(
        self,
        upcall: impl FnOnce(&mut dyn FnMut(&O)) -> Result<(), Interrupt>,
        serve: &mut dyn FnMut(&O) -> UpcallResult,
    ) -> ServedInPlace {
        let added = AddedContexts::of(self.facts.served);
        let mut flow = if self.all.overlooks_requests(self.facts.locality) {
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

    /// The points before the servant, and the servant.
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
            // The adapter found no servant, or what follows that has failed. A panic stays one.
            Ok(Err(interrupt)) if served.panic.is_none() => served.outcome = Err(interrupt),
            Ok(_) => {}
            Err(panic) => {
                served.outcome = Err(Interrupt::Raise(self.panicked));
                served.panic = Some(panic);
            }
        }
        served
    }

    /// How the request ends, for the interceptors.
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
    /// What its caller gets, which waits for that answer.
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
