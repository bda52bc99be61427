// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expiry of a request, as sent with it: the time policies of CORBA Messaging (CORBA 3.3
//! Part 1, clause 17.2.5) in the service context INVOCATION_POLICIES, and in orbium's own
//! context.
//!
//! The standard context has absolute times, which require that the clocks of both hosts are
//! synchronized. orbium's has the time remaining when the message is sent. No clock is read here.

pub(crate) mod reply_deadline;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, idl_fixed_struct};

use crate::message::header::u32_from;
pub use reply_deadline::ReplyDeadline;

/// PolicyType of RequestStartTimePolicy.
pub const REQUEST_START_TIME_POLICY: u32 = 27;
/// PolicyType of RequestEndTimePolicy, and of RelativeRequestTimeoutPolicy as it is sent.
pub const REQUEST_END_TIME_POLICY: u32 = 28;
/// PolicyType of ReplyEndTimePolicy, and of RelativeRoundtripTimeoutPolicy as it is sent.
pub const REPLY_END_TIME_POLICY: u32 = 30;

/// From 15 October 1582, the epoch of `TimeBase::TimeT`, to 1970.
const TO_UNIX: u64 = 0x01B2_1DD2_1381_4000;
/// Units of a `TimeBase::TimeT` in a second: they are 100 ns.
const PER_SECOND: u64 = 10_000_000;
/// Maximum number of policies read in one service context.
const MAX_POLICIES: u32 = 64;
/// Octets of a `TimeBase::UtcT` in an encapsulation.
const UTC_LEN: usize = 24;

/// A `TimeBase::TimeT` as an absolute time: units of 100 ns since 15 October 1582, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcTime(pub u64);

impl From<SystemTime> for UtcTime {
    /// Times before 1582 or after 60038 are clamped to the range.
    fn from(time: SystemTime) -> Self {
        Self(match time.duration_since(UNIX_EPOCH) {
            Ok(after) => TO_UNIX.saturating_add(units(after)),
            Err(before) => TO_UNIX.saturating_sub(units(before.duration())),
        })
    }
}

/// A span in units of a `TimeBase::TimeT`, rounded down.
fn units(span: Duration) -> u64 {
    let seconds = span.as_secs().saturating_mul(PER_SECOND);
    seconds.saturating_add(u64::from(span.subsec_nanos() / 100))
}

/// The nanoseconds of a bound in ORBIUM_TIME_LEFT: [`FOR_EVER`] for none, and for one that exceeds them.
#[inline]
fn nanoseconds_of(bound: Option<Duration>) -> u64 {
    let whole = bound.and_then(|it| {
        let seconds = it.as_secs().checked_mul(1_000_000_000)?;
        seconds.checked_add(it.subsec_nanos().into())
    });
    whole.unwrap_or(FOR_EVER)
}

/// The bound represented by that many nanoseconds; `None` for none.
#[inline]
fn bound_of(nanoseconds: u64) -> Option<Duration> {
    (nanoseconds != FOR_EVER).then(|| Duration::from_nanos(nanoseconds))
}

/// So many units of a `TimeBase::TimeT`. At most 58,494 years: seconds and nanoseconds both fit.
pub(super) fn span(units: u64) -> Duration {
    let nanoseconds = (units % PER_SECOND) as u32 * 100;
    Duration::new(units / PER_SECOND, nanoseconds)
}

impl UtcTime {
    /// Converts to system time; `None` if it cannot represent the time.
    #[must_use]
    pub fn to_system_time(self) -> Option<SystemTime> {
        match self.0.checked_sub(TO_UNIX) {
            Some(after) => UNIX_EPOCH.checked_add(span(after)),
            None => UNIX_EPOCH.checked_sub(span(TO_UNIX - self.0)),
        }
    }
}

idl_fixed_struct! {
    /// A point of time, the value of the policies of start and end times (`TimeBase::UtcT`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct UtcT: UTC_TYPE = "IDL:omg.org/TimeBase/UtcT:1.0" {
        /// Units of 100 ns since 15 October 1582, UTC.
        pub time: u64,
        /// The low 32 bits of the inaccuracy.
        pub inacclo: u32,
        /// The high 16 bits of the inaccuracy.
        pub inacchi: u16,
        /// The offset of the sender's time zone from UTC in minutes.
        pub tdf: i16,
    }
}

impl From<UtcTime> for UtcT {
    fn from(time: UtcTime) -> Self {
        Self {
            time: time.0,
            ..Self::default()
        }
    }
}

