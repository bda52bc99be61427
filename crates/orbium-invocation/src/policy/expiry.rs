// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expiry of a request: the time after which its client no longer waits for the reply.

use std::time::{Instant, SystemTime};

use orbium_giop::time::{EndTimes, ReplyDeadline, TimeLeft, UtcTime, request_start};
use orbium_giop::{Completion, ExceptionKind, ServiceContexts, SystemException, service_context};
use orbium_transport::{Deadline, Peer};

use crate::policy::router_policies::RouterPolicies;
use crate::policy::timing::Timing;

/// Minor codes of TIMEOUT (CORBA 3.3 Part 1, annex A).
const REQUEST_ENDED: u32 = 2;
const REPLY_ENDED: u32 = 3;

/// The time after which a request must not be begun.
#[derive(Clone, Copy, Debug)]
pub struct Expiry {
    deadline: Deadline,
    /// The minor code of its TIMEOUT.
    minor: u32,
}

impl Expiry {
    /// No expiry.
    pub const NEVER: Self = Self {
        deadline: Deadline::NEVER,
        minor: REPLY_ENDED,
    };

    /// The expiry from the contexts of a request that has arrived now. Absolute times are used if
    /// the client has the same clock; otherwise remaining times take precedence.
    ///
    /// # Errors
    /// MARSHAL, for malformed contexts; INV_POLICY, completed NO, for empty ranges, unknown orders
    /// and policies that require a router, and for a request before its start time. Clients of
    /// orbium apply start times themselves. Holding requests of other clients here would block a
    /// thread for as long as the client chooses.
    #[cold]
    pub fn of(
        contexts: &ServiceContexts<'_>,
        peer: Option<&Peer>,
    ) -> Result<Self, SystemException> {
        let malformed = |error| SystemException::from_cdr(error, Completion::No);
        let left = match contexts.find(service_context::ORBIUM_TIME_LEFT) {
            Some(data) => Some(TimeLeft::decode(data).map_err(malformed)?),
            None => None,
        };
        let mut ends = None;
        if let Some(data) = contexts.find(service_context::INVOCATION_POLICIES) {
            if is_to_come(request_start(data).map_err(malformed)?) {
                return Err(invalid_policy());
            }
            ends = Some(EndTimes::decode(data).map_err(malformed)?);
            let routers = RouterPolicies::decode(data).map_err(malformed)?;
            if routers.unsatisfiable().next().is_some() {
                return Err(invalid_policy());
            }
        }
        Ok(match (ends, left) {
            (Some(ends), None) => Self::at(ends),
            (Some(ends), Some(_)) if shares_clock(peer) => Self::at(ends),
            (_, Some(left)) => {
                Self::earlier(Deadline::after(left.request), Deadline::after(left.reply))
            }
            (None, None) => Self::NEVER,
        })
    }

    /// As [`of`](Self::of), for a request with that deadline only.
    #[must_use]
    pub fn of_reply(deadline: ReplyDeadline, peer: &Peer) -> Self {
        let left = if shares_clock(Some(peer)) {
            Some(deadline.until_end(SystemTime::now()))
        } else {
            deadline.left()
        };
        Self {
            deadline: Deadline::after(left),
            minor: REPLY_ENDED,
        }
    }

    fn at(ends: EndTimes) -> Self {
        Self::earlier(until(ends.request), until(ends.reply))
    }

    fn earlier(request: Deadline, reply: Deadline) -> Self {
        let deadline = request.earlier(reply);
        let minor = if deadline == reply {
            REPLY_ENDED
        } else {
            REQUEST_ENDED
        };
        Self { deadline, minor }
    }

    /// The expiry of a request without a message, from the times of its call.
    #[must_use]
    pub fn of_call(timing: &Timing) -> Self {
        if timing.is_propagated {
            Self::earlier(timing.sending, timing.reply)
        } else {
            Self::NEVER
        }
    }

    /// The earlier of this expiry and that time.
    #[must_use]
    pub fn at_latest(self, end: Instant) -> Self {
        let end = Deadline::at(end);
        if self.deadline.earlier(end) == self.deadline {
            self
        } else {
            Self {
                deadline: end,
                minor: REQUEST_ENDED,
            }
        }
    }

    /// The deadline.
    #[inline]
    pub const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Checks that the request has not expired.
    ///
    /// # Errors
    /// TIMEOUT, completed NO.
    #[inline(always)]
    pub fn check(&self) -> Result<(), SystemException> {
        match self.deadline.instant() {
            None => Ok(()),
            Some(end) => self.check_clock(end),
        }
    }

    #[cold]
    fn check_clock(&self, end: Instant) -> Result<(), SystemException> {
        if Instant::now() < end {
            Ok(())
        } else {
            Err(self.exception())
        }
    }

