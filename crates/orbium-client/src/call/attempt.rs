// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attempts of a call: forwards are followed, closed connections replaced, addresses tried in
//! order.

mod at_priority;
mod intercepted;
mod rebinding;
mod recovery;
mod repeating;
mod sole_policy;
mod suspended;
mod watch;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_interceptor::Locality;
use orbium_invocation::Operation;
use orbium_invocation::story::{self, Failed};
use orbium_trace::log;
use orbium_transport::Stamp;

use crate::call::link::Link;
use crate::call::observed::Observed;
use crate::call::{locate, notice};
use crate::errors::no_usable_protocol;
use crate::reference::Reference;
use crate::reference::binding::Binding;
use crate::reference::candidate::{Candidate, Route};
use orbium_connection::outcome::Outcome;
use orbium_invocation::timing::Timing;
pub use suspended::Suspended;
use watch::Watch;

/// Maximum number of retries of a request that the server had not begun.
const RETRIES: u32 = 4;

/// Maximum number of replacements of unusable connections.
pub(crate) const REPLACEMENTS: usize = 64;

/// The code path of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The path of nearly all requests.
    Plain,
    /// Through interceptors, with service contexts of the caller, or under a Messaging policy.
    Intercepted,
    /// Into the buffer of the connection, if there is one: a oneway under no other policy.
    /// Otherwise as `Intercepted`.
    Buffered,
    /// As `Intercepted`, by the derived reference of the attempt: this thread or the ORB has
    /// Messaging policies that the reference itself lacks.
    Derived,
}

/// The state of a call between its exchanges.
pub struct Attempt<'o> {
    object: &'o Reference,
    timing: Timing,
    /// The observers of the attempt. Dropped first: see [`Watch`].
    watch: Watch<'o>,
    /// The reference of the call after a forward; or the derived reference under policies of the
    /// thread, or its forward.
    elsewhere: Option<Arc<Reference>>,
    candidate: Cell<usize>,
    forwards: u32,
    retries: u32,
    /// The number of retries of a request that may have been served.
    repeats: u32,
    /// The hash of the forward that was abandoned last, and of its failure; 0 for none.
    given_up: u32,
    /// The time of the call, from which its story computes the duration.
    begun: Stamp,
}

impl<'o> Attempt<'o> {
    /// The first attempt of a call, which begins now.
    #[inline(always)]
    pub fn new(object: &'o Reference) -> Self {
        Self {
            object,
            timing: Timing::NEVER,
            elsewhere: object.forwarded(),
            candidate: Cell::new(0),
            forwards: 0,
            retries: 0,
            repeats: 0,
            given_up: 0,
            begun: Stamp::now(),
            // After every operation that could panic: there is nothing to drop then.
            watch: Watch::Nothing,
        }
    }

    /// Fails if the ORB has shut down, and applies the policies of the thread and the
    /// time policies of the reference.
    #[inline(always)]
    pub(crate) fn check_before_call(&mut self) -> Result<(), SystemException> {
        match self.object.notices() {
            0 => Ok(()),
            notice => self.apply_flagged_policies(notice).map(drop),
        }
    }

    /// As `check_before_call`, for a request: it waits for its start time.
    #[inline(always)]
    pub(crate) fn check_before_request(
        &mut self,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        let notice = self.object.notices();
        if notice == 0 && !log::wants_spans() {
            return Ok(Path::Plain);
        }
        self.check_flagged_request(notice, operation)
    }

