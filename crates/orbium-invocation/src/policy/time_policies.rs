// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time policies of calls, as in CORBA Messaging (CORBA 3.3 Part 1, clause 17.2.5).

use std::time::{Duration, SystemTime};

/// Time limits of calls. Policies that are not set are those of the next wider scope: reference,
/// thread, ORB.
///
/// The whole call counts: waiting for a connection, connecting, sending, the server's queues, the
/// servant, and retries. The deadlines are sent with the request, and an orbium server does not
/// begin a late request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimePolicies {
    /// RelativeRoundtripTimeout: maximum time from the call to its reply.
    pub roundtrip_timeout: Option<Duration>,
    /// RelativeRequestTimeout: maximum time from the call to the delivery of the request to its
    /// servant, which only the server can check.
    pub request_timeout: Option<Duration>,
    /// RequestEndTime: the deadline of the delivery of the request to its servant.
    pub request_end: Option<SystemTime>,
    /// ReplyEndTime: the deadline of the reply.
    pub reply_end: Option<SystemTime>,
    /// RequestStartTime: the earliest time of sending. The caller waits.
    pub request_start: Option<SystemTime>,
    /// ReplyStartTime: the earliest time of the reply to the caller.
    pub reply_start: Option<SystemTime>,
}

impl TimePolicies {
    /// No limits.
    pub const NONE: Self = Self {
        roundtrip_timeout: None,
        request_timeout: None,
        request_end: None,
        reply_end: None,
        request_start: None,
        reply_start: None,
    };

    /// Whether there are no limits.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.roundtrip_timeout.is_none()
            && self.request_timeout.is_none()
            && self.request_end.is_none()
            && self.reply_end.is_none()
            && self.request_start.is_none()
            && self.reply_start.is_none()
    }

    /// Whether RelativeRoundtripTimeout is the only limit.
    #[must_use]
    pub fn is_roundtrip_timeout(&self) -> bool {
        let others = Self {
            roundtrip_timeout: None,
            ..*self
        };
        self.roundtrip_timeout.is_some() && others.is_none()
    }

    /// These policies, completed by those of `wider`.
    #[must_use]
    pub fn or(self, wider: Self) -> Self {
        Self {
            roundtrip_timeout: self.roundtrip_timeout.or(wider.roundtrip_timeout),
            request_timeout: self.request_timeout.or(wider.request_timeout),
            request_end: self.request_end.or(wider.request_end),
            reply_end: self.reply_end.or(wider.reply_end),
            request_start: self.request_start.or(wider.request_start),
            reply_start: self.reply_start.or(wider.reply_start),
        }
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
        assert!(narrow.is_roundtrip_timeout() && !both.is_roundtrip_timeout());
        assert!(!TimePolicies::NONE.is_roundtrip_timeout());
        assert_eq!(both.roundtrip_timeout, Some(HOUR));
        assert_eq!(both.request_timeout, Some(3 * HOUR));
    }
}
