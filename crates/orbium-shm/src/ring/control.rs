// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words shared by both sides, and the protocol of waiting.
//!
//! Dekker's protocol: a waiter announces its wait, then checks once more for the awaited change; a
//! producer publishes its change, then checks for an announced waiter. A full fence between the two
//! steps on either side ensures that at least one of them sees the other's first step: the wait is
//! either not begun, or ended. No system call is made for a peer that does not wait.

use crate::sync::{AtomicU32, Ordering, fence};

/// A cursor on separate cache lines: two, since processors fetch pairs.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Cursor(pub AtomicU32);

/// The shared state of one side of a ring besides its cursor. Changes only when a side waits or
/// leaves, so that both keep it in their caches.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Side {
    /// Whether it waits, and how; see [`Waiting`].
    pub state: AtomicU32,
    /// Not 0 when it will never read, or write, again.
    pub gone: AtomicU32,
}

/// The shared words of one ring. Zeros represent an empty ring with both sides awake.
#[derive(Debug)]
#[repr(C)]
pub struct Control {
    /// Octets ever written, modulo 2³². Written by the writer.
    pub tail: Cursor,
    /// Octets ever read, modulo 2³². Written by the reader.
    pub head: Cursor,
    /// Of the reader.
    pub reader: Side,
    /// Of the writer.
    pub writer: Side,
}

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const AWAY: u32 = 2;

/// The way in which a side waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Waiting {
    /// In a futex, on its own `state`.
    Asleep = ASLEEP,
    /// For its descriptor to become ready.
    Away = AWAY,
}

/// Wake-up that a waiting side needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rouse {
    /// None: it does not wait, or its state is invalid.
    Nothing,
    /// Wake its futex.
    Wake,
    /// Make its descriptor ready.
    Ring,
}

impl Cursor {
    fn new() -> Self {
        Self(AtomicU32::new(0))
    }
}

impl Control {
    /// An empty ring, for memory other than fresh pages, which already represent one.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "not a value to be copied about")]
    pub fn new() -> Self {
        Self {
            tail: Cursor::new(),
            head: Cursor::new(),
            reader: Side::new(),
            writer: Side::new(),
        }
    }
}

impl Side {
    fn new() -> Self {
        Self {
            state: AtomicU32::new(AWAKE),
            gone: AtomicU32::new(0),
        }
    }

    /// Announces that this side is about to wait. The awaited condition must be checked again
    /// afterwards.
    #[inline]
    pub fn announce(&self, how: Waiting) {
        self.state.store(how as u32, Ordering::Relaxed);
        // Dekker's protocol with the fence in `rouse`: this side stores its state, then checks the
        // condition again; the other changes the condition, then loads the state. One of the two
        // sees the other's store.
        fence(Ordering::SeqCst);
    }

    /// Declares that this side does not wait, or no longer.
    #[inline]
    pub fn withdraw(&self) {
        self.state.store(AWAKE, Ordering::Relaxed);
    }

    /// Whether that was announced last, and the peer has not acted on it.
    #[inline]
    pub fn is_announced(&self, how: Waiting) -> bool {
        self.state.load(Ordering::Relaxed) == how as u32
    }

    /// Called by the other side after a change for which this side may be waiting.
    #[inline]
    #[must_use]
    pub fn rouse(&self) -> Rouse {
        // Between the change and the load: partner of the fence in `announce`.
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Relaxed) == AWAKE {
            return Rouse::Nothing;
        }
        self.rouse_waiting()
    }

    #[cold]
    fn rouse_waiting(&self) -> Rouse {
        // The thread that changes it to AWAKE makes the system call: one per wait.
        match self.state.swap(AWAKE, Ordering::AcqRel) {
            ASLEEP => Rouse::Wake,
            AWAY => Rouse::Ring,
            _ => Rouse::Nothing,
        }
    }

    /// Ends a sleep of this side from this side, unless the other undoes it. The reason must have
    /// been made visible to `ready` before.
    pub fn disturb(&self) {
        // Between the reason and the exchange: partner of the fence in `announce`.
        fence(Ordering::SeqCst);
        let (asleep, awake) = (ASLEEP, AWAKE);
        // A failure means that it is not asleep.
        let _ = self
            .state
            .compare_exchange(asleep, awake, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Declares that this side will never read, or write, again. All data published before are
    /// visible to a thread that sees this.
    pub fn leave(&self) {
        self.gone.store(1, Ordering::Release);
    }

    /// Whether it has declared that.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.gone.load(Ordering::Acquire) != 0
    }
}

/// Puts a thread to sleep on a word.
pub trait Park {
    /// Sleeps while the word has that value, which is checked atomically with falling asleep.
    fn park(&self, word: &AtomicU32, value: u32) -> Parked;
}

/// Reason for the end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parked {
    /// It was woken, or the word had another value.
    Woken,
    /// No wake-up: the wait was interrupted.
    Interrupted,
    /// It was time.
    TimedOut,
    /// It cannot sleep.
    Failed,
}

/// Outcome of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    /// The awaited condition is true.
    Ready,
    /// It was time.
    TimedOut,
    /// The peer causes spurious wake-ups repeatedly, or sleeping is impossible.
    Nonsense,
}

/// Maximum number of spurious wake-ups in one wait before the peer is considered hostile. An honest
/// one occasionally causes a single one: it had seen an announcement and was delayed.
const MAX_SPURIOUS_WAKEUPS: u32 = 1000;

/// Sleeps until the condition for which this side waits. `ready` checks it, and is also true for
/// any other end of the wait.
pub fn sleep(side: &Side, parking: &impl Park, mut ready: impl FnMut() -> bool) -> Slept {
    let mut woken = 0;
    loop {
        side.announce(Waiting::Asleep);
        if ready() {
            side.withdraw();
            return Slept::Ready;
        }
        let parked = parking.park(&side.state, ASLEEP);
        if ready() {
            side.withdraw();
            return Slept::Ready;
        }
        match parked {
            Parked::Interrupted => {}
            Parked::Woken if woken < MAX_SPURIOUS_WAKEUPS => woken += 1,
            Parked::TimedOut => {
                side.withdraw();
                return Slept::TimedOut;
            }
            Parked::Woken | Parked::Failed => {
                side.withdraw();
                return Slept::Nonsense;
            }
        }
    }
}
