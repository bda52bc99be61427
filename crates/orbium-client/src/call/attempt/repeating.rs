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

/// The pause before the first repeat; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The pause before a repeat: half of it fixed, the rest random, so that the clients of a
/// server that went away do not return at once.
fn pause_before(repeat: u32) -> Duration {
    let doubled = 1u32
        .checked_shl(repeat.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let longest = FIRST_PAUSE.saturating_mul(doubled).min(MAX_PAUSE);
    // A sixteen-bit number is enough of a choice.
    let random = (RandomState::new().hash_one(repeat) & 0xFFFF) as u32;
    longest / 2 + longest * random / (2 * 0xFFFF)
}

impl Attempt<'_> {
    /// The connection was lost before the reply: when the request is sent again, if its
    /// operation is idempotent and the choice allows it.
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

    /// As `repeat`, for a request that was repeated before and found no server since.
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

    /// Whether the server may have served the request before it was sent last.
    pub fn was_repeated(&self) -> bool {
        self.repeats > 0
    }

    /// What the call raises if its last exchange raised that: a request that was sent again
    /// may have been served before.
    pub(super) fn completed_of_all(&self, exception: SystemException) -> SystemException {
        match exception.completed {
            Completion::No if self.was_repeated() => SystemException {
                completed: Completion::Maybe,
                ..exception
            },
            _ => exception,
        }
    }

    /// The reference names no code sets, and those of every ORB cannot carry the arguments:
    /// asks the server where the object is. One that forwards, as orbium does for bound keys,
    /// names the whole reference, with its code sets.
    pub(super) fn ask_for_code_sets(
        &mut self,
        exception: SystemException,
    ) -> Result<(), SystemException> {
        for _ in 0..=RETRIES {
            match self.locate() {
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
