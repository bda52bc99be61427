// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the caller's own ORB that need no message.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::SystemException;
use orbium_invocation::Operation;
use orbium_invocation::collocation::{copied_exception, copied_result};
use orbium_invocation::raises::Raises;
use orbium_invocation::story::{Phase, note};
use orbium_invocation::timing::Timing;
use orbium_trace::log;

use crate::attempt::Attempt;
use crate::candidate::Route;
use crate::notice;
use crate::outcome::raised;
use crate::own_object::Collocated;
use crate::reference::Reference;

/// A call without a message that has deadlines, or is made through another reference.
#[derive(Debug)]
pub struct Detour {
    /// The reference that the call is made through instead.
    target: Option<Arc<Reference>>,
    /// Its deadlines.
    pub timing: Timing,
}

impl Detour {
    /// The object of a call through `object`.
    #[must_use]
    pub fn at<'d>(&'d self, object: &'d Reference) -> Option<&'d Collocated> {
        self.target.as_deref().unwrap_or(object).own_object()
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

    /// How to call the object without a message although the thread or the ORB may have
    /// policies, the reference has deadlines, or a server has forwarded it. `None` if it takes a
    /// message: interceptors, metrics or spans observe the call, or a policy concerns the
    /// message itself, or fails the call.
    #[cold]
    #[inline(never)]
    pub fn detour(&self) -> Option<Detour> {
        let notices = self.notices();
        if notices & !(notice::THREAD_POLICY | notice::TIME_POLICY) != 0 || log::wants_spans() {
            return None;
        }
        let mut detour = Detour {
            target: None,
            timing: Timing::NEVER,
        };
        if notices != 0 {
            let own = self.overrides();
            let wider = self.client().wider_policies();
            let has_routers = !own.policies.messaging.routers.is_none();
            if own.cancellation.is_some() || has_routers || !wider.messaging.is_none() {
                return None;
            }
            if wider.choose_connections() || self.is_outdated() {
                detour.target = self.under_thread_policies(&wider);
            }
            let config = self.client().config();
            let times = own.policies.times.or(wider.times).or(config.times);
            let (timing, start) = Timing::of(&times, !config.keeps_deadlines).ok()?;
            if start.or(timing.reply_start).is_some() {
                return None;
            }
            detour.timing = timing;
        }
        detour.target = detour.target.or_else(|| self.forwarded());
        detour.at(self)?;
        Some(detour)
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
        let is_plain = binding.priorities.is_none() && binding.datagrams.is_empty();
        let is_own = matches!(candidate.route, Route::Local) && self.may_be_collocated();
        let slot = (is_plain && is_own).then(|| self.orb().slot(&candidate.object_key));
        let own = self.known_collocated().get_or_init(|| {
            let key = candidate.object_key.as_slice();
            Some(Collocated::new(key, slot??, candidate.format()))
        });
        own.as_ref()
    }

    /// What the caller gets for what a servant of this ORB has returned.
    ///
    /// # Errors
    /// What it raised, or why it cannot be copied.
    #[cold]
    #[inline(never)]
    pub fn copied<T, E: Raises>(
        &self,
        format: Format,
        operation: &'static Operation,
        served: Result<T, E>,
        write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
        read: &dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, E> {
        let decoding = self.client().decoding();
        let raised = match served {
            Ok(value) => match copied_result(format, decoding, value, write, read) {
                Ok(value) => return Ok(value),
                Err(exception) => exception,
            },
            Err(error) => match copied_exception(format, decoding, error) {
                Ok(error) => return Err(error),
                Err(exception) => exception,
            },
        };
        Err(self.raised_in_place(operation, raised).into())
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
