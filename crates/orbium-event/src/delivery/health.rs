// SPDX-License-Identifier: MIT OR Apache-2.0
//! Health of a consumer, and the policy that disconnects a failing one.

use std::time::{Duration, Instant};

/// Condition under which a failing consumer is disconnected.
///
/// After the first failed push the consumer gets no more events and is pinged; a successful ping
/// restores it. A consumer with a nonexistent object is disconnected immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailurePolicy {
    /// Maximum number of consecutive failures of pushes and pings; 3 by default.
    pub failures: u32,
    /// Maximum time of consecutive failures; 5 s by default.
    pub time: Duration,
}

impl FailurePolicy {
    /// A consumer is disconnected only if it does not exist.
    pub const NEVER: Self = Self {
        failures: u32::MAX,
        time: Duration::MAX,
    };
}

impl Default for FailurePolicy {
    fn default() -> Self {
        Self {
            failures: 3,
            time: Duration::from_secs(5),
        }
    }
}

/// Error of a push or a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// The consumer does not exist any more, or has reported its end.
    Gone,
    /// It could not be reached, and may be reachable later (TRANSIENT): it has received none of the
    /// events.
    Unreachable,
    /// It refuses these events permanently (BAD_PARAM, MARSHAL).
    Refused,
    /// It has raised another exception, or did not reply in time.
    Failed,
}

/// Health of a consumer, for channels of this crate and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It accepts events.
    Well,
    /// It has failed, and is pinged.
    Suspect {
        /// The time of the first failure.
        since: Instant,
        /// Consecutive failures of pushes and pings.
        failures: u32,
    },
    /// It is to be disconnected.
    Gone,
}

impl Health {
    /// Whether it accepts events.
    #[must_use]
    pub fn is_well(self) -> bool {
        self == Self::Well
    }

    /// The health after the outcome of a push or ping.
    #[must_use]
    pub fn after(
        self,
        outcome: Result<(), DeliveryError>,
        policy: &FailurePolicy,
        now: Instant,
    ) -> Self {
        let (since, failures) = match (self, outcome) {
            (Self::Gone, _) | (_, Err(DeliveryError::Gone)) => return Self::Gone,
            (_, Ok(())) => return Self::Well,
            (Self::Well, Err(_)) => (now, 1),
            (Self::Suspect { since, failures }, Err(_)) => (since, failures.saturating_add(1)),
        };
        let too_long = now.saturating_duration_since(since) >= policy.time;
        if *policy != FailurePolicy::NEVER && failures >= policy.failures
            || (failures > 1 && too_long)
        {
            Self::Gone
        } else {
            Self::Suspect { since, failures }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Result<(), DeliveryError> = Err(DeliveryError::Failed);

    #[test]
    fn a_consumer_is_gone_after_so_many_failures() {
        let (policy, now) = (FailurePolicy::default(), Instant::now());
        let second = Health::Well.after(FAILED, &policy, now);
        let second = second.after(FAILED, &policy, now);
        assert!(matches!(second, Health::Suspect { failures: 2, .. }));
        assert_eq!(second.after(FAILED, &policy, now), Health::Gone);
        assert_eq!(second.after(Ok(()), &policy, now), Health::Well);
    }

    #[test]
    fn a_consumer_is_gone_after_so_long() {
        let (policy, now) = (FailurePolicy::default(), Instant::now());
        let suspect = Health::Well.after(FAILED, &policy, now);
        let later = now + policy.time;
        assert_eq!(suspect.after(FAILED, &policy, later), Health::Gone);
    }

    #[test]
    fn an_object_that_does_not_exist_is_gone_for_good() {
        let (policy, now) = (FailurePolicy::default(), Instant::now());
        let gone = Health::Well.after(Err(DeliveryError::Gone), &policy, now);
        assert_eq!(gone, Health::Gone);
        assert_eq!(gone.after(Ok(()), &policy, now), Health::Gone);
    }
}
