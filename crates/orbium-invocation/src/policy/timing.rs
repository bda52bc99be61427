// SPDX-License-Identifier: MIT OR Apache-2.0
//! The deadlines of one call, computed from its time policies.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orbium_giop::time::{EndTimes, ReplyDeadline, TimeLeft, UtcTime};
use orbium_giop::{Completion, SystemException};
use orbium_sync::role;
use orbium_transport::{Deadline, Stamp};

use crate::TimePolicies;
use crate::exception::exceptions::{deadline_passed, time_left};

/// The deadlines of the parts of a call.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The time at which they were computed.
    computed: Stamp,
    /// The remaining time for sending.
    pub timeout: Option<Duration>,
    /// The deadline of sending.
    pub sending: Deadline,
    /// The deadline of the reply.
    pub reply: Deadline,
    /// The earliest time of the reply to the caller.
    pub reply_start: Option<Instant>,
    /// Whether there is a deadline, a start time or a cancellation token.
    pub is_timed: bool,
    /// Whether the deadlines are sent to the server.
    pub is_propagated: bool,
    /// Whether the request header is not written from the template alone: it carries deadlines, or
    /// a span records its id.
    pub is_header_special: bool,
}

impl Timing {
    /// No deadlines.
    pub const NEVER: Self = Self {
        computed: Stamp::EARLIEST,
        timeout: None,
        sending: Deadline::NEVER,
        reply: Deadline::NEVER,
        reply_start: None,
        is_timed: false,
        is_propagated: false,
        is_header_special: false,
    };

    /// Computes the deadlines of a call that begins now, and the start time of its request.
    /// Absolute times are converted to monotonic ones here, once: later changes of the system clock
    /// have no effect.
    ///
    /// # Errors
    ///
    /// TIMEOUT if a deadline has passed, or is before the start time of the same part.
    #[cold]
    pub fn of(
        policies: &TimePolicies,
        is_propagated: bool,
    ) -> Result<(Self, Option<Instant>), SystemException> {
        if policies.is_none() {
            return Ok((Self::NEVER, None));
        }
        let now = Instant::now();
        let within = |time: Option<Duration>| {
            let end = time.and_then(|time| now.checked_add(time));
            end.map_or(Deadline::NEVER, Deadline::at)
        };
        let until = |end: Option<SystemTime>| {
            let left = |end: SystemTime| end.duration_since(SystemTime::now());
            within(end.map(|end| left(end).unwrap_or(Duration::ZERO)))
        };
        let reply = within(policies.roundtrip_timeout).earlier(until(policies.reply_end));
        let request = within(policies.request_timeout).earlier(until(policies.request_end));
        let sending = request.earlier(reply);
        let from = |start: Option<SystemTime>| {
            let start = start?;
            // In this order, or the start would be too early.
            let (clock, now) = (SystemTime::now(), Instant::now());
            // A start time that has passed, or is out of range, has no effect.
            now.checked_add(start.duration_since(clock).ok()?)
        };
        let (start, reply_start) = (from(policies.request_start), from(policies.reply_start));
        let never = |start: Option<Instant>, end: Deadline| matches!((start, end.instant()), (Some(start), Some(end)) if end <= start);
        if never(start, sending) || never(reply_start, reply) {
            return Err(deadline_passed());
        }
        let is_propagated = is_propagated && sending != Deadline::NEVER;
        let timing = Self {
            computed: Stamp::now(),
            timeout: left_at(now, sending)?,
            sending,
            reply,
            reply_start,
            is_timed: true,
            is_propagated,
            is_header_special: is_propagated,
        };
        Ok((timing, start))
    }

    /// As `of`, for a call with a RelativeRoundtripTimeout only.
    ///
    /// # Errors
    /// TIMEOUT if it is zero.
    #[inline]
    pub fn within(timeout: Duration, is_propagated: bool) -> Result<Self, SystemException> {
        if timeout.is_zero() {
            return Err(deadline_passed());
        }
        let Some(end) = Instant::now().checked_add(timeout) else {
            return Ok(Self {
                is_timed: true,
                ..Self::NEVER
            });
        };
        Ok(Self {
            computed: Stamp::now(),
            timeout: Some(timeout),
            sending: Deadline::at(end),
            reply: Deadline::at(end),
            reply_start: None,
            is_timed: true,
            is_propagated,
            is_header_special: is_propagated,
        })
    }

