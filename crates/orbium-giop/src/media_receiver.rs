// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames out of datagrams that may come in any order, or never.

use crate::media::{Fragment, FrameHeader, MediaError};
use crate::parts::{Inconsistent, Parts};

/// Frames behind the latest one that may still come.
const WINDOW: u32 = 64;
/// A frame that many numbers ahead does not mean that all between are lost.
const MAX_STEP: u32 = 1 << 15;
/// Datagrams in a row from behind the window, or from nowhere near it, after
/// which the sender is believed to have begun anew.
const STALE_RUN: u32 = 16;

/// What a sender may make us keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverLimits {
    /// Octets of one frame.
    pub frame: usize,
    /// Frames that are incomplete at the same time.
    pub frames: usize,
    /// Octets of all incomplete frames; each fragment counts 64 more.
    pub total: usize,
}

impl Default for ReceiverLimits {
    /// 4 MiB a frame, 8 frames, 8 MiB in all.
    fn default() -> Self {
        Self {
            frame: 4 << 20,
            frames: 8,
            total: 8 << 20,
        }
    }
}

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What is said of it.
    pub header: FrameHeader,
    /// What it carries.
    pub payload: &'a [u8],
    /// Frames between this one and the latest before it, none of them complete
    /// so far: they are late, or lost.
    pub missing: u32,
    /// Whether a later frame was delivered before it.
    pub is_late: bool,
}

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// It was all that a frame lacked, or all of it.
    Frame(Frame<'a>),
    /// Its frame lacks others.
    Incomplete,
    /// It was there before, or its frame was delivered or given up.
    Duplicate,
    /// Its frame is too far behind the others, or too far ahead of them.
    Stale,
}

/// What has happened to a stream so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Frames delivered.
    pub frames: u64,
    /// Frames given up, so that they will not be delivered any more. Frames of
    /// which nothing came count once 64 later ones have been seen.
    pub lost: u64,
    /// Datagrams that came again.
    pub duplicates: u64,
    /// Frames delivered after a later one.
    pub late: u64,
    /// Datagrams of frames that were given up, or of such a distance.
    pub stale: u64,
    /// How often the sender has begun anew.
    pub restarts: u64,
}

#[derive(Debug)]
struct Partial {
    header: FrameHeader,
    parts: Parts,
}

/// Puts the frames of one stream together and keeps account of them. It has no
/// clock: what is late is judged by the numbers of the frames.
#[derive(Debug)]
pub struct Receiver {
    stream: u32,
    limits: ReceiverLimits,
    /// The latest number seen.
    latest: Option<u32>,
    /// The latest number delivered.
    delivered: Option<u32>,
    /// Bit n: the frame n before the latest is settled, delivered or lost.
    settled: u64,
    partial: Vec<Partial>,
    octets: usize,
    stale_run: u32,
    assembled: Vec<u8>,
    statistics: Statistics,
}

/// Where a number lies.
enum Place {
    /// After the latest, by that much.
    Ahead(u32),
    /// Before the latest, within the window; or the latest itself.
    Within(u32),
    /// Before the window.
    Behind,
    /// Nowhere near.
    Elsewhere,
}

impl Receiver {
    /// Nothing received of that stream.
    #[must_use]
    pub const fn new(stream: u32, limits: ReceiverLimits) -> Self {
        Self {
            stream,
            limits,
            latest: None,
            delivered: None,
            settled: u64::MAX,
            partial: Vec::new(),
            octets: 0,
            stale_run: 0,
            assembled: Vec::new(),
            statistics: Statistics {
                frames: 0,
                lost: 0,
                duplicates: 0,
                late: 0,
                stale: 0,
                restarts: 0,
            },
        }
    }

