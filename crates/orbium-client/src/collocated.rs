// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the caller's own ORB that need no message.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::{Completion, SystemException};
use orbium_invocation::collocation::{CopiedArguments, Passing, copied_exception, copied_result};
use orbium_invocation::raises::{Raised, Raises};
use orbium_invocation::story::{Phase, note};
use orbium_invocation::timing::Timing;
use orbium_invocation::{Operation, SyncScope};
use orbium_trace::log;

use crate::attempt::Attempt;
use crate::candidate::Route;
use crate::errors::broken_invariant;
use crate::notice;
use crate::observed::Observed;
use crate::outcome::{Outcome, raised};
use crate::own_object::Collocated;
use crate::received_reply::ReceivedReply;
use crate::reference::Reference;

/// Writer and reader of the results of a collocated call.
pub type Results<'v, T> = (
    for<'r> fn(&'r T, &mut CdrWriter<'r>),
    &'v dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
);

/// What flags a call that needs no message all the same.
const DETOURS: u8 =
    notice::THREAD_POLICY | notice::TIME_POLICY | notice::MESSAGING | notice::METRICS;

/// A call without a message that has deadlines or start times, is under a policy of Messaging,
/// made through another reference, measured or traced.
#[derive(Debug)]
pub struct Detour {
    /// The reference that the call is made through instead.
    target: Option<Arc<Reference>>,
    /// Its deadlines.
    pub timing: Timing,
    /// Before when it is not to begin.
    start: Option<Instant>,
    /// What a oneway waits for.
    pub sync_scope: SyncScope,
    /// Whether it is measured or traced.
    pub is_observed: bool,
}

impl Detour {
    /// The object of a call through `object`.
    #[must_use]
    pub fn at<'d>(&'d self, object: &'d Reference) -> Option<&'d Collocated> {
        self.target.as_deref().unwrap_or(object).own_object()
    }

    /// Blocks until the start time of the request, if it has one.
    ///
    /// # Errors
    /// TIMEOUT if the deadline has passed, what cancelled the call, or that the ORB has ended.
    pub fn await_start(&mut self, object: &Reference) -> Result<(), SystemException> {
        let Some(start) = self.start else {
            return Ok(());
        };
        self.timing.await_start(start, &|| {
            object.check_cancellation(Completion::Maybe)?;
            object.client().check_running()
        })
    }

    /// Applies the times of the reply, once the servant has returned.
    ///
    /// # Errors
    /// TIMEOUT: it was late.
    pub fn check_reply(&self) -> Result<(), SystemException> {
        match self.timing.is_timed {
            true => self.timing.await_reply_start(),
            false => Ok(()),
        }
    }
}

/// The metrics and the span of a call without a message. It begins when the servant is entered:
/// if it is not, a message is measured instead.
pub struct ObservedCall<'o> {
    object: &'o Reference,
    detour: &'o Detour,
    operation: &'static Operation,
    observed: OnceCell<Option<Observed<'o>>>,
}

impl<'o> ObservedCall<'o> {
    /// Of a call that has not begun.
    #[must_use]
    pub fn new(object: &'o Reference, detour: &'o Detour, operation: &'static Operation) -> Self {
        Self {
            object,
            detour,
            operation,
            observed: OnceCell::new(),
        }
    }

    /// Of an asynchronous call, which records its own half: that of its request alone; `None` if
    /// nothing observes it.
    #[must_use]
    pub fn of_request(
        object: &'o Reference,
        detour: &'o Detour,
        operation: &'static Operation,
    ) -> Option<Self> {
        detour.is_observed.then(|| Self {
            observed: OnceCell::from(None),
            ..Self::new(object, detour, operation)
        })
    }

    /// The servant is called.
    pub fn begin(&self) {
        self.observed.get_or_init(|| {
            let notices = self.object.notices();
            let observed = Observed::begin(self.object, self.operation, notices)?;
            observed.note_deadline(self.detour.timing.reply.instant());
            let target = self.detour.target.as_deref();
            if let Ok(binding) = target.unwrap_or(self.object).binding()
                && let Some(candidate) = binding.candidates.get(binding.preferred())
            {
                let is_forwarded = self.object.is_forwarded();
                observed.note_way(self.object, candidate, is_forwarded);
            }
            Some(observed)
        });
    }

