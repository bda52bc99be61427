// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frames of one stream out of datagrams, in buffers of a pool.

use std::io;

use crate::datagram::{Fragment, Seen, Statistics, Window};
use orbium_transport::Peer;

use crate::frame::MediaFrame;
use crate::pool::Buffer;
use crate::slot::{Arrival, FIRST, Facts, Inserted, Slot, Unfit, arrival, datagram_room};

#[derive(Debug)]
pub(crate) struct Assembly {
    stream: u32,
    frame_size: usize,
    window: Window,
    slots: Box<[Slot]>,
    /// The slot of the frame that the last datagram belonged to.
    current: usize,
    /// Datagrams that were discarded.
    pub(crate) refused: u64,
    /// Octets moved within or between buffers.
    pub(crate) copied: u64,
}

/// Outcome of a datagram in a spare buffer.
pub(crate) enum Accepted {
    /// A frame is complete; the spare buffer is part of it, or in use, or returned.
    Frame(MediaFrame, Option<Buffer>),
    /// No frame is complete; the spare buffer, unless it is in use.
    Nothing(Option<Buffer>),
}

impl Assembly {
    pub(crate) fn new(stream: u32, frame_size: usize, incomplete: usize) -> Self {
        Self {
            stream,
            frame_size,
            window: Window::new(),
            slots: (0..incomplete).map(|_| Slot::new(frame_size)).collect(),
            current: 0,
            refused: 0,
            copied: 0,
        }
    }

    pub(crate) const fn statistics(&self) -> Statistics {
        self.window.statistics()
    }

    /// Receives a datagram: into its place if that is known, otherwise into `spare`.
    pub(crate) fn receive(
        &mut self,
        spare: &mut Buffer,
        receive: impl FnOnce(&mut [u8]) -> io::Result<(usize, Peer)>,
    ) -> io::Result<Arrival> {
        let Some(slot) = self
            .slots
            .get_mut(self.current)
            .filter(|slot| slot.expects())
        else {
            let room = datagram_room(self.frame_size);
            return arrival(receive(&mut spare[..room])?, room);
        };
        let arrival = slot.receive_in_place(spare, receive)?;
        if let Arrival::Spare(len) = arrival {
            self.copied += len as u64;
        }
        Ok(arrival)
    }

    /// Processes the fragment that was received in its place.
    pub(crate) fn accept_in_place(&mut self, facts: Facts) -> Option<MediaFrame> {
        // Open: the window contains the frame of a slot.
        self.window.see(facts.header.sequence);
        let inserted = self.slots[self.current].insert_in_place(facts);
        self.finish(self.current, inserted)
    }

    /// Takes the datagram of `len` octets in `spare`.
    pub(crate) fn accept(&mut self, spare: Buffer, len: usize) -> Accepted {
        let Some(facts) = self.facts(&spare[..len]) else {
            self.refused += 1;
            return Accepted::Nothing(Some(spare));
        };
        let sequence = facts.header.sequence;
        match self.window.see(sequence) {
            Seen::Open => self.drop_fallen(),
            Seen::Restarted => self.drop_all(),
            Seen::Duplicate | Seen::Stale => return Accepted::Nothing(Some(spare)),
        }
        let found = self.find(sequence);
        if facts.count == 1 {
            if let Some(at) = found {
                self.slots[at].clear();
            }
            let standing = self.window.deliver(sequence);
            let payload = FIRST..FIRST + facts.len;
            let frame = MediaFrame::new(spare, payload, facts.header, standing);
            return Accepted::Frame(frame, None);
        }
        if let Some(at) = found {
            let payload = &spare[FIRST..FIRST + facts.len];
            let inserted = self.slots[at].insert(facts, payload);
            self.copied += facts.len as u64;
            return match self.finish(at, inserted) {
                Some(frame) => Accepted::Frame(frame, Some(spare)),
                None => Accepted::Nothing(Some(spare)),
            };
        }
        let at = self.vacant(sequence);
        if facts.index != 0 {
            self.copied += facts.len as u64;
        }
        self.current = at;
        if self.slots[at].begin(spare, facts).is_err() {
            self.refuse(at, sequence);
        }
        Accepted::Nothing(None)
    }

    /// The header fields of a datagram, if it can be used.
    fn facts(&self, datagram: &[u8]) -> Option<Facts> {
        // A datagram that fills the room may have been truncated.
        if datagram.len() >= datagram_room(self.frame_size) {
            return None;
        }
        let fragment = Fragment::parse(datagram).ok()?;
        let is_ours = fragment.header.stream == self.stream;
        let fits = fragment.payload.len() <= self.frame_size
            && (fragment.count == 1 || usize::from(fragment.count) <= self.frame_size);
        (is_ours && fits).then(|| Facts::from(&fragment))
    }

    /// Processes the result of inserting a fragment into the frame of a slot.
    fn finish(&mut self, at: usize, inserted: Result<Inserted, Unfit>) -> Option<MediaFrame> {
        self.current = at;
        match inserted {
            Ok(Inserted::Incomplete) => None,
            Ok(Inserted::Again) => {
                self.window.repeat();
                None
            }
            Ok(Inserted::Complete) => {
                let (buffer, payload, header) = self.slots[at].take()?;
                let standing = self.window.deliver(header.sequence);
                Some(MediaFrame::new(buffer, payload, header, standing))
            }
            Err(Unfit) => {
                if let Some(sequence) = self.slots[at].sequence() {
                    self.refuse(at, sequence);
                }
                None
            }
        }
    }

    /// Discards a frame after a fragment that does not match it.
    fn refuse(&mut self, at: usize, sequence: u32) {
        self.refused += 1;
        self.slots[at].clear();
        self.window.give_up(sequence);
    }

    fn find(&self, sequence: u32) -> Option<usize> {
        let mut slots = self.slots.iter();
        slots.position(|slot| slot.sequence() == Some(sequence))
    }

    /// A slot for a new frame; if none is free, the oldest frame is discarded.
    fn vacant(&mut self, sequence: u32) -> usize {
        let mut slots = self.slots.iter();
        if let Some(free) = slots.position(|slot| slot.sequence().is_none()) {
            return free;
        }
        let kept = self.slots.iter().filter_map(Slot::sequence);
        let oldest = self.window.oldest(kept).unwrap_or(sequence);
        self.window.give_up(oldest);
        let at = self.find(oldest).unwrap_or(0);
        self.slots[at].clear();
        at
    }

    /// Discards the frames outside the window, which are counted as lost.
    fn drop_fallen(&mut self) {
        for slot in &mut self.slots {
            if slot.sequence().is_some_and(|kept| !self.window.holds(kept)) {
                slot.clear();
            }
        }
    }

    fn drop_all(&mut self) {
        let kept = self.slots.iter().filter_map(Slot::sequence).count();
        self.window.lose(kept);
        self.slots.iter_mut().for_each(Slot::clear);
    }
}
