// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the caller's own ORB without a message.

use orbium_cdr::{CdrReader, CdrWriter, Format};
use orbium_giop::{Completion, EncodedContexts, SystemException};
use orbium_invocation::collocation::{CopiedArguments, Passing};
use orbium_invocation::raises::ExceptionId;
use orbium_invocation::router_policies::RouterPolicies;
use orbium_invocation::story::{Phase, note};
use orbium_invocation::timing::Timing;
use orbium_invocation::{Operation, SyncScope};
use orbium_trace::log;

use crate::call::attempt::Attempt;
use crate::call::intercepted::ServedCall;
use crate::call::notice;
use crate::call::received_reply::ReceivedReply;
use crate::collocation::detour::Detour;
use crate::collocation::own_object::Collocated;
use crate::errors::broken_invariant;
use crate::reference::Reference;
use crate::reference::binding::Binding;
use crate::reference::candidate::Route;
use orbium_connection::outcome::{Outcome, raised};
use orbium_invocation::typed_reply::ReplyReader;

/// The notices of calls that are possible without a message nevertheless.
const DETOURS: u8 =
    notice::THREAD_POLICY | notice::TIME_POLICY | notice::MESSAGING | notice::METRICS;

impl Attempt<'_> {
    /// The detour of the call without a message, after the policies of the call were applied and
    /// interceptors have seen the beginning of the request; `None` as for [`Reference::detour`].
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        let (object, notices) = (self.object(), self.object().notices());
        let messaging = &object.overrides().policies.messaging;
        if notices & !(DETOURS | notice::INTERCEPTED) != 0 {
            return None;
        }
        object.check_cancellation(Completion::No).ok()?;
        let detour = Detour {
            target: self.forward().cloned(),
            timing: *self.timing(),
            start: None,
            sync_scope: messaging.sync_scope(),
            is_observed: notices & notice::METRICS != 0 || log::wants_spans(),
            contexts: EncodedContexts::default(),
            routers: self.target().routers(),
        };
        detour.at(object)?;
        Some(detour.routed())
    }
}

impl Reference {
    /// Whether calls may be possible without a message: `false` once the object is known to belong
    /// to another ORB.
    #[inline(always)]
    pub fn may_be_collocated(&self) -> bool {
        self.locality().may_be_own()
    }

    /// The object, if it belongs to this ORB and only the servant would see a message: no policies
    /// apply to the call, and it has no observers. It is looked up once for each reference. If
    /// policies may apply, or a server has forwarded, see [`detour`](Self::detour).
    #[inline]
    pub fn collocated(&self) -> Option<&Collocated> {
        if self.notices() != 0 || log::wants_spans() || self.is_forwarded() {
            return self.marshalled();
        }
        self.own_object()
    }

    /// The object of this ORB, regardless of policies and observers.
    #[inline(always)]
    pub(crate) fn own_object(&self) -> Option<&Collocated> {
        match self.known_collocated().get() {
            Some(own) => own.as_ref(),
            None => self.look_up_collocated(),
        }
    }

