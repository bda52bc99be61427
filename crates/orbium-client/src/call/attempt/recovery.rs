// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery after an exchange without results: a call follows forwards, replaces closed
//! connections, and falls back to its original reference.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::{AddressingDisposition, Completion, ExceptionKind, Ior, SystemException, minor};
use orbium_invocation::Operation;
use orbium_invocation::story::{self, Phase, keep_offered, note};
use orbium_metrics::Retry;
use orbium_trace::log::{self, Recurring};

use super::{Attempt, RETRIES};
use crate::reference::Reference;
use orbium_connection::outcome::Outcome;
use orbium_invocation::exceptions::time_left;

impl Attempt<'_> {
    /// The next step after an exchange without results: try again, perhaps after a pause,
    /// or give up.
    #[cold]
    pub fn again(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
    ) -> Result<(), SystemException> {
        story::claim(self.begun);
        let again = match self.go_on(operation, outcome) {
            Ok(None) => self.object.check_cancellation(Completion::Maybe),
            Ok(Some(start)) => self.await_start(start),
            Err(exception) => Err(exception),
        };
        again.map_err(|exception| self.failed(operation, exception))
    }

    /// Waits until the request may be sent.
    pub(super) fn await_start(&mut self, start: Instant) -> Result<(), SystemException> {
        let object = self.object;
        self.timing.await_start(start, &|| {
            object.check_cancellation(Completion::Maybe)?;
            object.client().check_running()
        })
    }

    /// As `again`, without recording the story or waiting: returns the time before which the
    /// request must not be sent.
    #[cold]
    pub fn go_on(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
    ) -> Result<Option<Instant>, SystemException> {
        let cause = match &outcome {
            Outcome::Forward(_) => Retry::Forward,
            Outcome::Readdress(_) => Retry::Readdress,
            Outcome::NotBegun(_) => Retry::StaleConnection,
            Outcome::Lost(_) => Retry::LostConnection,
            Outcome::Unwritable(_) => Retry::CodeSets,
            Outcome::Failed(_) => Retry::FallBack,
        };
        let repeats = self.repeats;
        let start = self.try_again(operation, outcome)?;
        let cause = if self.repeats > repeats {
            Retry::LostConnection
        } else {
            cause
        };
        if let Some(all) = self.object.client().measurements() {
            all.count_retry(cause);
        }
        self.log_retry(cause);
        if let Some(observed) = self.watch.observed() {
            let retries = self.retries + self.repeats + u32::from(self.given_up != 0);
            observed.note_counts(retries, self.forwards);
            self.note_preferred_way(observed);
        }
        Ok(start)
    }

    /// Logs a retry of the call.
    fn log_retry(&self, cause: Retry) {
        let event = match cause {
            Retry::Forward => Recurring::Forward,
            Retry::Readdress => Recurring::Readdress,
            Retry::StaleConnection => Recurring::StaleConnection,
            Retry::FallBack => Recurring::FallBack,
            Retry::LostConnection => Recurring::LostConnection,
            Retry::CodeSets => Recurring::CodeSets,
        };
        let Some(suppressed) = self.object.client().instruments().book().admit(event) else {
            return;
        };
        if cause == Retry::Forward {
            log::info!(
                target: "orbium::call",
                interface = %self.object.ior().type_id,
                from = first_channel(self.object),
                to = first_channel(self.target()),
                suppressed,
                "forward followed",
            );
            return;
        }
        log::info!(
            target: "orbium::call",
            cause = event.cause(),
            interface = %self.object.ior().type_id,
            address = first_channel(self.target()),
            retries = self.retries + self.repeats,
            suppressed,
            "call is made again",
        );
    }

    fn try_again(
        &mut self,
        operation: &'static Operation,
        outcome: Outcome,
    ) -> Result<Option<Instant>, SystemException> {
        let mut start = None;
        self.check_rebind(&outcome)?;
        match outcome {
            Outcome::Forward(ior) => self.follow(ior)?,
            Outcome::Readdress(wanted) => self.readdress(wanted)?,
            Outcome::NotBegun(_) if self.retries < RETRIES => self.retries += 1,
            Outcome::NotBegun(exception) | Outcome::Failed(exception) => {
                if !self.falls_back(exception) {
                    start = Some(self.repeat_again(operation, exception)?);
                }
            }
            Outcome::Lost(exception) => start = Some(self.repeat(operation, exception)?),
            Outcome::Unwritable(exception) => self.locate_code_sets(exception)?,
        }
        // The previous attempts have used up a part of the time.
        let left = time_left(self.timing.sending);
        self.timing.timeout = left.inspect_err(|late| note(Phase::Begin, None, late))?;
        Ok(start)
    }

    pub(super) fn follow(&mut self, ior: Arc<Ior>) -> Result<(), SystemException> {
        self.forwards += 1;
        let limit = self.object.client().config().limits.forwards;
        if self.forwards > limit {
            note(
                Phase::Wait,
                None,
                &format_args!("forwarded more than {limit} times (`limits.forwards`)"),
            );
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
        let overrides = self.target().overrides().clone();
        let to = self.object.orb().reference(ior, overrides);
        self.set_forward(Some(to));
        Ok(())
    }

    /// Stores a forward in the reference that was forwarded: under policies of the thread it
    /// differs from the caller's.
    fn set_forward(&mut self, to: Option<Arc<Reference>>) {
        let derived = self.target().derived_from(self.object);
        if let (Some(derived), Some(to)) = (&derived, &to) {
            to.derive_from(derived);
        }
        derived
            .as_deref()
            .unwrap_or(self.object)
            .set_forward(to.clone());
        self.elsewhere = to.or(derived);
    }

    pub(super) fn readdress(
        &mut self,
        wanted: AddressingDisposition,
    ) -> Result<(), SystemException> {
        let target = self.target();
        let candidate = &target.binding()?.candidates[self.candidate.get()];
        // Another thread may have received the same NEEDS_ADDRESSING_MODE.
        if self.retries < RETRIES && candidate.readdress(target.ior(), wanted) {
            self.retries += 1;
            return Ok(());
        }
        Err(SystemException::orbium(
            ExceptionKind::Marshal,
            minor::REPLY_MALFORMED,
            Completion::No,
        ))
    }

    /// Falls back from a forward that no longer works to the original reference; returns whether
    /// there was a forward. It does not if the first server has forwarded to the same reference
    /// again and that failed in the same way. Another forward may have ended like the one before,
    /// when a server starts twice; and one that failed as its server ended may be answered
    /// differently by the next server.
    fn falls_back(&mut self, exception: SystemException) -> bool {
        let gone = matches!(
            exception.kind,
            ExceptionKind::CommFailure | ExceptionKind::Transient | ExceptionKind::ObjectNotExist
        );
        if !self.is_forwarded() {
            return false;
        }
        let forward = hash_of(self.target().ior(), exception.kind);
        if !gone || exception.completed != Completion::No || self.given_up == forward {
            return false;
        }
        note(
            Phase::Begin,
            None,
            &"the forwarded reference cannot be reached any more: falling back to the original one",
        );
        self.given_up = forward;
        self.retries = 0;
        self.set_forward(None);
        true
    }

    /// Records the protocols that the reference offered, with the state of each: the call has
    /// reached no server.
    #[cold]
    pub(super) fn keep_offered(&self, oneway: bool) {
        let target = self.target();
        let protocols = &target.client().latest_config().protocols;
        keep_offered(target.protocols(), self.begun, &|channel| {
            let has_no_reply = protocols.is_datagram(channel) && !oneway;
            has_no_reply.then_some("it has no way back for an answer")
        });
    }
}

/// A hash of a forward and of its failure, never 0.
fn hash_of(ior: &Ior, failed: ExceptionKind) -> u32 {
    let mut hasher = DefaultHasher::new();
    (ior, failed).hash(&mut hasher);
    let hash = (hasher.finish() >> 32) as u32;
    hash.max(1)
}

/// The first address in a reference.
fn first_channel(object: &Reference) -> Option<String> {
    let offers = orbium_channel::protocol::offers(object.ior());
    offers.first().map(|offer| offer.channel.to_string())
}
