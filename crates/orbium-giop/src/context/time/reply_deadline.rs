// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service contexts of a request with a relative timeout alone, as nearly all requests with a
//! deadline have them: written from a constant, and recognised by it.

use std::time::{Duration, SystemTime};

use orbium_cdr::ByteOrder;

use super::{REPLY_END_TIME_POLICY, UTC_LEN, UtcTime, bound_of, nanoseconds_of, span, units};
use crate::context::service_context::{INVOCATION_POLICIES, ORBIUM_TIME_LEFT};
use crate::message::header::u32_octets;

/// Octets of the list of contexts, from its count.
pub(crate) const CONTEXTS_LEN: usize = 84;
/// Octets of the list with the zeros that pad it before the body.
pub(crate) const PADDED_LEN: usize = CONTEXTS_LEN + 4;
/// Service contexts in the list.
pub(crate) const CONTEXTS: u32 = 2;

/// Offsets of the variable numbers: ReplyEndTime, and the remaining time.
const END: usize = 36;
const LEFT: usize = 76;

/// The list with zeros in their places: INVOCATION_POLICIES with ReplyEndTime, and ORBIUM_TIME_LEFT
/// with the time until the reply.
const LIST: [u8; PADDED_LEN] = {
    let flag = ByteOrder::NATIVE.flag();
    let mut list = [0; PADDED_LEN];
    put(&mut list, 0, CONTEXTS);
    put(&mut list, 4, INVOCATION_POLICIES);
    put(&mut list, 8, 40);
    list[12] = flag;
    put(&mut list, 16, 1);
    put(&mut list, 20, REPLY_END_TIME_POLICY);
    put(&mut list, 24, UTC_LEN as u32);
    list[28] = flag;
    put(&mut list, 52, ORBIUM_TIME_LEFT);
    put(&mut list, 56, 24);
    list[60] = flag;
    // No bound for the delivery of the request: FOR_EVER.
    put(&mut list, 68, u32::MAX);
    put(&mut list, 72, u32::MAX);
    list
};

const fn put(list: &mut [u8; PADDED_LEN], at: usize, value: u32) {
    let octets = u32_octets(value, ByteOrder::NATIVE);
    let mut i = 0;
    while i < octets.len() {
        list[at + i] = octets[i];
        i += 1;
    }
}

/// The deadline of a reply, as its request carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyDeadline {
    end: UtcTime,
    /// Nanoseconds; [`FOR_EVER`](super::FOR_EVER) means no bound.
    left: u64,
}

impl ReplyDeadline {
    /// A deadline of `left` after `now`.
    #[must_use]
    #[inline]
    pub fn new(now: SystemTime, left: Duration) -> Self {
        Self {
            end: UtcTime(UtcTime::from(now).0.saturating_add(units(left))),
            left: nanoseconds_of(Some(left)),
        }
    }

    /// The time from `now` to the ReplyEndTime of the request; zero if that has passed.
    #[must_use]
    #[inline]
    pub fn until_end(&self, now: SystemTime) -> Duration {
        span(self.end.0.saturating_sub(UtcTime::from(now).0))
    }

    /// The time that remained at the sender; `None` for no bound.
    #[must_use]
    #[inline]
    pub fn left(&self) -> Option<Duration> {
        bound_of(self.left)
    }

    /// Writes the list of contexts in the byte order of this machine.
    #[inline(always)]
    pub(crate) fn write(&self, room: &mut [u8; PADDED_LEN]) {
        *room = LIST;
        room[END..END + 8].copy_from_slice(&self.end.0.to_ne_bytes());
        room[LEFT..LEFT + 8].copy_from_slice(&self.left.to_ne_bytes());
    }

    /// Decodes a list of this form; `None` for any other.
    #[inline(always)]
    pub(crate) fn read(list: &[u8; CONTEXTS_LEN]) -> Option<Self> {
        let (head, middle) = (&list[..END], &list[END + 8..LEFT]);
        if head != &LIST[..END] || middle != &LIST[END + 8..LEFT] {
            return None;
        }
        Some(Self {
            end: UtcTime(u64::from_ne_bytes(*list[END..].first_chunk()?)),
            left: u64::from_ne_bytes(*list[LEFT..].first_chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use orbium_cdr::{CdrReader, CdrWriter, Format};

    use super::*;
    use crate::context::service_context::{ServiceContext, ServiceContexts, write_list};
    use crate::time::{EndTimes, TimeLeft};

    const NOW: Duration = Duration::new(1_800_000_000, 123_456_700);

    fn written(deadline: ReplyDeadline) -> [u8; PADDED_LEN] {
        let mut room = [7; PADDED_LEN];
        deadline.write(&mut room);
        room
    }

    #[test]
    fn the_contexts_are_those_of_any_deadline() {
        for left in [Duration::from_millis(1500), Duration::ZERO, Duration::MAX] {
            let deadline = ReplyDeadline::new(UNIX_EPOCH + NOW, left);
            let ends = EndTimes {
                request: None,
                reply: Some(deadline.end),
            };
            let time_left = TimeLeft {
                request: None,
                reply: Some(left),
            };
            let (ends, time_left) = (ends.encode(), time_left.encode());
            let mut writer = CdrWriter::new(Format::native());
            let context = |id, data| ServiceContext { id, data };
            let contexts = [
                context(INVOCATION_POLICIES, ends.as_slice()),
                context(ORBIUM_TIME_LEFT, time_left.as_slice()),
            ];
            write_list(&mut writer, &contexts);
            let mut expected = writer.finish().unwrap();
            assert_eq!(expected.len(), CONTEXTS_LEN);
            let list = written(deadline);
            assert_eq!(list[CONTEXTS_LEN..], [0; 4]);
            assert_eq!(list[..CONTEXTS_LEN], expected);
            assert_eq!(
                ReplyDeadline::read(list.first_chunk().unwrap()),
                Some(deadline)
            );
            let mut reader = CdrReader::new(&mut expected, Format::native());
            assert_eq!(
                ServiceContexts::read(&mut reader).unwrap().len() as u32,
                CONTEXTS
            );
        }
    }

    #[test]
    fn lists_that_differ_are_not_recognised() {
        let list = written(ReplyDeadline::new(UNIX_EPOCH + NOW, NOW));
        let list: &[u8; CONTEXTS_LEN] = list.first_chunk().unwrap();
        for at in (0..END).chain(END + 8..LEFT) {
            let mut other = *list;
            other[at] ^= 1;
            assert_eq!(ReplyDeadline::read(&other), None, "{at}");
        }
    }

    #[test]
    fn the_time_left_is_that_of_either_clock() {
        let now = UNIX_EPOCH + NOW;
        let deadline = ReplyDeadline::new(now, Duration::from_secs(2));
        assert_eq!(deadline.left(), Some(Duration::from_secs(2)));
        let later = now + Duration::from_millis(500);
        assert_eq!(deadline.until_end(later), Duration::from_millis(1500));
        assert_eq!(
            deadline.until_end(now + Duration::from_secs(3)),
            Duration::ZERO
        );
        assert_eq!(ReplyDeadline::new(now, Duration::MAX).left(), None);
    }
}
