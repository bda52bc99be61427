// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long calls may take: the time policies of CORBA Messaging (CORBA 3.3 Part
//! 1, clause 17.2.5), and what they come to for one call.

use std::time::{Duration, Instant, SystemTime};

use orbium_giop::SystemException;
use orbium_giop::time::{EndTimes, TimeLeft, UtcTime};
use orbium_transport::Deadline;

use crate::client::link::deadline_passed;

/// How long calls may take. Each policy that is not set is that of the next
/// wider scope: reference, thread, ORB.
///
/// All of a call counts: waiting for a connection, connecting, sending, the
/// server's queues, the servant, and what is tried again. The bounds travel with
/// the request, and an orbium server does not begin what comes too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimePolicies {
    /// RelativeRoundtripTimeout: the reply has to be there that long after the
    /// call was made.
    pub roundtrip_timeout: Option<Duration>,
    /// RelativeRequestTimeout: the request has to be with its servant that long
    /// after the call was made. Whether it is, only the server can tell.
    pub request_timeout: Option<Duration>,
    /// RequestEndTime: the request has to be with its servant by then.
    pub request_end: Option<SystemTime>,
    /// ReplyEndTime: the reply has to be there by then.
    pub reply_end: Option<SystemTime>,
}

impl TimePolicies {
    /// Nothing is bounded.
    pub const NONE: Self = Self {
        roundtrip_timeout: None,
        request_timeout: None,
        request_end: None,
        reply_end: None,
    };

    /// These, and of the others what these do not say.
    #[must_use]
    pub fn or(self, wider: Self) -> Self {
        Self {
            roundtrip_timeout: self.roundtrip_timeout.or(wider.roundtrip_timeout),
            request_timeout: self.request_timeout.or(wider.request_timeout),
            request_end: self.request_end.or(wider.request_end),
            reply_end: self.reply_end.or(wider.reply_end),
        }
    }
}

/// Until when what part of a call has to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// What is left of the time for sending.
    pub(crate) timeout: Option<Duration>,
    /// Until when the request has to be sent.
    pub(crate) sending: Deadline,
    /// Until when the reply has to be there.
    pub(crate) reply: Deadline,
    /// Whether the server is told.
    pub(crate) is_told: bool,
}

impl Timing {
    /// No bounds.
    pub(crate) const NEVER: Self = Self {
        timeout: None,
        sending: Deadline::NEVER,
        reply: Deadline::NEVER,
        is_told: false,
    };

    /// What the policies come to for a call that begins now. Points of time
    /// become spans here, once: what sets the clock meanwhile changes nothing.
    #[cold]
    pub(crate) fn of(policies: &TimePolicies, is_told: bool) -> Result<Self, SystemException> {
        if *policies == TimePolicies::NONE {
            return Ok(Self::NEVER);
        }
        let until = |end: Option<SystemTime>| {
            let left = |end: SystemTime| end.duration_since(SystemTime::now());
            end.map(|end| left(end).unwrap_or(Duration::ZERO))
        };
        let reply = Deadline::after(policies.roundtrip_timeout)
            .earlier(Deadline::after(until(policies.reply_end)));
        let request = Deadline::after(policies.request_timeout)
            .earlier(Deadline::after(until(policies.request_end)));
        let sending = request.earlier(reply);
        Ok(Self {
            timeout: sending.remaining().map_err(|_| deadline_passed())?,
            sending,
            reply,
            is_told,
        })
    }

    /// What the server is told: the time that is left, and points of time for
    /// those who know nothing else.
    pub(crate) fn told(&self) -> (TimeLeft, EndTimes) {
        let (now, clock) = (Instant::now(), SystemTime::now());
        let left = |deadline: Deadline| {
            let end = deadline.instant()?;
            Some(end.saturating_duration_since(now))
        };
        // That the request is there before the reply has to be goes without
        // saying.
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn the_narrower_scope_goes_before_the_wider() {
        let narrow = TimePolicies {
            roundtrip_timeout: Some(HOUR),
            ..TimePolicies::NONE
        };
        let wide = TimePolicies {
            roundtrip_timeout: Some(2 * HOUR),
            request_timeout: Some(3 * HOUR),
            ..TimePolicies::NONE
        };
        let both = narrow.or(wide);
        assert_eq!(both.roundtrip_timeout, Some(HOUR));
        assert_eq!(both.request_timeout, Some(3 * HOUR));
    }

    #[test]
    fn the_earliest_bound_holds() {
        let end = |hours| SystemTime::now().checked_add(hours * HOUR);
        let policies = TimePolicies {
            roundtrip_timeout: Some(4 * HOUR),
            request_timeout: Some(3 * HOUR),
            request_end: end(1),
            reply_end: end(2),
        };
        let timing = Timing::of(&policies, true).unwrap();
        let (left, ends) = timing.told();
        let about = |left: Option<Duration>, hours: u32| {
            let left = left.unwrap();
            assert!(left <= hours * HOUR && left + HOUR / 2 > hours * HOUR);
        };
        about(timing.timeout, 1);
        about(left.request, 1);
        about(left.reply, 2);
        assert!(ends.request.unwrap() < ends.reply.unwrap());
        // The one that could not be later than the other is not told.
        let policies = TimePolicies {
            request_end: end(3),
            ..policies
        };
        let (left, ends) = Timing::of(&policies, true).unwrap().told();
        assert_eq!((left.request, ends.request), (None, None));
        about(left.reply, 2);
    }

    #[test]
    fn what_is_over_is_refused() {
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
