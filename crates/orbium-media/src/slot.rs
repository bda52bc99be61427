// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly of a frame in its buffer, for any order of its fragments.
//!
//! All fragments but the last have the same length, so the place of each is known as soon as the
//! length is. A last fragment that arrives first is kept at the end of the buffer. While fragments
//! arrive in order, each is received in its final place: its header overwrites the end of the
//! previous one, which is restored afterwards.

use std::io;
use std::ops::Range;

use crate::datagram::{FRAME_HEADER_LEN, Fragment, FrameHeader};
use orbium_transport::Peer;

use crate::pool::Buffer;

/// Octets of the largest datagram.
const MAX_DATAGRAM_LENGTH: usize = 1 << 16;

/// Offset of the payload of a frame: after the header with which it arrived.
pub(crate) const FIRST: usize = FRAME_HEADER_LEN;

const BITS: usize = u64::BITS as usize;

/// Octets of the room for a datagram: enough for any within the limit, and one more to detect that
/// it is too large.
pub(crate) const fn datagram_room(frame_size: usize) -> usize {
    let room = FIRST + frame_size + 1;
    if room < MAX_DATAGRAM_LENGTH {
        room
    } else {
        MAX_DATAGRAM_LENGTH
    }
}

/// Octets of a buffer: a frame, and a datagram after all but its last octet.
pub(crate) const fn buffer_len(frame_size: usize) -> usize {
    FIRST + frame_size + datagram_room(frame_size)
}

/// The header fields of a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) header: FrameHeader,
    pub(crate) index: u16,
    pub(crate) count: u16,
    /// Octets of the payload.
    pub(crate) len: usize,
}

impl From<&Fragment<'_>> for Facts {
    fn from(fragment: &Fragment<'_>) -> Self {
        Self {
            header: fragment.header,
            index: fragment.index,
            count: fragment.count,
            len: fragment.payload.len(),
        }
    }
}

impl Facts {
    const fn is_last(&self) -> bool {
        self.index + 1 == self.count
    }
}

/// The result of inserting a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// A duplicate.
    Again,
    /// Others lack.
    Incomplete,
    /// It was all that lacked.
    Complete,
}

/// The fragment does not match the others, or the frame would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

/// The place to which a datagram was received.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    /// The end of the data.
    End,
    /// In the spare buffer: that many octets of it.
    Spare(usize),
    /// In the expected place.
    InPlace(Facts),
}

/// Room for a frame of which some fragments have arrived.
#[derive(Debug)]
pub(crate) struct Slot {
    frame_size: usize,
    growing: Option<Growing>,
    /// The fragments that have arrived, a bit each.
    came: Box<[u64]>,
}

#[derive(Debug)]
struct Growing {
    buffer: Buffer,
    header: FrameHeader,
    count: u16,
    have: u16,
    /// Length of each fragment but the last; 0 while it is unknown.
    part: usize,
    /// Length of the last one; 0 while it is unknown.
    last: usize,
    /// Whether all have arrived in order so far.
    in_order: bool,
}

impl Slot {
    /// For frames up to that many octets.
    pub(crate) fn new(frame_size: usize) -> Self {
        // A fragment has an octet at least.
        let fragments = frame_size.min(usize::from(u16::MAX));
        Self {
            frame_size,
            growing: None,
            came: vec![0; fragments.div_ceil(BITS)].into_boxed_slice(),
        }
    }

    /// The number of the frame, if there is one.
    pub(crate) fn sequence(&self) -> Option<u32> {
        self.growing.as_ref().map(|frame| frame.header.sequence)
    }

    /// Discards the frame.
    pub(crate) fn clear(&mut self) {
        self.growing = None;
    }

    /// The complete frame: its buffer, and the range in it.
    pub(crate) fn take(&mut self) -> Option<(Buffer, Range<usize>, FrameHeader)> {
        let frame = self.growing.take()?;
        let end = FIRST + frame.len();
        Some((frame.buffer, FIRST..end, frame.header))
    }

    /// Begins a frame of several fragments with the one in `buffer`.
    pub(crate) fn begin(&mut self, buffer: Buffer, facts: Facts) -> Result<(), Unfit> {
        let mut frame = Growing {
            buffer,
            header: facts.header,
            count: facts.count,
            have: 0,
            part: 0,
            last: 0,
            in_order: true,
        };
        frame.learn(facts, self.frame_size)?;
        let to = frame.place(facts);
        if to != FIRST {
            frame.buffer.copy_within(FIRST..FIRST + facts.len, to);
        }
        self.came[..usize::from(facts.count).div_ceil(BITS)].fill(0);
        self.growing = Some(frame);
        self.mark(facts.index);
        Ok(())
    }

