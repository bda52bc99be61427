// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call until it is done: forwards followed, closed connections replaced,
//! one address after the other.

use std::time::Duration;

use std::sync::Arc;

use orbium_giop::{AddressingDisposition, Completion, ExceptionKind, Ior, SystemException, minor};
use orbium_transport::Deadline;

use crate::ObjectRef;
use crate::client::binding::Binding;
use crate::client::exchange::{Link, Outcome};
use crate::client::locate;

/// Times that a request which the server had not begun is sent again.
const RETRIES: u32 = 4;

/// How long a call may take, and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Deadline,
}

/// The state of a call between its exchanges.
pub(crate) struct Attempt<'o> {
    object: &'o ObjectRef,
    timing: Timing,
    /// Where the object was said to be.
    forwarded: Option<ObjectRef>,
    candidate: usize,
    forwards: u32,
    retries: u32,
}

impl<'o> Attempt<'o> {
    #[inline(always)]
    pub(crate) fn new(object: &'o ObjectRef) -> Self {
        let state = object.state();
        let forwarded = state.forwarded();
        let timing = match state.timeout.or(state.orb.core().config.call_timeout) {
            None => Timing {
                timeout: None,
                deadline: Deadline::NEVER,
            },
            timeout => Timing::new(timeout),
        };
        Self {
            object,
            timing,
            forwarded,
            candidate: 0,
            forwards: 0,
            retries: 0,
        }
    }

    #[inline]
    fn target(&self) -> &ObjectRef {
        self.forwarded.as_ref().unwrap_or(self.object)
    }

    /// A link to the first candidate that can be reached.
    #[inline]
    pub(crate) fn link(&mut self) -> Result<Link<'_>, SystemException> {
        self.candidate = self.reach()?;
        let candidate = &self.target().state().binding()?.candidates[self.candidate];
        Link::new(candidate, self.timing.deadline)
    }

    #[inline]
    pub(crate) fn timing(&self) -> Timing {
        self.timing
    }

    /// The candidate to use: the one that answered last, while it does.
    #[inline]
    fn reach(&self) -> Result<usize, SystemException> {
        let binding = self.target().state().binding()?;
        if binding.candidates.len() == 1 {
            return Ok(0);
        }
        let timing = self.timing;
        let preferred = binding.preferred();
        first_reachable(binding, preferred, timing)
    }

    /// What to do after an exchange without results: try again, or give up.
    #[cold]
    pub(crate) fn again(&mut self, outcome: Outcome) -> Result<(), SystemException> {
        match outcome {
            Outcome::Forward(ior) => self.follow(*ior),
            Outcome::Readdress(wanted) => self.readdress(wanted),
            Outcome::NotBegun(exception) => {
                self.retries += 1;
                if self.retries > RETRIES || self.timing.deadline.has_passed() {
                    return Err(exception);
                }
                Ok(())
            }
            Outcome::Failed(exception) => self.fall_back(exception),
        }
    }

    fn follow(&mut self, ior: Ior) -> Result<(), SystemException> {
        self.forwards += 1;
        let state = self.object.state();
        if self.forwards > state.orb.core().config.limits.forwards {
            return Err(SystemException::orbium(
                ExceptionKind::Transient,
                minor::TOO_MANY_FORWARDS,
                Completion::No,
            ));
        }
        if ior.is_nil() {
            return Err(SystemException::omg(
                ExceptionKind::ObjectNotExist,
                2,
                Completion::No,
            ));
        }
        let to = ObjectRef::new(state.orb.clone(), Arc::new(ior), state.timeout);
        state.set_forward(Some(to.clone()));
        self.forwarded = Some(to);
        Ok(())
    }

    fn readdress(&mut self, wanted: AddressingDisposition) -> Result<(), SystemException> {
        let state = self.target().state();
        let candidate = &state.binding()?.candidates[self.candidate];
        if candidate.readdress(&state.ior, wanted) {
            return Ok(());
        }
        Err(SystemException::orbium(
            ExceptionKind::Marshal,
            minor::REPLY_MALFORMED,
            Completion::No,
        ))
    }

    /// A forward that no longer works sends us back to where we came from.
    fn fall_back(&mut self, exception: SystemException) -> Result<(), SystemException> {
        let gone = matches!(
            exception.kind,
            ExceptionKind::CommFailure | ExceptionKind::Transient | ExceptionKind::ObjectNotExist
        );
        if self.forwarded.is_some()
            && gone
            && exception.completed == Completion::No
            && self.retries < RETRIES
        {
            self.retries += 1;
            self.object.state().set_forward(None);
            self.forwarded = None;
            return Ok(());
        }
        Err(exception)
    }

    /// Asks the server once where the object is.
    pub(crate) fn locate(&mut self) -> Result<Result<bool, Outcome>, SystemException> {
        let reached = self.reach()?;
        self.candidate = reached;
        let state = self.target().state();
        let candidate = &state.binding()?.candidates[reached];
        locate::perform(&state.orb, candidate, self.timing)
    }
}

/// The first candidate, from `preferred` on, to which there is a connection or
/// one can be made.
#[cold]
fn first_reachable(
    binding: &Binding,
    preferred: usize,
    timing: Timing,
) -> Result<usize, SystemException> {
    let mut refused = None;
    for offset in 0..binding.candidates.len() {
        let index = (preferred + offset) % binding.candidates.len();
        match binding.candidates[index].check(timing.deadline) {
            Ok(()) => {
                binding.prefer(index);
                return Ok(index);
            }
            Err(exception) => refused = refused.or(Some(exception)),
        }
    }
    Err(refused.unwrap_or_else(|| SystemException::omg(ExceptionKind::ImpLimit, 1, Completion::No)))
}
