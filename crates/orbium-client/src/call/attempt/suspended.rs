// SPDX-License-Identifier: MIT OR Apache-2.0
//! An attempt that is suspended without a thread.

use std::sync::Arc;
use std::time::Instant;

use orbium_giop::SystemException;
use orbium_transport::Stamp;

use super::Attempt;
use super::watch::Watch;
use crate::errors::no_usable_protocol;
use crate::reference::Reference;
use crate::reference::binding::Binding;
use crate::reference::candidate::{Candidate, Route};
use crate::reference::request_path::{Choice, RequestPath};
use orbium_connection::introduction::PriorityContext;
use orbium_connection::pool::Pool;
use orbium_invocation::timing::Timing;

/// An attempt without its object.
#[derive(Debug)]
pub struct Suspended {
    timing: Timing,
    elsewhere: Option<Arc<Reference>>,
    candidate: usize,
    forwards: u32,
    retries: u32,
    repeats: u32,
    given_up: u32,
    begun: Stamp,
}

impl Suspended {
    /// Whether the call may recover from a failure: it can fall back, or retry the request.
    pub fn may_go_on(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(is_forward) || self.repeats > 0
    }
}

/// Whether a server has forwarded to that reference, rather than policies of the thread having
/// derived it.
fn is_forward(elsewhere: &Arc<Reference>) -> bool {
    let derived = elsewhere.derived();
    derived.is_none_or(|derived| !Arc::ptr_eq(&derived, elsewhere))
}

impl<'o> Attempt<'o> {
    /// As `check_before_request`, but does not wait: returns the time before which the request must
    /// not be sent.
    ///
    /// # Errors
    /// BAD_INV_ORDER after the end of the ORB; TIMEOUT if a deadline has passed.
    pub fn apply_policies_or_start_time(&mut self) -> Result<Option<Instant>, SystemException> {
        match self.object.notices() {
            0 => Ok(None),
            notice => self.apply_flagged_policies(notice),
        }
    }

    /// Separates it from its object while its call waits.
    pub fn suspend(self) -> Suspended {
        Suspended {
            timing: self.timing,
            elsewhere: self.elsewhere,
            candidate: self.candidate.get(),
            forwards: self.forwards,
            retries: self.retries,
            repeats: self.repeats,
            given_up: self.given_up,
            begun: self.begun,
        }
    }

    /// Resumes a call through the object from which it was suspended.
    pub fn resume(object: &'o Reference, suspended: Suspended) -> Self {
        Self {
            object,
            timing: suspended.timing,
            elsewhere: suspended.elsewhere,
            candidate: suspended.candidate.into(),
            forwards: suspended.forwards,
            retries: suspended.retries,
            repeats: suspended.repeats,
            given_up: suspended.given_up,
            begun: suspended.begun,
            // The reply may be collected on another thread, on which a span must not end: see
            // `Call`.
            watch: Watch::Nothing,
        }
    }

    /// Whether a server has forwarded it.
    pub fn is_forwarded(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(is_forward)
    }

    /// The numbers of retries and of forwards of the call.
    pub fn counts(&self) -> (u32, u32) {
        (self.retries + self.repeats, self.forwards)
    }

    /// The number of its candidates.
    pub fn ways(&self) -> usize {
        let binding = self.target().binding();
        binding.map_or(0, |binding| binding.candidates.len())
    }

    /// The request path to a candidate.
    ///
    /// # Errors
    /// INV_POLICY: there is none.
    pub fn way(&self, choice: Choice) -> Result<RequestPath<'_>, SystemException> {
        let client = self.object.client();
        let binding = self.target().binding()?;
        let first = binding.candidates.first().ok_or_else(no_usable_protocol)?;
        let Some(priorities) = &binding.priorities else {
            let candidate = self.choose(binding, choice, None);
            return Ok(RequestPath {
                candidate,
                pool: shared(candidate),
                said: PriorityContext::None,
                band: None,
                own: None,
            });
        };
        let at = priorities.of_call(client, &first.object_key)?;
        let candidate = self.choose(binding, choice, priorities.candidate(at));
        let partitioned = priorities.pool(client, candidate, self.candidate.get(), at)?;
        Ok(RequestPath {
            candidate,
            band: partitioned.and(priorities.band(at)),
            pool: partitioned.or_else(|| shared(candidate)),
            said: at.context(),
            own: priorities.own(),
        })
    }

    fn choose<'b>(
        &self,
        binding: &'b Binding,
        choice: Choice,
        suits: Option<usize>,
    ) -> &'b Candidate {
        let place = match choice {
            Choice::First => suits.unwrap_or(binding.preferred()),
            Choice::Same => self.candidate.get(),
            Choice::Next => self.candidate.get() + 1,
        };
        let place = place % binding.candidates.len();
        self.candidate.set(place);
        &binding.candidates[place]
    }

    /// Marks the chosen candidate as preferred: it has answered, after others had not.
    pub fn prefer(&self) {
        if let Ok(binding) = self.target().binding() {
            binding.prefer(self.candidate.get());
        }
    }
}

fn shared(candidate: &Candidate) -> Option<&Arc<Pool>> {
    match &candidate.route {
        Route::Remote(pool) => Some(pool),
        Route::Local => None,
    }
}