    /// The caller gets an exception.
    pub fn note_raised(&self, raised: &Raised<'_>) {
        let Some(Some(observed)) = self.observed.get() else {
            return;
        };
        match raised {
            Raised::User(id, _) => observed.note_user_exception(id),
            Raised::System(exception) => observed.note_failure(*exception, Phase::Wait),
        }
    }
}

impl fmt::Debug for ObservedCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedCall")
            .field("operation", &self.operation.name())
            .finish_non_exhaustive()
    }
}

impl Attempt<'_> {
    /// How to call the object without a message, once the policies of the call were applied;
    /// `None` as [`Reference::detour`] says.
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        let (object, notices) = (self.object(), self.object().notices());
        let messaging = &object.overrides().policies.messaging;
        if notices & !DETOURS != 0 || !messaging.routers.is_none() {
            return None;
        }
        object.check_cancellation(Completion::No).ok()?;
        let detour = Detour {
            target: self.forward().cloned(),
            timing: *self.timing(),
            start: None,
            sync_scope: SyncScope::default(),
            is_observed: notices & notice::METRICS != 0 || log::wants_spans(),
        };
        detour.at(object)?;
        Some(detour)
    }
}

impl Reference {
    /// Whether calls may need no message: `false` as soon as the object is known to be that
    /// of another ORB.
    #[inline(always)]
    pub fn may_be_collocated(&self) -> bool {
        self.locality().may_be_own()
    }

    /// The object, if it is one of this ORB and nothing but the servant would notice a
    /// message: there are no policies that apply to the call, and nothing observes it. It is
    /// looked up once for each reference. Where policies may apply, or a server has forwarded,
    /// [`detour`](Self::detour) says more.
    #[inline]
    pub fn collocated(&self) -> Option<&Collocated> {
        if self.notices() != 0 || log::wants_spans() || self.is_forwarded() {
            return self.marshalled();
        }
        self.own_object()
    }

    /// The object, whatever else there may be.
    #[inline(always)]
    fn own_object(&self) -> Option<&Collocated> {
        match self.known_collocated().get() {
            Some(own) => own.as_ref(),
            None => self.look_up_collocated(),
        }
    }

    /// How to call the object without a message although the thread, the ORB or the reference
    /// have policies, calls are measured or traced, or a server has forwarded the reference.
    /// `None` if it takes a message: interceptors see the call, a policy concerns the message
    /// itself, or fails the call.
    #[cold]
    #[inline(never)]
    pub fn detour(&self) -> Option<Detour> {
        let notices = self.notices();
        if notices & !DETOURS != 0 {
            return None;
        }
        let is_measured = notices & notice::METRICS != 0;
        let mut detour = Detour {
            target: None,
            timing: Timing::NEVER,
            start: None,
            sync_scope: SyncScope::default(),
            is_observed: is_measured || log::wants_spans(),
        };
        if notices & !notice::METRICS != 0 {
            self.apply_policies_in_place(&mut detour)?;
        }
        detour.target = detour.target.or_else(|| self.forwarded());
        detour.at(self)?;
        Some(detour)
    }

    #[cold]
    fn apply_policies_in_place(&self, detour: &mut Detour) -> Option<()> {
        self.check_cancellation(Completion::No).ok()?;
        let own = &self.overrides().policies;
        let wider = self.client().wider_policies();
        let messaging = own.messaging.or(wider.messaging);
        if !messaging.routers.is_none() {
            return None;
        }
        let is_derived = messaging != own.messaging || self.is_outdated();
        if is_derived || wider.choose_connections() {
            detour.target = self.under_thread_policies(&wider);
        }
        let config = self.client().config();
        let times = own.times.or(wider.times).or(config.times);
        (detour.timing, detour.start) = Timing::of(&times, !config.keeps_deadlines).ok()?;
        detour.sync_scope = messaging.sync_scope();
        Some(())
    }