    /// Takes a datagram.
    ///
    /// # Errors
    /// [`MediaError`]. A frame whose fragments disagree, or are too large
    /// together, is given up.
    pub fn accept<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Received<'a>, MediaError> {
        let fragment = Fragment::parse(datagram)?;
        let header = fragment.header;
        if header.stream != self.stream {
            return Err(MediaError::OtherStream(header.stream));
        }
        if fragment.payload.len() > self.limits.frame {
            return Err(MediaError::TooLarge);
        }
        let Some(age) = self.place(header.sequence) else {
            self.statistics.stale += 1;
            return Ok(Received::Stale);
        };
        if self.settled & 1 << age != 0 {
            self.statistics.duplicates += 1;
            return Ok(Received::Duplicate);
        }
        if fragment.count == 1 {
            self.drop_partial(header.sequence);
            return Ok(Received::Frame(self.deliver(
                header,
                age,
                Some(fragment.payload),
            )));
        }
        match self.insert(&fragment) {
            Ok(Some(true)) => Ok(Received::Frame(self.deliver(header, age, None))),
            Ok(Some(false)) => Ok(Received::Incomplete),
            Ok(None) => {
                self.statistics.duplicates += 1;
                Ok(Received::Duplicate)
            }
            Err(error) => {
                self.give_up(header.sequence);
                Err(error)
            }
        }
    }

    /// What has happened so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Octets kept for incomplete frames.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }

    /// Finds the place of a frame, moving the window to it if it is ahead;
    /// returns how far it is behind the latest. `None` if it is too late.
    fn place(&mut self, sequence: u32) -> Option<u32> {
        let Some(latest) = self.latest else {
            self.begin(sequence);
            return Some(0);
        };
        let ahead = sequence.wrapping_sub(latest);
        let behind = latest.wrapping_sub(sequence);
        let place = match (ahead, behind) {
            (_, ..WINDOW) => Place::Within(behind),
            (..MAX_STEP, _) => Place::Ahead(ahead),
            (_, ..MAX_STEP) => Place::Behind,
            _ => Place::Elsewhere,
        };
        match place {
            Place::Within(age) => {
                self.stale_run = 0;
                return Some(age);
            }
            Place::Ahead(step) => {
                self.stale_run = 0;
                self.advance(sequence, step);
                return Some(0);
            }
            Place::Behind | Place::Elsewhere => self.stale_run += 1,
        }
        if self.stale_run < STALE_RUN {
            return None;
        }
        self.statistics.restarts += 1;
        self.begin(sequence);
        Some(0)
    }

    /// Begins with that frame, as if nothing had been before it.
    fn begin(&mut self, sequence: u32) {
        self.latest = Some(sequence);
        self.delivered = None;
        self.settled = !1;
        self.stale_run = 0;
        self.statistics.lost += self.partial.len() as u64;
        self.partial.clear();
        self.octets = 0;
    }

    /// Moves the window; what falls out of it and is not settled is lost.
    fn advance(&mut self, sequence: u32, step: u32) {
        let shift = step.min(WINDOW);
        let falling = u64::MAX.checked_shl(WINDOW - shift).unwrap_or(0);
        let lost = (!self.settled & falling).count_ones();
        self.statistics.lost += u64::from(lost) + u64::from(step.saturating_sub(WINDOW));
        self.settled = self.settled.checked_shl(shift).unwrap_or(0);
        self.latest = Some(sequence);
        let in_window = |partial: &Partial| sequence.wrapping_sub(partial.header.sequence) < WINDOW;
        self.partial.retain(in_window);
        self.octets = self
            .partial
            .iter()
            .map(|partial| partial.parts.cost())
            .sum();
    }

    /// Takes a fragment of a frame that is not settled. `None` if it was there;
    /// else whether the frame is now complete.
    fn insert(&mut self, fragment: &Fragment<'_>) -> Result<Option<bool>, MediaError> {
        let sequence = fragment.header.sequence;
        let cost = Parts::cost_of(fragment.payload.len());
        if cost > self.limits.total || self.limits.frames == 0 {
            return Err(MediaError::TooLarge);
        }
        if let Some(at) = self.find(sequence) {
            if self.partial[at].parts.contains(u32::from(fragment.index)) {
                return Ok(None);
            }
        } else {
            while self.partial.len() >= self.limits.frames {
                self.give_up_oldest_but(sequence);
            }
            self.partial.push(Partial {
                header: fragment.header,
                parts: Parts::default(),
            });
        }
        while self.octets + cost > self.limits.total && self.partial.len() > 1 {
            self.give_up_oldest_but(sequence);
        }
        let at = self.find(sequence).ok_or(MediaError::TooLarge)?;
        let partial = &mut self.partial[at];
        if partial.header != fragment.header {
            return Err(MediaError::Inconsistent);
        }
        if self.octets + cost > self.limits.total
            || partial.parts.octets() + fragment.payload.len() > self.limits.frame
        {
            return Err(MediaError::TooLarge);
        }
        let (index, count) = (u32::from(fragment.index), u32::from(fragment.count));
        match partial.parts.insert(index, Some(count), fragment.payload) {
            Err(Inconsistent) => return Err(MediaError::Inconsistent),
            Ok(false) => return Ok(None),
            Ok(true) => self.octets += cost,
        }
        if !partial.parts.is_complete() {
            return Ok(Some(false));
        }
        self.assembled.clear();
        partial.parts.append_to(&mut self.assembled);
        self.drop_partial(sequence);
        Ok(Some(true))
    }

    /// The frame that is complete: its payload, or what was assembled.
    fn deliver<'a>(
        &'a mut self,
        header: FrameHeader,
        age: u32,
        payload: Option<&'a [u8]>,
    ) -> Frame<'a> {
        self.settled |= 1 << age;
        self.statistics.frames += 1;
        let ahead = self
            .delivered
            .map(|delivered| header.sequence.wrapping_sub(delivered));
        let is_late = ahead.is_some_and(|ahead| ahead > u32::MAX / 2);
        if is_late {
            self.statistics.late += 1;
        } else {
            self.delivered = Some(header.sequence);
        }
        Frame {
            header,
            payload: payload.unwrap_or(&self.assembled),
            missing: if is_late {
                0
            } else {
                ahead.map_or(0, |ahead| ahead.saturating_sub(1))
            },
            is_late,
        }
    }

    fn find(&self, sequence: u32) -> Option<usize> {
        let mut partial = self.partial.iter();
        partial.position(|partial| partial.header.sequence == sequence)
    }

    fn drop_partial(&mut self, sequence: u32) {
        if let Some(at) = self.find(sequence) {
            self.octets -= self.partial.swap_remove(at).parts.cost();
        }
    }

    /// Settles a frame as lost.
    fn give_up(&mut self, sequence: u32) {
        self.drop_partial(sequence);
        let age = self.latest.map(|latest| latest.wrapping_sub(sequence));
        if let Some(age @ ..WINDOW) = age {
            self.settled |= 1 << age;
            self.statistics.lost += 1;
        }
    }

    /// Gives up the incomplete frame that is furthest behind, except that one.
    fn give_up_oldest_but(&mut self, sequence: u32) {
        let latest = self.latest.unwrap_or(sequence);
        let oldest = self
            .partial
            .iter()
            .map(|partial| partial.header.sequence)
            .filter(|other| *other != sequence)
            .max_by_key(|other| latest.wrapping_sub(*other));
        if let Some(oldest) = oldest {
            self.give_up(oldest);
        }
    }
}