    /// The detour of a call without a message although the thread, the ORB or the reference has
    /// policies, calls are measured or traced, or a server has forwarded the reference. `None` if
    /// the call needs a message: interceptors see it, or a policy concerns the message itself or
    /// fails the call.
    #[cold]
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
            contexts: EncodedContexts::default(),
            routers: RouterPolicies::default(),
        };
        if notices & !notice::METRICS != 0 {
            self.apply_policies_in_place(&mut detour)?;
        }
        detour.target = detour.target.or_else(|| self.forwarded());
        detour.routers = detour.target.as_deref().unwrap_or(self).routers();
        detour.at(self)?;
        Some(detour.routed())
    }

    /// The policies for routers that its requests carry.
    fn routers(&self) -> RouterPolicies {
        let binding = self.binding().ok();
        let preferred = binding.and_then(Binding::preferred_candidate);
        preferred.map_or_else(RouterPolicies::default, |it| *it.routers())
    }

    #[cold]
    fn apply_policies_in_place(&self, detour: &mut Detour) -> Option<()> {
        self.check_cancellation(Completion::No).ok()?;
        let own = &self.overrides().policies;
        let wider = self.client().wider_policies();
        let messaging = own.messaging.or(wider.messaging);
        let is_derived = messaging != own.messaging || self.is_outdated();
        if is_derived || wider.choose_connections() {
            detour.target = self.forwarded_under(&wider);
        }
        let config = self.client().config();
        let times = own.times.or(wider.times).or(config.times);
        (detour.timing, detour.start) = Timing::of(&times, !config.keeps_deadlines).ok()?;
        detour.sync_scope = messaging.sync_scope();
        Some(())
    }

    #[cold]
    fn marshalled(&self) -> Option<&Collocated> {
        // Interceptors see calls of either kind, but remote calls need not be resolved here.
        if self.notices() & notice::INTERCEPTED != 0 {
            self.own_object();
        } else if self.locality().is_unknown()
            && let Some(forward) = self.forwarded()
        {
            // Forwarded before its first call, by a LocateRequest.
            forward.own_object();
            if !forward.may_be_collocated() {
                self.own_object();
            }
        }
        None
    }

    #[cold]
    fn look_up_collocated(&self) -> Option<&Collocated> {
        let binding = self.binding().ok()?;
        if self.locality().is_unknown() {
            let ways = binding.candidates.iter().chain(&binding.datagrams);
            let mut ways = ways.map(|way| matches!(way.route, Route::Local));
            self.locality()
                .settle(self.client().config().collocation.is_typed() && ways.any(|own| own));
        }
        let priorities = binding.priorities.as_ref();
        let is_banded = priorities.is_some_and(|it| it.choose_connections());
        let found = (!is_banded).then(|| self.address(binding)).flatten();
        let candidate = binding.preferred_candidate();
        let is_here = candidate.is_some_and(|it| matches!(it.route, Route::Local));
        if found.is_none() && !is_banded && is_here && self.may_be_collocated() {
            // Its adapter may be created later.
            return None;
        }
        self.known_collocated().get_or_init(|| found).as_ref()
    }

    /// The object of a reference with bands or private connections: it uses no connection, but a
    /// band has to contain the priority of the call.
    #[cold]
    pub(crate) fn banded_object(&self) -> Option<&Collocated> {
        let binding = self.binding().ok()?;
        let priorities = binding.priorities.as_ref();
        let priorities = priorities.filter(|it| it.choose_connections())?;
        let candidate = binding.preferred_candidate()?;
        let own = priorities.own();
        if own.is_some_and(|own| !own.allows(candidate.channel())) {
            return None;
        }
        let at = priorities.of_call(self.client(), &candidate.object_key);
        at.ok()?;
        let own = priorities
            .own_object()
            .get_or_init(|| self.address(binding));
        own.as_ref()
    }

    /// The address of the object, if it belongs to this ORB.
    fn address(&self, binding: &Binding) -> Option<Collocated> {
        let candidate = binding.preferred_candidate()?;
        let is_own = matches!(candidate.route, Route::Local) && self.may_be_collocated();
        let is_found = is_own && binding.datagrams.is_empty();
        let slot = is_found.then(|| self.orb().slot(&candidate.object_key))??;
        let key = candidate.object_key.as_slice();
        Some(Collocated::new(key, slot, candidate.format()))
    }

    /// The arguments that a servant gets as copies; the inner `None` if all can be borrowed, the
    /// outer `None` if they cannot be passed without a message.
    #[cold]
    pub fn copied_arguments<'a>(
        &self,
        at: &Collocated,
        passing: Passing,
        write: &dyn Fn(&mut CdrWriter<'a>),
    ) -> Option<Option<Box<CopiedArguments>>> {
        CopiedArguments::of(passing, at.format, self.client().decoding(), write)
    }

    /// Passes the arguments to `serve` in the encoding of a request.
    ///
    /// # Errors
    /// They cannot be marshalled; the errors of `serve`.
    pub fn with_arguments<'a, R>(
        &self,
        at: &Collocated,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&mut CdrReader<'_>) -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let mut writer = CdrWriter::new(at.format);
        arguments(&mut writer);
        let mut octets = writer
            .finish()
            .map_err(|error| SystemException::from_cdr(error, Completion::No))?;
        let mut reader = CdrReader::new(&mut octets, at.format);
        self.client().decoding().apply(&mut reader);
        serve(&mut reader)
    }

    /// The caller's outcome of the message with which a servant of this ORB has answered; `None` if
    /// it was forwarded and has to be called again.
    ///
    /// # Errors
    /// The exception raised, or the one for an undecodable answer.
    #[cold]
    pub fn answered(
        &self,
        format: Format,
        operation: &'static Operation,
        message: Result<Vec<u8>, SystemException>,
        reply: &mut dyn ReplyReader,
    ) -> Option<Result<(), ExceptionId>> {
        match self.served_by_message(format, message, reply).outcome {
            Ok(served) => Some(served),
            Err(Outcome::Failed(exception)) => {
                Some(Err(self.raised_in_place(operation, exception).into()))
            }
            Err(forward) => {
                let followed = Attempt::new(self).again(operation, forward);
                followed.err().map(|exception| Err(exception.into()))
            }
        }
    }

    /// The outcome of an attempt that the servant has answered with that message.
    #[cold]
    pub fn served_by_message(
        &self,
        format: Format,
        message: Result<Vec<u8>, SystemException>,
        reply: &mut dyn ReplyReader,
    ) -> ServedCall<(), ExceptionId> {
        let decoding = self.client().decoding();
        let received = message.and_then(|message| {
            ReceivedReply::in_process(message, format).ok_or_else(broken_invariant)
        });
        let mut received = match received {
            Ok(received) => received,
            Err(exception) => return ServedCall::failed(exception),
        };
        let contexts = received.contexts();
        let outcome = match received.outcome(Some(decoding)) {
            Some(outcome) => Err(outcome),
            None => {
                let read = received.read_by(decoding, reply);
                read.map_err(|(exception, _)| Outcome::Failed(exception))
            }
        };
        ServedCall { outcome, contexts }
    }

    /// Records the story of a call that ended with a system exception.
    #[cold]
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