    /// As `check_before_request`, with a check to do.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn check_flagged_request(
        &mut self,
        notice: u8,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        if log::wants_spans() {
            return self.begin_request_or_fail(notice, operation);
        }
        match notice {
            notice::INTERCEPTED => self.intercepted_path(operation),
            _ => self.check_policies(notice, operation),
        }
    }

    /// As `check_flagged_request`, with notices other than that of interceptors.
    // It would take registers from intercepted calls.
    #[inline(never)]
    fn check_policies(
        &mut self,
        notice: u8,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        if notice == notice::TIME_POLICY
            && let Some(timeout) = self.object.timeout()
        {
            return self.begin_within(timeout, operation);
        }
        if notice == notice::MESSAGING && self.is_only_buffered(operation) {
            return Ok(Path::Buffered);
        }
        self.begin_request_or_fail(notice, operation)
    }

    fn begin_request_or_fail(
        &mut self,
        notice: u8,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        self.begin_request(notice, operation)
            .map_err(|exception| self.failed(operation, exception))
    }

    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn begin_request(
        &mut self,
        notice: u8,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        let path = match notice & (notice::INTERCEPTED | notice::MESSAGING) {
            0 => Path::Plain,
            _ => Path::Intercepted,
        };
        if let Some(derived) = self.object.under_wider_messaging() {
            self.elsewhere = Some(derived);
            return Ok(Path::Derived);
        }
        self.watch = Watch::by(Observed::begin(self.object, operation, notice));
        let start = match notice & !(notice::METRICS | notice::INTERCEPTED | notice::MESSAGING) {
            0 => None,
            _ => self.apply_flagged_policies(notice)?,
        };
        if let Some(observed) = self.watch.observed() {
            self.timing.is_header_special |= observed.has_span();
            observed.note_deadline(self.timing.reply.instant());
            self.note_preferred_way(observed);
        }
        if let Some(start) = start {
            self.await_start(start)?;
        }
        self.check_connection().map(|()| path)
    }

    /// The derived reference of a [`Path::Derived`].
    pub(crate) fn take_derived(&mut self) -> Option<Arc<Reference>> {
        self.elsewhere.take()
    }

    /// The candidate of the request.
    fn used(&self) -> Option<&Candidate> {
        self.target().binding().ok()?.preferred_candidate()
    }

    /// Whether the object belongs to the caller's ORB, if that makes a difference to interceptors.
    #[must_use]
    pub fn locality(&self) -> Locality {
        let all = &self.object.client().config().interceptors;
        let used = all.distinguishes_calls().then(|| self.used()).flatten();
        match used.map(|it| &it.route) {
            Some(Route::Local) => Locality::Local,
            _ => Locality::Remote,
        }
    }

    /// Records that the request uses the preferred candidate.
    fn note_preferred_way(&self, observed: &Observed<'_>) {
        if let Ok(binding) = self.target().binding()
            && let Some(candidate) = binding.preferred_candidate()
        {
            observed.note_way(self.object, candidate, self.is_forwarded());
        }
    }

    /// Records the candidate that the request uses instead.
    #[cold]
    fn note_way(&self, candidate: &Candidate) {
        if let Some(observed) = self.watch.observed() {
            observed.note_way(self.object, candidate, self.is_forwarded());
        }
    }

    /// Applies the policies that `notice` flags; returns the start time of the request,
    /// if there is one.
    #[cold]
    fn apply_flagged_policies(&mut self, notice: u8) -> Result<Option<Instant>, SystemException> {
        self.object.check_cancellation(Completion::No)?;
        let client = self.object.client();
        let of_thread = client.check_thread_policies(notice)?;
        let is_derived = of_thread.choose_connections() || self.object.is_outdated();
        if is_derived && let Some(derived) = self.object.forwarded_under(&of_thread) {
            self.elsewhere = Some(derived);
        }
        let own = self.object.overrides().policies.times;
        let times = own.or(of_thread.times).or(client.config().times);
        let (timing, start) = Timing::of(&times, !client.config().keeps_deadlines)?;
        self.timing = timing;
        self.timing.is_timed |= self.object.overrides().cancellation.is_some();
        let routers = &self.target().overrides().policies.messaging.routers;
        self.timing.is_header_special |= !routers.is_none();
        Ok(start)
    }

    #[inline]
    pub(crate) fn target(&self) -> &Reference {
        self.elsewhere.as_deref().unwrap_or(self.object)
    }

    /// A link to a candidate: the one of the last reply, while it can be reached, or else the first
    /// that can.
    ///
    /// # Errors
    /// The failure of the first of them; INV_POLICY if there is none.
    #[inline(always)]
    pub fn link(&self) -> Result<Link<'_>, SystemException> {
        let binding = self.target().binding()?;
        if let Some(priorities) = &binding.priorities {
            return self.link_at_priority(binding, priorities);
        }
        let preferred = binding.preferred();
        self.candidate.set(preferred);
        let Some(candidate) = binding.candidates.get(preferred) else {
            // The object is reachable by oneways only.
            return Err(no_usable_protocol());
        };
        match Link::new(candidate, &self.timing, &self.begun) {
            Ok(link) => Ok(link),
            Err(exception) => self.other_link(binding, preferred, exception),
        }
    }

    /// A link for a request without a reply, over a connection not known to be closed by the
    /// server: the loss of the request would go unreported.
    // Otherwise a link is returned in memory: 28 instructions of the 726 of a oneway.
    #[inline(always)]
    pub(crate) fn open_link_for_oneway(&self) -> Result<Link<'_>, SystemException> {
        let mut link = self.link_for_oneway()?;
        if link.is_closed_for_oneway(self.begun) {
            return self.other_link_for_oneway(link);
        }
        Ok(link)
    }

    /// A link in place of one that the server has closed.
    #[cold]
    fn other_link_for_oneway<'s>(
        &'s self,
        mut link: Link<'s>,
    ) -> Result<Link<'s>, SystemException> {
        for left in (0..REPLACEMENTS).rev() {
            drop(link);
            link = self.link_for_oneway()?;
            if left == 0 || !link.is_closed_for_oneway(self.begun) {
                break;
            }
        }
        Ok(link)
    }

    /// A link for a request without a reply, over datagrams if they are preferred or the only
    /// profile.
    #[inline(always)]
    fn link_for_oneway(&self) -> Result<Link<'_>, SystemException> {
        let binding = self.target().binding()?;
        if binding.datagrams.is_empty() {
            return self.link();
        }
        self.link_or_datagrams(binding)
    }

    #[cold]
    fn link_or_datagrams<'s>(&'s self, binding: &'s Binding) -> Result<Link<'s>, SystemException> {
        let over_datagrams = || {
            let mut last = no_usable_protocol();
            for place in 0..binding.datagrams.len() {
                match self.datagram_link(binding, place) {
                    Ok(link) => return Ok(link),
                    Err(refused) => last = refused,
                }
            }
            Err(last)
        };
        if binding.datagrams_first {
            return over_datagrams().or_else(|_| self.link());
        }
        self.link().or_else(|_| over_datagrams())
    }

    #[inline]
    fn datagram_link<'s>(
        &'s self,
        binding: &'s Binding,
        place: usize,
    ) -> Result<Link<'s>, SystemException> {
        let candidate = binding.datagrams.get(place);
        let candidate = candidate.ok_or_else(no_usable_protocol)?;
        self.note_way(candidate);
        let Some(priorities) = &binding.priorities else {
            return Link::new(candidate, &self.timing, &self.begun);
        };
        self.datagram_link_at_priority(binding, priorities, place)
    }

    #[cold]
    fn other_link<'s>(
        &'s self,
        binding: &'s Binding,
        preferred: usize,
        refused: SystemException,
    ) -> Result<Link<'s>, SystemException> {
        // No other candidate: a server that impersonates this one may have provoked the
        // failure to divert the call.
        if refused.kind == ExceptionKind::NoPermission {
            return Err(refused);
        }
        for offset in 1..binding.candidates.len() {
            let index = (preferred + offset) % binding.candidates.len();
            if let Ok(link) = Link::new(&binding.candidates[index], &self.timing, &self.begun) {
                binding.prefer(index);
                self.candidate.set(index);
                self.note_way(&binding.candidates[index]);
                return Ok(link);
            }
        }
        Err(refused)
    }

    /// Records for the caller why there was no link.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub fn reached_none(&self, oneway: bool, exception: SystemException) -> SystemException {
        story::claim(self.begun);
        self.keep_offered(oneway);
        exception
    }

    /// Records the story of the call, which ends with that exception.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub(crate) fn failed(
        &self,
        operation: &'static Operation,
        exception: SystemException,
    ) -> SystemException {
        let exception = self.completed_of_all(exception);
        let phase = Failed {
            object: self.object.ior(),
            operation: operation.name(),
            begun: self.begun,
            retries: self.retries + self.repeats + u32::from(self.given_up != 0),
            forwards: self.forwards,
        }
        .tell(exception);
        if let Some(observed) = self.watch.observed() {
            observed.note_failure(exception, phase);
        }
        exception
    }

    /// Whether oneways go over datagrams.
    pub(crate) fn prefers_datagrams(&self) -> bool {
        let binding = self.target().binding();
        binding.is_ok_and(|binding| binding.datagrams_first)
    }

    /// The reference that the call is made through.
    pub fn object(&self) -> &'o Reference {
        self.object
    }

    /// The reference that replaces the original one, after a forward or by policies.
    pub(crate) fn forward(&self) -> Option<&Arc<Reference>> {
        self.elsewhere.as_ref()
    }

    /// The deadlines of the call.
    #[inline]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Records that the call ends with the user exception of that repository id.
    #[cold]
    pub(crate) fn note_user_exception_id(&self, id: &'static str) {
        if let Some(observed) = self.watch.observed() {
            observed.note_user_exception(id);
        }
    }

    /// Sends one LocateRequest to the server.
    #[inline]
    pub(crate) fn locate(&self) -> Result<bool, Outcome> {
        let link = self.link();
        let failed = |exception| Outcome::Failed(self.reached_none(false, exception));
        let link = link.map_err(failed)?;
        let ior = self.target().ior();
        locate::perform(self.object, ior, link, &self.timing)
    }
}

/// Whether another address may be tried: not after a failure of trust, nor after the server has
/// refused the priority.
pub fn may_try_others(refused: SystemException) -> bool {
    !matches!(
        refused.kind,
        ExceptionKind::NoPermission | ExceptionKind::InvPolicy | ExceptionKind::Rebind
    )
}
