// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rings of shared memory whose every word a hostile peer may change, at every
//! instant at which it could make a difference; and greetings.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use orbium_shm::ring::{
    Broken, Control, Park, Parked, Reader, Side, Slept, Waiting, Writer, sleep,
};
use orbium_shm::testing::{SharedOctets, read_greeting};

/// Octets of the ring: few, so that it is full and empty in turns.
const CAPACITY: usize = 64;

/// More looks in one wait than a peer may cause.
const MANY_LOOKS: u32 = 10_000;

/// The input is a program: what we do, and what the peer does meanwhile. As
/// long as the peer does nothing, all that is sent arrives; whatever it does,
/// nothing panics, nothing is longer than the room for it, and waits end.
pub fn rings(input: &[u8]) {
    // A greeting, if it is one, says nothing about its ring but the size.
    if let Ok(ring) = read_greeting(input) {
        assert_eq!(input.get(12..), Some(&ring.to_le_bytes()[..]));
    }
    let words: Vec<_> = (0..CAPACITY / 8).map(|_| AtomicU64::new(0)).collect();
    let game = Game {
        input: Cell::new(input),
        control: Control::new(),
        memory: SharedOctets::new(&words),
        words: &words,
        is_tampered: Cell::new(false),
    };
    game.play();
}

struct Game<'g> {
    input: Cell<&'g [u8]>,
    control: Control,
    memory: SharedOctets<'g>,
    words: &'g [AtomicU64],
    /// Whether the peer has written to anything but what means nothing.
    is_tampered: Cell<bool>,
}

impl Game<'_> {
    /// The next octet of the program.
    fn next(&self) -> Option<u8> {
        let (first, rest) = self.input.get().split_first()?;
        self.input.set(rest);
        Some(*first)
    }

    fn next_or_zero(&self) -> u8 {
        self.next().unwrap_or(0)
    }

    fn play(&self) {
        let (writer, reader) = (Writer::new(), Reader::new());
        let sent = RefCell::new(VecDeque::new());
        let mut count = 0u8;
        while let Some(verb) = self.next() {
            match verb % 8 {
                0 => {
                    count = count.wrapping_add(1);
                    self.push(&writer, count, &mut sent.borrow_mut());
                }
                1 => self.pop(&reader, &mut sent.borrow_mut()),
                2 => self.wait(&self.control.reader, || reader.has_some(&self.control)),
                3 => self.wait(&self.control.writer, || writer.has_changed(&self.control)),
                4 => {
                    self.control.reader.announce(Waiting::Away);
                    if reader.has_some(&self.control) {
                        self.control.reader.withdraw();
                    }
                }
                5 => self.control.writer.disturb(),
                6 => drop(self.control.reader.rouse()),
                _ => self.tamper(),
            }
        }
    }

    fn push(&self, writer: &Writer, mark: u8, sent: &mut VecDeque<u8>) {
        let wanted = self.next_or_zero() as usize;
        let octets = vec![mark; wanted];
        let (first, second) = octets.split_at(wanted / 3);
        let pieces = [first, second].into_iter();
        let pushed = writer.push(&self.control, &self.memory, wanted, pieces, || {
            let _ = self.control.reader.rouse();
            self.meanwhile();
        });
        match pushed {
            Ok(count) => {
                assert!(count <= wanted && count <= CAPACITY);
                if !self.is_tampered.get() {
                    assert_eq!(count, wanted.min(CAPACITY - sent.len()));
                }
                sent.extend(&octets[..count]);
            }
            Err(Broken) => assert!(self.is_tampered.get()),
        }
    }

    fn pop(&self, reader: &Reader, sent: &mut VecDeque<u8>) {
        let mut room = vec![0xee; self.next_or_zero() as usize];
        let popped = reader.pop(&self.control, &self.memory, &mut room, || {
            let _ = self.control.writer.rouse();
            self.meanwhile();
        });
        match popped {
            Ok(count) => {
                assert!(count <= room.len() && count <= CAPACITY);
                assert!(room[count..].iter().all(|octet| *octet == 0xee));
                if !self.is_tampered.get() {
                    assert_eq!(count, room.len().min(sent.len()));
                    assert!(sent.drain(..count).eq(room[..count].iter().copied()));
                }
            }
            Err(Broken) => assert!(self.is_tampered.get()),
        }
    }

    fn wait(&self, side: &Side, ready: impl Fn() -> bool) {
        let mut looks = 0;
        let slept = sleep(side, self, || {
            looks += 1;
            assert!(looks < MANY_LOOKS);
            ready()
        });
        if slept == Slept::Ready && !self.is_tampered.get() {
            assert!(ready());
        }
    }

    /// What the peer does in the middle of something.
    fn meanwhile(&self) {
        if self.input.get().first().is_some_and(|octet| *octet >= 0xf0) {
            self.next();
            self.tamper();
        }
    }

    /// Writes a value to a word of the shared memory.
    fn tamper(&self) {
        let control = &self.control;
        let (which, how) = (self.next_or_zero(), self.next_or_zero());
        let word = match which % 8 {
            0 => &control.tail.0,
            1 => &control.head.0,
            2 => &control.reader.state,
            3 => &control.reader.gone,
            4 => &control.writer.state,
            5 => &control.writer.gone,
            _ => {
                self.is_tampered.set(true);
                let place = how as usize % self.words.len();
                return self.words[place].store(!0, Ordering::Relaxed);
            }
        };
        let old = word.load(Ordering::Relaxed);
        let operand = u32::from(self.next_or_zero());
        let new = match how % 6 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old.wrapping_sub(operand),
            3 => operand << 24,
            4 => u32::MAX - operand,
            _ => old ^ (1 << (operand % 32)),
        };
        word.store(new, Ordering::Relaxed);
        // States and departures mean nothing to cursors and octets.
        if which % 8 < 2 && new != old {
            self.is_tampered.set(true);
        }
    }
}

impl Park for Game<'_> {
    fn park(&self, word: &AtomicU32, value: u32) -> Parked {
        self.meanwhile();
        if word.load(Ordering::Relaxed) != value {
            return Parked::Woken;
        }
        match self.next() {
            None => Parked::TimedOut,
            Some(0..100) => Parked::Woken,
            Some(100..150) => Parked::Interrupted,
            Some(150..200) => Parked::TimedOut,
            Some(200..=254) => {
                self.tamper();
                Parked::Woken
            }
            Some(255) => Parked::Failed,
        }
    }
}