/// The times after which a request is obsolete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndTimes {
    /// RequestEndTime: the latest delivery of the request.
    pub request: Option<UtcTime>,
    /// ReplyEndTime: the latest arrival of the reply.
    pub reply: Option<UtcTime>,
}

/// The data of a service context, on the stack: a call allocates no memory for it.
#[derive(Clone, Copy, Debug)]
pub struct ContextData {
    octets: [u8; 72],
    len: usize,
}

impl ContextData {
    fn new() -> Self {
        let mut octets = [0; 72];
        octets[0] = ByteOrder::NATIVE.flag();
        Self { octets, len: 8 }
    }

    fn put(&mut self, at: usize, octets: &[u8]) {
        self.octets[at..at + octets.len()].copy_from_slice(octets);
    }

    /// The octets.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

impl EndTimes {
    /// The data of the service context INVOCATION_POLICIES: a
    /// `Messaging::PolicyValueSeq`.
    #[must_use]
    pub fn encode(&self) -> ContextData {
        let mut data = ContextData::new();
        let mut count = 0_u32;
        for (kind, end) in [
            (REQUEST_END_TIME_POLICY, self.request),
            (REPLY_END_TIME_POLICY, self.reply),
        ] {
            let Some(UtcTime(time)) = end else {
                continue;
            };
            // Type, length, and an encapsulation of time, inaccuracy and offset.
            let at = data.len;
            data.put(at, &kind.to_ne_bytes());
            data.put(at + 4, &(UTC_LEN as u32).to_ne_bytes());
            data.put(at + 8, &[ByteOrder::NATIVE.flag()]);
            data.put(at + 16, &time.to_ne_bytes());
            data.len += 8 + UTC_LEN;
            count += 1;
        }
        data.put(4, &count.to_ne_bytes());
        data
    }

    /// Decodes the data. Other policies are ignored.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`]; [`CdrErrorKind::CountTooLarge`] for more
    /// than 64 policies.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let mut ends = Self::default();
        each_policy(data, &mut |kind, value| {
            match kind {
                REQUEST_END_TIME_POLICY => ends.request = Some(utc_time(value)?),
                REPLY_END_TIME_POLICY => ends.reply = Some(utc_time(value)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(ends)
    }
}

/// RequestStartTime in the data of a service context INVOCATION_POLICIES, if present: the request
/// must not be delivered before that time.
///
/// # Errors
/// As [`EndTimes::decode`].
pub fn request_start(data: &[u8]) -> Result<Option<UtcTime>, CdrError> {
    let mut start = None;
    each_policy(data, &mut |kind, value| {
        if kind == REQUEST_START_TIME_POLICY {
            start = Some(utc_time(value)?);
        }
        Ok(())
    })?;
    Ok(start)
}

/// Is given type and value of a policy.
type Visit<'v> = dyn FnMut(u32, &[u8]) -> Result<(), CdrError> + 'v;

/// Visits type and value of each policy of INVOCATION_POLICIES (`Messaging::PolicyValueSeq`).
///
/// # Errors
/// As [`EndTimes::decode`], and those of `visit`.
pub fn each_policy(data: &[u8], visit: &mut Visit<'_>) -> Result<(), CdrError> {
    let values = Values::of(data)?;
    let count = values.u32(4)?;
    if count > MAX_POLICIES {
        return Err(CdrError::new(CdrErrorKind::CountTooLarge, 4));
    }
    let mut at = 8;
    for _ in 0..count {
        let (kind, len) = (values.u32(at)?, values.u32(at + 4)? as usize);
        let value = data.get(at + 8..).and_then(|rest| rest.get(..len));
        visit(kind, value.ok_or_else(|| truncated(data))?)?;
        at = (at + 8 + len).next_multiple_of(4);
    }
    Ok(())
}

/// An encapsulation of numbers, read in place and without allocation.
#[derive(Clone, Copy)]
struct Values<'a> {
    octets: &'a [u8],
    order: ByteOrder,
}

fn truncated(octets: &[u8]) -> CdrError {
    CdrError::new(CdrErrorKind::Truncated, octets.len())
}

impl<'a> Values<'a> {
    fn of(octets: &'a [u8]) -> Result<Self, CdrError> {
        let flag = octets.first().ok_or_else(|| truncated(octets))?;
        let order = ByteOrder::from_flag(*flag);
        Ok(Self { octets, order })
    }

    fn at<const N: usize>(self, at: usize) -> Result<[u8; N], CdrError> {
        let rest = self.octets.get(at..);
        let octets = rest.and_then(|rest| rest.first_chunk());
        octets.copied().ok_or_else(|| truncated(self.octets))
    }

    fn u32(self, at: usize) -> Result<u32, CdrError> {
        Ok(u32_from(self.at(at)?, self.order))
    }

    fn u64(self, at: usize) -> Result<u64, CdrError> {
        let octets = self.at(at)?;
        Ok(match self.order {
            ByteOrder::Big => u64::from_be_bytes(octets),
            ByteOrder::Little => u64::from_le_bytes(octets),
        })
    }
}

/// The time of a `TimeBase::UtcT`. Its inaccuracy and the sender's time zone are ignored.
fn utc_time(value: &[u8]) -> Result<UtcTime, CdrError> {
    if value.len() < UTC_LEN {
        return Err(truncated(value));
    }
    Values::of(value)?.u64(8).map(UtcTime)
}

/// The remaining time of a request when it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLeft {
    /// The time within which the request must be delivered.
    pub request: Option<Duration>,
    /// The time within which the reply must arrive.
    pub reply: Option<Duration>,
}

/// Encodes the absence of a bound.
const FOR_EVER: u64 = u64::MAX;

impl TimeLeft {
    /// The data of the service context ORBIUM_TIME_LEFT: an encapsulation of two unsigned long
    /// longs, in nanoseconds; the maximum value means no bound.
    #[must_use]
    pub fn encode(&self) -> ContextData {
        let mut data = ContextData::new();
        data.put(8, &nanoseconds_of(self.request).to_ne_bytes());
        data.put(16, &nanoseconds_of(self.reply).to_ne_bytes());
        data.len = 24;
        data
    }

