// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ring under a model checker: no order of events loses a wake-up or tears
//! what was sent.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-shm --test loom --release`
//!
//! The module of the ring is compiled here over the checker's atomics; the
//! memory is cells that the checker watches for races, and a futex is a lock
//! and a condition variable. A lost wake-up shows as a deadlock.
#![cfg(loom)]

#[path = "../src/ring/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "a part of the crate, without the rest"
)]
mod ring;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, Ordering, fence};
}

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use ring::{Control, Octets, Park, Parked, Reader, Rouse, Side, Slept, Waiting, Writer, sleep};
use sync::{AtomicU32, Ordering};

/// Octets of the ring.
const CAPACITY: usize = 2;

struct Memory([UnsafeCell<u8>; CAPACITY]);

impl Octets for Memory {
    fn capacity(&self) -> u32 {
        CAPACITY as u32
    }

    fn put(&self, at: u32, from: &[u8]) {
        for (i, octet) in from.iter().enumerate() {
            let cell = &self.0[(at as usize + i) % CAPACITY];
            // SAFETY: the checker fails if another thread has it at that time.
            cell.with_mut(|place| unsafe { *place = *octet });
        }
    }

    fn take(&self, at: u32, into: &mut [u8]) {
        for (i, octet) in into.iter_mut().enumerate() {
            let cell = &self.0[(at as usize + i) % CAPACITY];
            // SAFETY: as above.
            *octet = cell.with(|place| unsafe { *place });
        }
    }
}

/// The kernel's part: sleeping on a word.
struct Futex {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Futex {
    fn new() -> Self {
        Self {
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    fn wake(&self) {
        let _guard = self.lock.lock().unwrap();
        self.changed.notify_all();
    }
}

impl Park for &Futex {
    fn park(&self, word: &AtomicU32, value: u32) -> Parked {
        let guard = self.lock.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(self.changed.wait(guard).unwrap());
        }
        Parked::Woken
    }
}

struct Shared {
    control: Control,
    memory: Memory,
    futex: Futex,
    /// Whether a descriptor is ready.
    notified: Mutex<bool>,
    notification: Condvar,
    /// What `shutdown` sets.
    ended: AtomicU32,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            control: Control::new(),
            memory: Memory([UnsafeCell::new(0), UnsafeCell::new(0)]),
            futex: Futex::new(),
            notified: Mutex::new(false),
            notification: Condvar::new(),
            ended: AtomicU32::new(0),
        })
    }

    fn rouse(&self, side: &Side) {
        match side.rouse() {
            Rouse::Nothing => {}
            Rouse::Wake => self.futex.wake(),
            Rouse::Ring => {
                *self.notified.lock().unwrap() = true;
                self.notification.notify_all();
            }
        }
    }

    fn send(&self, mut octets: &[u8]) {
        let writer = Writer::new();
        while !octets.is_empty() {
            let side = &self.control.writer;
            let sent = writer
                .push(
                    &self.control,
                    &self.memory,
                    octets.len(),
                    std::iter::once(octets),
                    || self.rouse(&self.control.reader),
                )
                .unwrap();
            octets = &octets[sent..];
            if sent == 0 {
                let ready = || writer.has_changed(&self.control);
                assert_eq!(sleep(side, &&self.futex, ready), Slept::Ready);
            }
        }
    }

    fn pop(&self, reader: &Reader, room: &mut [u8]) -> usize {
        let rouse = || self.rouse(&self.control.writer);
        reader
            .pop(&self.control, &self.memory, room, rouse)
            .unwrap()
    }
}

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// Both sides asleep by turns: the ring is smaller than what is sent.
///
/// Conformance: protocols - shared memory: a peer that dies, or writes what it likes
#[test]
fn everything_arrives_in_order_and_no_side_sleeps_for_ever() {
    model(|| {
        let shared = Shared::new();
        let sender = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.send(&[1, 2, 3]))
        };
        let reader = Reader::new();
        let mut received = Vec::new();
        while received.len() < 3 {
            let mut room = [0; 2];
            let count = shared.pop(&reader, &mut room);
            received.extend_from_slice(&room[..count]);
            if count == 0 {
                let ready = || reader.has_some(&shared.control);
                let slept = sleep(&shared.control.reader, &&shared.futex, ready);
                assert_eq!(slept, Slept::Ready);
            }
        }
        assert_eq!(received, [1, 2, 3]);
        sender.join().unwrap();
    });
}

/// The reader waits for its descriptor, which is emptied before each
/// announcement.
#[test]
fn a_descriptor_is_rung_for_what_was_not_seen() {
    model(|| {
        let shared = Shared::new();
        let sender = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.send(&[1, 2]))
        };
        let reader = Reader::new();
        let mut received = Vec::new();
        while received.len() < 2 {
            let mut room = [0; 1];
            if shared.pop(&reader, &mut room) == 1 {
                received.push(room[0]);
                continue;
            }
            *shared.notified.lock().unwrap() = false;
            shared.control.reader.announce(Waiting::Away);
            if reader.has_some(&shared.control) {
                shared.control.reader.withdraw();
                continue;
            }
            let mut notified = shared.notified.lock().unwrap();
            while !*notified {
                notified = shared.notification.wait(notified).unwrap();
            }
        }
        assert_eq!(received, [1, 2]);
        sender.join().unwrap();
    });
}

/// The end is seen after all that was sent before it.
#[test]
fn the_end_wakes_and_hides_nothing() {
    model(|| {
        let shared = Shared::new();
        let sender = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.send(&[7]);
                shared.control.writer.leave();
                shared.rouse(&shared.control.reader);
            })
        };
        let reader = Reader::new();
        let mut received = Vec::new();
        loop {
            let ended = shared.control.writer.has_left();
            let mut room = [0; 1];
            if shared.pop(&reader, &mut room) == 1 {
                received.push(room[0]);
                continue;
            }
            if ended {
                break;
            }
            let ready = || reader.has_some(&shared.control) || shared.control.writer.has_left();
            sleep(&shared.control.reader, &&shared.futex, ready);
        }
        assert_eq!(received, [7]);
        sender.join().unwrap();
    });
}

/// Another thread of the same process ends the wait.
#[test]
fn a_sleeper_is_disturbed() {
    model(|| {
        let shared = Shared::new();
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.ended.store(1, Ordering::Release);
                shared.control.reader.disturb();
                shared.futex.wake();
            })
        };
        let ready = || shared.ended.load(Ordering::Acquire) != 0;
        let slept = sleep(&shared.control.reader, &&shared.futex, ready);
        assert_eq!(slept, Slept::Ready);
        other.join().unwrap();
    });
}