    /// The deadline that the request carries, if it is only that of the reply. `None`:
    /// [`contexts`](Self::contexts) returns the contexts.
    #[inline]
    pub fn reply_deadline(&self) -> Option<ReplyDeadline> {
        let end = self.reply.instant()?;
        if !self.is_propagated || self.sending != self.reply {
            return None;
        }
        let left = match self.timeout {
            Some(timeout) if self.is_new() => timeout,
            _ => end.saturating_duration_since(Instant::now()),
        };
        Some(ReplyDeadline::new(SystemTime::now(), left))
    }

    /// Whether `timeout` is still the remaining time, to within a millisecond or two, by the
    /// processor's counter. If that is wrong, a peer waits too long, but a late reply is discarded
    /// nonetheless.
    #[inline]
    pub fn is_new(&self) -> bool {
        !Stamp::now().is_moments_after(self.computed)
    }

    /// Blocks until the start time of the request; polls `has_ended`, which fails once
    /// the ORB has shut down.
    ///
    /// # Errors
    ///
    /// TIMEOUT if the deadline has passed, or the error of `has_ended`.
    #[cold]
    pub fn await_start(
        &mut self,
        start: Instant,
        has_ended: &dyn Fn() -> Result<(), SystemException>,
    ) -> Result<(), SystemException> {
        wait_until(start, has_ended)?;
        self.timeout = time_left(self.sending)?;
        Ok(())
    }

    /// Applies the reply's times: a late reply is discarded, an early one is delayed until its
    /// start time.
    ///
    /// # Errors
    ///
    /// TIMEOUT, completed MAYBE.
    #[cold]
    pub fn await_reply_start(&self) -> Result<(), SystemException> {
        self.check_reply()?;
        match self.reply_start {
            Some(start) => wait_until(start, &|| Ok(())),
            None => Ok(()),
        }
    }

    /// Checks that a reply received now is in time.
    ///
    /// # Errors
    /// TIMEOUT, completed MAYBE.
    pub fn check_reply(&self) -> Result<(), SystemException> {
        if self.reply.has_passed() {
            return Err(SystemException {
                completed: Completion::Maybe,
                ..deadline_passed()
            });
        }
        Ok(())
    }

    /// The times that the request carries: remaining ones, for orbium servers, and absolute ones
    /// for other ORBs.
    pub fn contexts(&self) -> (TimeLeft, EndTimes) {
        let (now, clock) = (Instant::now(), SystemTime::now());
        let left = |deadline: Deadline| {
            let end = deadline.instant()?;
            Some(end.saturating_duration_since(now))
        };
        // A request deadline equal to that of the reply is redundant.
        let request = Some(self.sending).filter(|sending| *sending != self.reply);
        let left = TimeLeft {
            request: request.and_then(left),
            reply: left(self.reply),
        };
        let end = |left: Option<Duration>| left.and_then(|left| clock.checked_add(left));
        let ends = EndTimes {
            request: end(left.request).map(UtcTime::from),
            reply: end(left.reply).map(UtcTime::from),
        };
        (left, ends)
    }
}

/// The remaining time for sending of a call that began `now`: a relative time-out unchanged, so
/// that all calls of a program have the same value, and a connection retains its setting.
fn left_at(now: Instant, sending: Deadline) -> Result<Option<Duration>, SystemException> {
    let left = sending
        .instant()
        .map(|end| end.saturating_duration_since(now));
    match left {
        Some(Duration::ZERO) => Err(deadline_passed()),
        left => Ok(left),
    }
}

/// The interval at which a waiting caller checks if its ORB has ended.
const LOOK: Duration = Duration::from_millis(50);

