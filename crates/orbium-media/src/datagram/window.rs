// SPDX-License-Identifier: MIT OR Apache-2.0
//! Window of a stream: the frames that have arrived, judged by their numbers alone.

/// Frames before the latest one that may still arrive.
const WINDOW: u32 = 64;
/// Maximum step: a frame further ahead does not mean that all frames between are lost.
const MAX_STEP: u32 = 1 << 15;
/// Number of consecutive datagrams outside the window, behind or far ahead, after which the sender
/// is considered restarted.
const STALE_RUN: u32 = 16;

/// Statistics of a stream so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Frames delivered.
    pub frames: u64,
    /// Discarded frames, which will not be delivered. Frames of which no fragment arrived are
    /// counted after 64 later ones.
    pub lost: u64,
    /// Duplicate datagrams.
    pub duplicates: u64,
    /// Frames delivered after a later one.
    pub late: u64,
    /// Datagrams of discarded frames, or of frames too far away.
    pub stale: u64,
    /// Number of restarts of the sender.
    pub restarts: u64,
}

/// The state of one stream: for each frame near the latest, whether it was delivered or discarded.
/// For code that reassembles frames elsewhere than in a [`Receiver`](super::Receiver).
///
/// ```
/// use orbium_media::datagram::{Seen, Window};
///
/// let mut window = Window::new();
/// assert_eq!(window.see(10), Seen::Open);
/// window.deliver(10);
/// assert_eq!(window.see(10), Seen::Duplicate);
/// assert_eq!(window.see(12), Seen::Open);
/// assert_eq!(window.deliver(12).missing, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    /// The latest number seen.
    latest: Option<u32>,
    /// The latest number delivered.
    delivered: Option<u32>,
    /// Bit n: the frame n before the latest is settled, delivered or lost.
    settled: u64,
    stale_run: u32,
    statistics: Statistics,
}

/// Classification of a datagram by the numbers of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Its frame is still being assembled.
    Open,
    /// Its frame is the first after a restart of the sender: earlier incomplete frames no longer
    /// belong to the stream.
    Restarted,
    /// Its frame was delivered or given up.
    Duplicate,
    /// Its frame is too far behind the others, or too far ahead of them.
    Stale,
}

/// Position of a delivered frame among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Number of frames between this one and the previous latest one, none of them complete so far:
    /// they are late, or lost.
    pub missing: u32,
    /// Whether a later frame was delivered before it.
    pub is_late: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self::new()
    }
}

impl Window {
    /// A window before the first datagram.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            latest: None,
            delivered: None,
            settled: u64::MAX,
            stale_run: 0,
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

    /// The statistics so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Records a datagram of that frame. If the frame is ahead, the window moves to it, and frames
    /// that leave it are lost; see [`Window::holds`].
    pub fn see(&mut self, sequence: u32) -> Seen {
        let Some(latest) = self.latest else {
            self.begin(sequence);
            return Seen::Open;
        };
        let ahead = sequence.wrapping_sub(latest);
        let behind = latest.wrapping_sub(sequence);
        if behind < WINDOW {
            self.stale_run = 0;
            if self.settled & 1 << behind == 0 {
                return Seen::Open;
            }
            self.statistics.duplicates += 1;
            return Seen::Duplicate;
        }
        if ahead < MAX_STEP {
            self.stale_run = 0;
            self.advance(sequence, ahead);
            return Seen::Open;
        }
        self.stale_run += 1;
        if self.stale_run < STALE_RUN {
            self.statistics.stale += 1;
            return Seen::Stale;
        }
        self.statistics.restarts += 1;
        self.begin(sequence);
        Seen::Restarted
    }

    /// Whether a frame is near enough to be still delivered.
    #[must_use]
    pub fn holds(&self, sequence: u32) -> bool {
        self.age(sequence).is_some()
    }

    /// The distance of a frame behind the latest; `None` outside the window.
    fn age(&self, sequence: u32) -> Option<u32> {
        let age = self.latest?.wrapping_sub(sequence);
        (age < WINDOW).then_some(age)
    }

    /// The oldest of the given frames.
    pub fn oldest(&self, sequences: impl IntoIterator<Item = u32>) -> Option<u32> {
        let latest = self.latest?;
        let sequences = sequences.into_iter();
        sequences.max_by_key(|sequence| latest.wrapping_sub(*sequence))
    }

    /// Settles a frame as delivered.
    pub fn deliver(&mut self, sequence: u32) -> Standing {
        if let Some(age) = self.age(sequence) {
            self.settled |= 1 << age;
        }
        self.statistics.frames += 1;
        let ahead = self
            .delivered
            .map(|delivered| sequence.wrapping_sub(delivered));
        if ahead.is_some_and(|ahead| ahead > u32::MAX / 2) {
            self.statistics.late += 1;
            return Standing {
                missing: 0,
                is_late: true,
            };
        }
        self.delivered = Some(sequence);
        Standing {
            missing: ahead.map_or(0, |ahead| ahead.saturating_sub(1)),
            is_late: false,
        }
    }

    /// Settles a frame as lost.
    pub fn give_up(&mut self, sequence: u32) {
        if let Some(age) = self.age(sequence) {
            self.settled |= 1 << age;
            self.statistics.lost += 1;
        }
    }

    /// Counts frames that were incomplete when the sender restarted.
    pub const fn lose(&mut self, frames: usize) {
        self.statistics.lost += frames as u64;
    }

    /// Counts a duplicate datagram of an incomplete frame.
    pub const fn repeat(&mut self) {
        self.statistics.duplicates += 1;
    }

    /// Restarts with that frame.
    const fn begin(&mut self, sequence: u32) {
        self.latest = Some(sequence);
        self.delivered = None;
        self.settled = !1;
        self.stale_run = 0;
    }

    /// Moves the window; pending frames that leave it are lost.
    fn advance(&mut self, sequence: u32, step: u32) {
        let shift = step.min(WINDOW);
        let falling = u64::MAX.checked_shl(WINDOW - shift).unwrap_or(0);
        let lost = (!self.settled & falling).count_ones();
        self.statistics.lost += u64::from(lost) + u64::from(step.saturating_sub(WINDOW));
        self.settled = self.settled.checked_shl(shift).unwrap_or(0);
        self.latest = Some(sequence);
    }
}
