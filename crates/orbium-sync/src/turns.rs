// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking turns to read one source that brings things for many.
//!
//! Each who waits has a seat. Nobody reads while nobody waits: the first who
//! waits reads, for all, says whose things have come ([`Turns::ready`]), and
//! passes the reading on when it has its own. So at most one reads, and while
//! somebody waits, somebody reads or has been woken to do so.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::lock::{Condvar, Mutex, MutexGuard};

/// What became of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Something came for this seat.
    Ready,
    /// The caller is to read, and then to call [`Turns::pass`].
    Read,
    /// Nothing more will come.
    Ended,
    /// Nothing came in time.
    TimedOut,
}

#[derive(Debug, Default)]
struct Seat {
    taken: bool,
    /// Something came that its owner has not been told of.
    ready: bool,
    waits: bool,
    wake: Arc<Condvar>,
}

#[derive(Debug, Default)]
struct State {
    seats: Vec<Seat>,
    free: Vec<usize>,
    /// Somebody reads.
    reading: bool,
    ended: bool,
}

/// Seats at one source.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    limit: usize,
}

impl Turns {
    /// So many seats at most. With a reader of its own the source is never read
    /// by who waits.
    #[must_use]
    pub fn new(limit: usize, has_reader: bool) -> Self {
        let state = State {
            reading: has_reader,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a seat; `None` if all are taken, or nothing more will come.
    #[must_use]
    pub fn join(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        let place = match state.free.pop() {
            Some(place) => place,
            None if state.seats.len() < self.limit => {
                state.seats.push(Seat::default());
                state.seats.len() - 1
            }
            None => return None,
        };
        state.seats[place].taken = true;
        state.seats[place].ready = false;
        Some(place)
    }

    /// Gives a seat back; whether it was the last one taken.
    pub fn leave(&self, place: usize) -> bool {
        let mut state = self.lock();
        let Some(seat) = state.seats.get_mut(place).filter(|seat| seat.taken) else {
            return false;
        };
        seat.taken = false;
        state.free.push(place);
        state.free.len() == state.seats.len()
    }

    /// Seats that are taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        let state = self.lock();
        state.seats.len() - state.free.len()
    }

    /// Waits for something, or for the turn to read.
    pub fn wait(&self, place: usize, until: Option<Instant>) -> Turn {
        let mut state = self.lock();
        loop {
            let State {
                seats,
                reading,
                ended,
                ..
            } = &mut *state;
            let Some(seat) = seats.get_mut(place) else {
                return Turn::Ended;
            };
            seat.waits = false;
            if std::mem::take(&mut seat.ready) {
                return Turn::Ready;
            }
            if *ended {
                return Turn::Ended;
            }
            let left = match until.map(|until| until.checked_duration_since(Instant::now())) {
                None => None,
                Some(Some(left)) if !left.is_zero() => Some(left),
                Some(_) => {
                    // Perhaps this one was woken to read.
                    if !*reading {
                        wake_reader(&state);
                    }
                    return Turn::TimedOut;
                }
            };
            if !*reading {
                *reading = true;
                return Turn::Read;
            }
            seat.waits = true;
            let wake = Arc::clone(&seat.wake);
            state = match left {
                None => wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    wake.wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
    }

    /// Something came for a seat. Said by whoever reads.
    pub fn ready(&self, place: usize) {
        let mut state = self.lock();
        let Some(seat) = state.seats.get_mut(place) else {
            return;
        };
        seat.ready = true;
        if seat.waits {
            seat.wake.notify_one();
        }
    }

    /// Takes the turn to read without waiting; false if somebody reads, or
    /// nothing more will come.
    #[must_use]
    pub fn try_read(&self) -> bool {
        let mut state = self.lock();
        let free = !state.reading && !state.ended;
        state.reading |= free;
        free
    }

    /// The one who reads reads no more.
    pub fn pass(&self) {
        let mut state = self.lock();
        state.reading = false;
        wake_reader(&state);
    }

    /// Nothing more will come: everybody is told, now and later.
    pub fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        for seat in state.seats.iter().filter(|seat| seat.waits) {
            seat.wake.notify_one();
        }
    }

    /// Whether nothing more will come.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.lock().ended
    }
}

/// Wakes one of those who still wait for something, so that it reads.
fn wake_reader(state: &State) {
    let next = state.seats.iter().find(|seat| seat.waits && !seat.ready);
    if let Some(seat) = next {
        seat.wake.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_first_who_waits_reads_and_the_others_are_told() {
        let turns = Turns::new(4, false);
        let (a, b) = (turns.join().unwrap(), turns.join().unwrap());
        assert_eq!(turns.wait(a, None), Turn::Read);
        thread::scope(|scope| {
            let other = scope.spawn(|| turns.wait(b, None));
            turns.ready(b);
            assert_eq!(other.join().unwrap(), Turn::Ready);
        });
        assert!(!turns.try_read(), "one reads already");
        turns.pass();
        assert!(turns.try_read());
    }

    #[test]
    fn the_reading_is_passed_on_to_who_waits() {
        let turns = Turns::new(4, false);
        let (a, b) = (turns.join().unwrap(), turns.join().unwrap());
        assert_eq!(turns.wait(a, None), Turn::Read);
        thread::scope(|scope| {
            let other = scope.spawn(|| turns.wait(b, None));
            while !turns.lock().seats[b].waits {
                thread::yield_now();
            }
            turns.pass();
            assert_eq!(other.join().unwrap(), Turn::Read);
        });
    }

    #[test]
    fn who_waits_too_long_or_for_nothing_is_told() {
        let turns = Turns::new(2, true);
        let (a, b) = (turns.join().unwrap(), turns.join().unwrap());
        assert_eq!(turns.join(), None);
        let soon = Instant::now() + Duration::from_millis(1);
        assert_eq!(turns.wait(a, Some(soon)), Turn::TimedOut);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(turns.wait(b, None)).unwrap());
            turns.end();
            assert_eq!(receiver.recv().unwrap(), Turn::Ended);
        });
        assert_eq!(turns.wait(a, None), Turn::Ended);
        assert_eq!(turns.join(), None);
    }

    #[test]
    fn a_seat_that_was_left_is_taken_again_and_knows_nothing() {
        let turns = Turns::new(1, true);
        let seat = turns.join().unwrap();
        turns.ready(seat);
        assert!(turns.leave(seat));
        assert!(!turns.leave(seat), "once is enough");
        assert_eq!(turns.join(), Some(seat));
        let now = Some(Instant::now());
        assert_eq!(turns.wait(seat, now), Turn::TimedOut);
        assert_eq!(turns.taken(), 1);
    }
}