    /// Copies another fragment to its place.
    pub(crate) fn insert(&mut self, facts: Facts, payload: &[u8]) -> Result<Inserted, Unfit> {
        let frame = self.growing.as_mut().ok_or(Unfit)?;
        if frame.header != facts.header || frame.count != facts.count {
            return Err(Unfit);
        }
        let index = usize::from(facts.index);
        if self.came[index / BITS] & 1 << (index % BITS) != 0 {
            return Ok(Inserted::Again);
        }
        let last_waits = frame.part == 0;
        frame.learn(facts, self.frame_size)?;
        if last_waits && frame.part != 0 {
            let end = frame.buffer.len();
            let to = FIRST + (usize::from(frame.count) - 1) * frame.part;
            frame.buffer.copy_within(end - frame.last..end, to);
        }
        let to = frame.place(facts);
        frame.buffer[to..to + facts.len].copy_from_slice(payload);
        Ok(self.mark(facts.index))
    }

    /// Records a fragment that was received in its place.
    pub(crate) fn insert_in_place(&mut self, facts: Facts) -> Result<Inserted, Unfit> {
        let frame = self.growing.as_mut().ok_or(Unfit)?;
        frame.learn(facts, self.frame_size)?;
        Ok(self.mark(facts.index))
    }

    /// Whether the next fragment is expected at a known place.
    pub(crate) fn expects(&self) -> bool {
        self.growing.as_ref().is_some_and(|frame| frame.in_order)
    }

    /// Receives a datagram at the place of the next fragment. If it is another one, it is moved to
    /// `spare`.
    pub(crate) fn receive_in_place(
        &mut self,
        spare: &mut Buffer,
        receive: impl FnOnce(&mut [u8]) -> io::Result<(usize, Peer)>,
    ) -> io::Result<Arrival> {
        let room = datagram_room(self.frame_size);
        let Some(frame) = &mut self.growing else {
            return arrival(receive(&mut spare[..room])?, room);
        };
        let from = usize::from(frame.have) * frame.part;
        let mut before = [0; FIRST];
        before.copy_from_slice(&frame.buffer[from..from + FIRST]);
        let received = receive(&mut frame.buffer[from..from + room]);
        let arrival = received.and_then(|received| arrival(received, room));
        let arrival = arrival.map(|arrival| match arrival {
            Arrival::Spare(len) => match frame.next_in(&frame.buffer[from..from + len]) {
                Some(facts) => Arrival::InPlace(facts),
                None => {
                    spare[..len].copy_from_slice(&frame.buffer[from..from + len]);
                    Arrival::Spare(len)
                }
            },
            other => other,
        });
        frame.buffer[from..from + FIRST].copy_from_slice(&before);
        arrival
    }

    fn mark(&mut self, index: u16) -> Inserted {
        let Some(frame) = &mut self.growing else {
            return Inserted::Incomplete;
        };
        self.came[usize::from(index) / BITS] |= 1 << (usize::from(index) % BITS);
        frame.in_order &= index == frame.have;
        frame.have += 1;
        if frame.have == frame.count {
            Inserted::Complete
        } else {
            Inserted::Incomplete
        }
    }
}

/// The result of a receive into a room of that size.
pub(crate) fn arrival((len, peer): (usize, Peer), room: usize) -> io::Result<Arrival> {
    match (len, peer) {
        (0, Peer::Unknown) => Ok(Arrival::End),
        _ => Ok(Arrival::Spare(len.min(room))),
    }
}

impl Growing {
    /// Octets, as far as they are known.
    fn len(&self) -> usize {
        (usize::from(self.count) - 1) * self.part.max(1) + self.last.max(1)
    }

    /// Learns from a fragment how long they are.
    fn learn(&mut self, facts: Facts, frame_size: usize) -> Result<(), Unfit> {
        if facts.len == 0 {
            return Err(Unfit);
        }
        if facts.is_last() {
            self.last = facts.len;
        } else if self.part == 0 {
            self.part = facts.len;
        } else if self.part != facts.len {
            return Err(Unfit);
        }
        if self.part != 0 && self.last > self.part || self.len() > frame_size {
            return Err(Unfit);
        }
        Ok(())
    }

    /// The place of the payload of a fragment.
    fn place(&self, facts: Facts) -> usize {
        if self.part == 0 {
            self.buffer.len() - facts.len
        } else {
            FIRST + usize::from(facts.index) * self.part
        }
    }

    /// The fragment in a datagram, if it is the next one.
    fn next_in(&self, datagram: &[u8]) -> Option<Facts> {
        let facts = Facts::from(&Fragment::parse(datagram).ok()?);
        let is_next = facts.header == self.header
            && (facts.index, facts.count) == (self.have, self.count)
            && (facts.len == self.part || facts.is_last() && facts.len < self.part);
        is_next.then_some(facts)
    }
}