    #[cold]
    #[inline(never)]
    fn marshalled(&self) -> Option<&Collocated> {
        // All of its calls are messages.
        if self.notices() & notice::INTERCEPTED != 0 {
            self.locality().settle(false);
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn look_up_collocated(&self) -> Option<&Collocated> {
        let binding = self.binding().ok()?;
        if self.locality().is_unknown() {
            let ways = binding.candidates.iter().chain(&binding.datagrams);
            let mut ways = ways.map(|way| matches!(way.route, Route::Local));
            self.locality()
                .settle(self.client().config().collocation.is_typed() && ways.any(|own| own));
        }
        let candidate = binding.candidates.get(binding.preferred())?;
        let priorities = binding.priorities.as_ref();
        let needs_message = priorities.is_some_and(|it| it.choose_connections());
        let is_plain = !needs_message && binding.datagrams.is_empty();
        let is_own = matches!(candidate.route, Route::Local) && self.may_be_collocated();
        let slot = (is_plain && is_own).then(|| self.orb().slot(&candidate.object_key));
        let own = self.known_collocated().get_or_init(|| {
            let key = candidate.object_key.as_slice();
            Some(Collocated::new(key, slot??, candidate.format()))
        });
        own.as_ref()
    }

    /// The arguments that a servant gets as copies; `None` inside if it can be lent all, `None` if
    /// they cannot be passed without a message.
    #[cold]
    #[inline(never)]
    pub fn copied_arguments<'a>(
        &self,
        at: &Collocated,
        passing: Passing,
        write: &dyn Fn(&mut CdrWriter<'a>),
    ) -> Option<Option<Box<CopiedArguments>>> {
        CopiedArguments::of(passing, at.format, self.client().decoding(), write)
    }

    /// The value that the caller gets for what a servant of this ORB has returned, moved if it
    /// `is_plain`; `served` fails where the servant has returned nothing.
    ///
    /// # Errors
    /// What it raised, or why it cannot be copied.
    #[cold]
    #[inline(never)]
    pub fn copied<T, E: Raises>(
        &self,
        at: &Collocated,
        (operation, is_plain): (&'static Operation, bool),
        served: Result<Result<T, E>, SystemException>,
        (write, read): Results<'_, T>,
    ) -> Result<T, E> {
        let (format, decoding) = (at.format, self.client().decoding());
        let copied = match served {
            Ok(Ok(value)) if is_plain => return Ok(value),
            Ok(Ok(value)) => copied_result(format, decoding, value, write, read).map(Ok),
            Ok(Err(error)) => copied_exception(format, decoding, error).map(Err),
            Err(exception) => Err(exception),
        };
        copied.unwrap_or_else(|exception| Err(self.raised_in_place(operation, exception).into()))
    }

    /// The value that the caller gets for the message that a servant of this ORB answered with;
    /// `None` if that sent it to another object, which is called next.
    ///
    /// # Errors
    /// Those of the call: what was raised, or why the answer cannot be read.
    #[cold]
    #[inline(never)]
    pub fn answered<T, E: Raises>(
        &self,
        format: Format,
        operation: &'static Operation,
        message: Result<Vec<u8>, SystemException>,
        read: &dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Option<Result<T, E>> {
        let raised = |exception| Err(self.raised_in_place(operation, exception).into());
        let decoding = self.client().decoding();
        let reply = message.and_then(|message| {
            ReceivedReply::in_process(message, format).ok_or_else(broken_invariant)
        });
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(exception) => return Some(raised(exception)),
        };
        match reply.outcome(Some(decoding)) {
            None => {}
            Some(Outcome::Failed(exception)) => return Some(raised(exception)),
            Some(forward) => {
                let followed = Attempt::new(self).again(operation, forward);
                return followed.err().map(|exception| Err(exception.into()));
            }
        }
        let result = reply.into_result(decoding, read);
        Some(result.unwrap_or_else(|(exception, _)| raised(exception)))
    }

    /// Keeps the story of a call that ended with a system exception.
    #[cold]
    #[inline(never)]
    pub fn raised_in_place(
        &self,
        operation: &'static Operation,
        exception: SystemException,
    ) -> SystemException {
        let attempt = Attempt::new(self);
        note(Phase::Wait, None, &raised(exception));
        attempt.failed(operation, exception)
    }
}
