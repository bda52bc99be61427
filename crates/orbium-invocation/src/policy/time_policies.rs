// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time policies of calls, as in CORBA Messaging (CORBA 3.3 Part 1, clause 17.2.5).

use std::time::{Duration, SystemTime};

/// Time limits of calls. Each policy that is not set is that of the next wider scope:
/// reference, thread, ORB.
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
    /// RequestStartTime: the request is not sent before. The caller waits.
    pub request_start: Option<SystemTime>,
    /// ReplyStartTime: the caller does not have the reply before.
    pub reply_start: Option<SystemTime>,
}

impl TimePolicies {
    /// Nothing is bounded.
    pub const NONE: Self = Self {
        roundtrip_timeout: None,
        request_timeout: None,
        request_end: None,
        reply_end: None,
        request_start: None,
        reply_start: None,
    };

    /// Whether nothing is bounded.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.roundtrip_timeout.is_none()
            && self.request_timeout.is_none()
            && self.request_end.is_none()
            && self.reply_end.is_none()
            && self.request_start.is_none()
            && self.reply_start.is_none()
    }

    /// Whether there is a RelativeRoundtripTimeout and nothing else.
    #[must_use]
    pub fn is_roundtrip_timeout(&self) -> bool {
        let others = Self {
            roundtrip_timeout: None,
            ..*self
        };
        self.roundtrip_timeout.is_some() && others.is_none()
    }

    /// These, and of the others what these do not say.
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
