// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deliberate retries: of idempotent operations after a lost connection, and of
//! requests with text that needs the code sets of the whole reference.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::Operation;
use orbium_invocation::story::{Phase, note};

use super::{Attempt, RETRIES};
use orbium_connection::outcome::Outcome;

/// The pause before the first retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The pause before a retry: half of it fixed, the rest random, so that the clients of a lost
/// server do not reconnect at the same time.
fn pause_before(repeat: u32) -> Duration {
    let doubled = 1u32
        .checked_shl(repeat.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let longest = FIRST_PAUSE.saturating_mul(doubled).min(MAX_PAUSE);
    // Sixteen random bits are sufficient.
    let random = (RandomState::new().hash_one(repeat) & 0xFFFF) as u32;
    longest / 2 + longest * random / (2 * 0xFFFF)
}

impl Attempt<'_> {
    /// The time of the retry after a connection was lost before the reply, if the operation is
    /// idempotent and the limit allows it.
    pub(super) fn repeat(
        &mut self,
        operation: &'static Operation,
        exception: SystemException,
    ) -> Result<Instant, SystemException> {
        let most = if operation.is_idempotent() {
            self.object.idempotent_retries()
        } else {
            0
        };
        if self.repeats >= most {
            return Err(exception);
        }
        let repeat = self.repeats + 1;
        let start = Instant::now() + pause_before(repeat);
        if self
            .timing
            .sending
            .instant()
            .is_some_and(|end| end <= start)
        {
            let late = "the deadline leaves no time to send the request again";
            note(Phase::Begin, None, &late);
            return Err(exception);
        }
        self.repeats = repeat;
        note(
            Phase::Begin,
            None,
            &format_args!("idempotent: sent again, {repeat} of {most}"),
        );
        Ok(start)
    }

    /// As `repeat`, for a retry that has found no server.
    pub(super) fn repeat_again(
        &mut self,
        operation: &'static Operation,
        exception: SystemException,
    ) -> Result<Instant, SystemException> {
        let passes = matches!(
            exception.kind,
            ExceptionKind::CommFailure | ExceptionKind::Transient
        );
        if self.was_repeated() && passes {
            self.repeat(operation, exception)
        } else {
            Err(exception)
        }
    }

    /// Whether the server may have served an earlier copy of the request.
    pub fn was_repeated(&self) -> bool {
        self.repeats > 0
    }

    /// The exception of the call from that of its last exchange: a request that was retried may
    /// have been served before.
    pub(super) fn completed_of_all(&self, exception: SystemException) -> SystemException {
        match exception.completed {
            Completion::No if self.was_repeated() => SystemException {
                completed: Completion::Maybe,
                ..exception
            },
            _ => exception,
        }
    }

    /// Locates the object, since the reference contains no code sets, and the default ones cannot
    /// encode the arguments. A server that forwards, as orbium does for bound keys, returns the
    /// whole reference, with its code sets.
    pub(super) fn locate_code_sets(
        &mut self,
        exception: SystemException,
    ) -> Result<(), SystemException> {
        for _ in 0..=RETRIES {
            let located = self.locate();
            if let Err(outcome) = &located {
                self.check_rebind(outcome)?;
            }
            match located {
                Err(Outcome::Forward(ior)) => return self.follow(ior).map_err(|_| exception),
                Err(Outcome::Readdress(wanted)) => {
                    self.readdress(wanted).map_err(|_| exception)?;
                }
                Err(Outcome::NotBegun(_)) => {}
                Ok(_) | Err(_) => break,
            }
        }
        Err(exception)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound() {
        for repeat in 1..200 {
            let pause = pause_before(repeat);
            assert!(pause >= FIRST_PAUSE / 2 && pause <= MAX_PAUSE, "{repeat}");
        }
        assert!(pause_before(1) <= FIRST_PAUSE);
        assert!(pause_before(8) >= MAX_PAUSE / 2);
    }
}