fn wait_until(
    start: Instant,
    has_ended: &dyn Fn() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    // Other requests of a connection being served must not wait, too.
    role::about_to_block();
    loop {
        let left = start.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        has_ended()?;
        thread::sleep(left.min(LOOK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    /// Conformance: TAO 52 - timers follow the chosen clock
    #[test]
    fn the_earliest_bound_holds() {
        let end = |hours| SystemTime::now().checked_add(hours * HOUR);
        let policies = TimePolicies {
            roundtrip_timeout: Some(4 * HOUR),
            request_timeout: Some(3 * HOUR),
            request_end: end(1),
            reply_end: end(2),
            ..TimePolicies::NONE
        };
        let (timing, _) = Timing::of(&policies, true).unwrap();
        let (left, ends) = timing.contexts();
        let about = |left: Option<Duration>, hours: u32| {
            let left = left.unwrap();
            assert!(left <= hours * HOUR && left + HOUR / 2 > hours * HOUR);
        };
        about(timing.timeout, 1);
        about(left.request, 1);
        about(left.reply, 2);
        assert!(ends.request.unwrap() < ends.reply.unwrap());
        // A request deadline not earlier than the reply's is not sent.
        let policies = TimePolicies {
            request_end: end(3),
            ..policies
        };
        let (left, ends) = Timing::of(&policies, true).unwrap().0.contexts();
        assert_eq!((left.request, ends.request), (None, None));
        about(left.reply, 2);
    }

    #[test]
    fn calls_with_the_same_timeout_have_the_same_time_for_sending() {
        let policies = TimePolicies {
            roundtrip_timeout: Some(4 * HOUR),
            request_timeout: Some(HOUR),
            ..TimePolicies::NONE
        };
        let timeout = || Timing::of(&policies, true).unwrap().0.timeout;
        assert_eq!((timeout(), timeout()), (Some(HOUR), Some(HOUR)));
    }

    #[test]
    fn a_relative_timeout_alone_means_the_same_as_among_others() {
        let policies = TimePolicies {
            roundtrip_timeout: Some(HOUR),
            ..TimePolicies::NONE
        };
        for is_propagated in [true, false] {
            let (timing, _) = Timing::of(&policies, is_propagated).unwrap();
            let alone = Timing::within(HOUR, is_propagated).unwrap();
            assert!(alone.sending == alone.reply && timing.reply <= alone.reply);
            for timing in [timing, alone] {
                let left = timing.reply_deadline().and_then(|it| it.left());
                assert!(left.is_none_or(|left| left <= HOUR && left > HOUR / 2));
                assert_eq!(left.is_some(), is_propagated);
            }
        }
        let zero = Timing::within(Duration::ZERO, true);
        assert_eq!(zero.err(), Some(deadline_passed()));
        let never = Timing::within(Duration::MAX, true).unwrap();
        assert!(never.reply == Deadline::NEVER && never.reply_deadline().is_none());
        let policies = TimePolicies {
            request_timeout: Some(HOUR / 2),
            ..policies
        };
        let (both, _) = Timing::of(&policies, true).unwrap();
        assert!(both.is_propagated && both.reply_deadline().is_none());
    }

    #[test]
    fn calls_that_may_not_begin_in_time_are_refused() {
        let at = |hours| SystemTime::now().checked_add(hours * HOUR);
        for policies in [
            TimePolicies {
                request_start: at(2),
                request_end: at(1),
                ..TimePolicies::NONE
            },
            TimePolicies {
                request_start: at(2),
                roundtrip_timeout: Some(HOUR),
                ..TimePolicies::NONE
            },
            TimePolicies {
                reply_start: at(2),
                reply_end: at(1),
                ..TimePolicies::NONE
            },
        ] {
            assert_eq!(Timing::of(&policies, true).err(), Some(deadline_passed()));
        }
        // Start times stay at the client and are not sent.
        let policies = TimePolicies {
            request_start: at(1),
            reply_start: at(2),
            ..TimePolicies::NONE
        };
        let (timing, start) = Timing::of(&policies, true).unwrap();
        assert!(timing.is_timed && !timing.is_propagated);
        assert!(start.is_some() && start < timing.reply_start);
        let past = TimePolicies {
            request_start: Some(SystemTime::UNIX_EPOCH),
            ..TimePolicies::NONE
        };
        assert_eq!(Timing::of(&past, true).unwrap().1, None);
    }

    #[test]
    fn expired_calls_are_refused() {
        let yesterday = SystemTime::now().checked_sub(24 * HOUR);
        for policies in [
            TimePolicies {
                reply_end: yesterday,
                ..TimePolicies::NONE
            },
            TimePolicies {
                request_end: yesterday,
                ..TimePolicies::NONE
            },
            TimePolicies {
                request_timeout: Some(Duration::ZERO),
                ..TimePolicies::NONE
            },
        ] {
            assert_eq!(Timing::of(&policies, true).err(), Some(deadline_passed()));
        }
    }
}