    /// The exception for an expired request.
    #[cold]
    pub const fn exception(&self) -> SystemException {
        SystemException::omg(ExceptionKind::Timeout, self.minor, Completion::No)
    }
}

/// The exception for a request with a policy that does not apply to this server.
fn invalid_policy() -> SystemException {
    SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No)
}

/// A point of time by the monotonic clock.
fn until(end: Option<UtcTime>) -> Deadline {
    // A time out of range is in the far future.
    let Some(end) = end.and_then(UtcTime::to_system_time) else {
        return Deadline::NEVER;
    };
    let left = end.duration_since(SystemTime::now());
    Deadline::after(Some(left.unwrap_or_default()))
}

/// Whether a point of time is in the future.
fn is_to_come(start: Option<UtcTime>) -> bool {
    start.is_some_and(|start| start > UtcTime::from(SystemTime::now()))
}

/// Whether the client of a request reads the same clock.
fn shares_clock(peer: Option<&Peer>) -> bool {
    match peer {
        None | Some(Peer::InProcess | Peer::Process { .. }) => true,
        Some(Peer::Internet(address) | Peer::Authenticated { address, .. }) => {
            address.ip().is_loopback()
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Format};

    use super::*;

    /// The expiry of a request with these contexts.
    fn expiry(contexts: &[(u32, &[u8])], peer: Option<&Peer>) -> Result<Expiry, SystemException> {
        let format = Format::plain(ByteOrder::NATIVE, 2);
        let mut writer = CdrWriter::new(format);
        writer.write_count(contexts.len());
        for (id, data) in contexts {
            writer.write_u32(*id);
            writer.write_octets(data);
        }
        let mut octets = writer.finish().unwrap();
        let mut reader = CdrReader::new(&mut octets, format);
        Expiry::of(&ServiceContexts::read(&mut reader).unwrap(), peer)
    }

    fn peer(address: &str) -> Option<Peer> {
        Some(Peer::Internet(address.parse().unwrap()))
    }

    #[test]
    fn the_time_left_goes_before_another_clock_and_ours_before_the_time_left() {
        let passed = EndTimes {
            reply: Some(UtcTime::from(SystemTime::UNIX_EPOCH)),
            request: None,
        };
        let left = TimeLeft {
            request: Some(Duration::from_secs(3600)),
            reply: None,
        };
        let (passed, left) = (passed.encode(), left.encode());
        let both = [
            (service_context::INVOCATION_POLICIES, passed.as_slice()),
            (service_context::ORBIUM_TIME_LEFT, left.as_slice()),
        ];
        let of = |contexts, at: &str| expiry(contexts, peer(at).as_ref()).unwrap();
        assert!(of(&both, "192.0.2.1:5").check().is_ok());
        let refused = of(&both, "127.0.0.1:5").check().unwrap_err();
        assert_eq!(
            (refused.kind, refused.completed),
            (ExceptionKind::Timeout, Completion::No)
        );
        assert!(of(&both[..1], "192.0.2.1:5").check().is_err());
        assert!(of(&both[1..], "127.0.0.1:5").check().is_ok());
        assert!(of(&[], "192.0.2.1:5").check().is_ok());
    }

    #[test]
    fn a_reply_deadline_alone_means_the_same_as_its_contexts() {
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        for (now, left, here, elsewhere) in [
            (SystemTime::now(), hour, true, true),
            (SystemTime::now() - 2 * hour, hour, false, true),
            (SystemTime::now(), Duration::ZERO, false, false),
        ] {
            let deadline = ReplyDeadline::new(now, left);
            let of = |at: &str| Expiry::of_reply(deadline, &peer(at).unwrap());
            for (at, is_in_time) in [("127.0.0.1:5", here), ("192.0.2.1:5", elsewhere)] {
                assert_eq!(of(at).check().is_ok(), is_in_time, "{at}");
                assert_eq!(of(at).minor, REPLY_ENDED);
            }
            let latest = Instant::now() + hour + second;
            assert!(of("127.0.0.1:5").deadline().instant() < Some(latest));
        }
        let never = ReplyDeadline::new(SystemTime::now(), Duration::MAX);
        let never = Expiry::of_reply(never, &peer("192.0.2.1:5").unwrap());
        assert_eq!(never.deadline(), Deadline::NEVER);
    }

    #[test]
    fn malformed_times_are_refused() {
        for id in [
            service_context::INVOCATION_POLICIES,
            service_context::ORBIUM_TIME_LEFT,
        ] {
            let refused = expiry(&[(id, &[1, 2, 3])], peer("192.0.2.1:5").as_ref());
            assert_eq!(refused.unwrap_err().kind, ExceptionKind::Marshal);
        }
    }
}