    /// Decodes the data.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`].
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let values = Values::of(data)?;
        let bound = |at| Ok(bound_of(values.u64(at)?));
        Ok(Self {
            request: bound(8)?,
            reply: bound(16)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_time_are_those_of_the_system() {
        assert_eq!(UtcTime::from(UNIX_EPOCH), UtcTime(TO_UNIX));
        for seconds in [0, 1, 1_800_000_000] {
            let time = UNIX_EPOCH + Duration::new(seconds, 123_456_700);
            assert_eq!(UtcTime::from(time).to_system_time(), Some(time));
        }
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(UtcTime::from(before), UtcTime(TO_UNIX - PER_SECOND));
        assert_eq!(UtcTime::from(before).to_system_time(), Some(before));
    }

    #[test]
    fn written_times_are_read_back() {
        let (request, reply) = (Some(UtcTime(7)), Some(UtcTime(u64::MAX)));
        for ends in [
            EndTimes::default(),
            EndTimes { request, reply },
            EndTimes {
                request,
                reply: None,
            },
            EndTimes {
                request: None,
                reply,
            },
        ] {
            assert_eq!(EndTimes::decode(ends.encode().as_slice()), Ok(ends));
        }
        for left in [
            TimeLeft::default(),
            TimeLeft {
                request: Some(Duration::ZERO),
                reply: Some(Duration::from_nanos(1_500)),
            },
        ] {
            assert_eq!(TimeLeft::decode(left.encode().as_slice()), Ok(left));
        }
    }

    /// TAO's encoding, most significant octet first: an unknown policy, then a round trip.
    #[test]
    fn the_other_byte_order_and_other_policies_are_understood() {
        let mut data = vec![0, 0, 0, 0, 0, 0, 0, 2];
        data.extend([0, 0, 0, 23, 0, 0, 0, 4, 0, 0, 0, 1]);
        data.extend([0, 0, 0, 30, 0, 0, 0, 24]);
        data.extend([0, 0, 0, 0, 0, 0, 0, 0]);
        data.extend(0x0102_0304_0506_0708_u64.to_be_bytes());
        data.extend([0; 8]);
        let ends = EndTimes::decode(&data).unwrap();
        assert_eq!(ends.request, None);
        assert_eq!(ends.reply, Some(UtcTime(0x0102_0304_0506_0708)));
        assert_eq!(request_start(&data), Ok(None));
        // The same, had the second been a start.
        let mut other = data.clone();
        other[23] = 27;
        let start = request_start(&other).unwrap();
        assert_eq!(start, Some(UtcTime(0x0102_0304_0506_0708)));
        for cut in 0..data.len() {
            assert!(EndTimes::decode(&data[..cut]).is_err(), "{cut}");
        }
        data[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(EndTimes::decode(&data).is_err());
    }
}
