// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ring over memory of the heap, as Miri can run it.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use orbium_shm::ring::{
    Broken, Control, Octets, Park, Parked, Reader, Rouse, Side, Slept, Writer, sleep,
};
use orbium_shm::testing::SharedOctets;

/// Octets of the ring.
const CAPACITY: usize = 64;

struct Ring {
    control: Control,
    words: Vec<AtomicU64>,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Ring {
    fn new() -> Self {
        Self {
            control: Control::new(),
            words: (0..CAPACITY / 8).map(|_| AtomicU64::new(0)).collect(),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    fn push(&self, writer: &Writer, octets: &[u8]) -> Result<usize, Broken> {
        let rouse = || self.rouse(&self.control.reader);
        let memory = SharedOctets::new(&self.words);
        // In two pieces, to have a seam.
        let (first, second) = octets.split_at(octets.len() / 3);
        let pieces = [first, second].into_iter();
        writer.push(&self.control, &memory, octets.len(), pieces, rouse)
    }

    fn pop(&self, reader: &Reader, room: &mut [u8]) -> Result<usize, Broken> {
        let rouse = || self.rouse(&self.control.writer);
        let memory = SharedOctets::new(&self.words);
        reader.pop(&self.control, &memory, room, rouse)
    }

    fn rouse(&self, side: &Side) {
        if side.rouse() == Rouse::Wake {
            let _guard = self.lock.lock().unwrap();
            self.changed.notify_all();
        }
    }
}

impl Park for &Ring {
    fn park(&self, word: &AtomicU32, value: u32) -> Parked {
        let guard = self.lock.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(self.changed.wait(guard).unwrap());
        }
        Parked::Woken
    }
}

/// Octet number `i` of what is sent.
fn octet(i: usize) -> u8 {
    (i * 31 % 251) as u8
}

#[test]
fn copies_at_every_place_and_length_change_nothing_else() {
    // Miri is slow.
    let step = if cfg!(miri) { 5 } else { 1 };
    for at in (0..CAPACITY as u32).step_by(step) {
        for length in (0..=CAPACITY).step_by(step) {
            let words: Vec<_> = (0..CAPACITY / 8).map(|_| AtomicU64::new(!0)).collect();
            let memory = SharedOctets::new(&words);
            assert_eq!(memory.capacity() as usize, CAPACITY);
            let octets: Vec<u8> = (0..length).map(octet).collect();
            memory.put(at.wrapping_sub(CAPACITY as u32), &octets);
            let mut back = vec![0; length];
            memory.take(at, &mut back);
            assert_eq!(back, octets);
            let mut rest = vec![0; CAPACITY - length];
            memory.take(at + length as u32, &mut rest);
            assert!(rest.iter().all(|octet| *octet == 0xff), "{at} {length}");
        }
    }
}

#[test]
fn octets_come_as_they_were_sent() {
    let total = if cfg!(miri) { 1_000 } else { 1_000_000 };
    let ring = Arc::new(Ring::new());
    let sender = {
        let ring = Arc::clone(&ring);
        thread::spawn(move || {
            let writer = Writer::new();
            let mut sent = 0;
            while sent < total {
                let until = (sent + 1 + sent % 90).min(total);
                let octets: Vec<u8> = (sent..until).map(octet).collect();
                let count = ring.push(&writer, &octets).unwrap();
                sent += count;
                if count == 0 {
                    let ready = || writer.has_changed(&ring.control);
                    assert_eq!(sleep(&ring.control.writer, &&*ring, ready), Slept::Ready);
                }
            }
        })
    };
    let reader = Reader::new();
    let mut received = 0;
    let mut room = [0; 80];
    while received < total {
        let count = ring.pop(&reader, &mut room[..1 + received % 80]).unwrap();
        for (i, got) in room[..count].iter().enumerate() {
            assert_eq!(*got, octet(received + i));
        }
        received += count;
        if count == 0 {
            let ready = || reader.has_some(&ring.control);
            assert_eq!(sleep(&ring.control.reader, &&*ring, ready), Slept::Ready);
        }
    }
    sender.join().unwrap();
}

#[test]
fn cursors_wrap_around() {
    let ring = Ring::new();
    let (writer, reader) = (Writer::new(), Reader::new());
    // The cursors cannot be set from outside, so only as far as this goes.
    for round in 0..50 {
        let octets: Vec<u8> = (round..round + 37).map(octet).collect();
        assert_eq!(ring.push(&writer, &octets), Ok(37));
        let mut room = [0; 37];
        assert_eq!(ring.pop(&reader, &mut room), Ok(37));
        assert_eq!(room[..], octets);
    }
}

#[test]
fn a_cursor_that_cannot_be_is_found() {
    for wrong in [65, 1 << 31, u32::MAX, u32::MAX - 63] {
        let ring = Ring::new();
        ring.control.tail.0.store(wrong, Ordering::Relaxed);
        let reader = Reader::new();
        assert_eq!(ring.pop(&reader, &mut [0; 8]), Err(Broken), "{wrong}");
        let writer = Writer::new();
        ring.control.head.0.store(wrong, Ordering::Relaxed);
        assert_eq!(ring.push(&writer, &[0; 65]), Err(Broken), "{wrong}");
    }
    // Backwards, within the ring.
    let ring = Ring::new();
    let (writer, reader) = (Writer::new(), Reader::new());
    assert_eq!(ring.push(&writer, &[1; 20]), Ok(20));
    assert_eq!(ring.pop(&reader, &mut [0; 10]), Ok(10));
    ring.control.tail.0.store(15, Ordering::Relaxed);
    assert_eq!(ring.pop(&reader, &mut [0; 1]), Err(Broken));
    assert_eq!(ring.push(&writer, &[1; 64]), Ok(54));
    ring.control.head.0.store(9, Ordering::Relaxed);
    assert_eq!(ring.push(&writer, &[1; 64]), Err(Broken));
}

#[test]
fn wakes_for_nothing_are_counted() {
    struct Restless;
    impl Park for Restless {
        fn park(&self, _: &AtomicU32, _: u32) -> Parked {
            Parked::Woken
        }
    }
    let control = Control::new();
    let mut looks = 0;
    let slept = sleep(&control.reader, &Restless, || {
        looks += 1;
        false
    });
    assert_eq!(slept, Slept::Nonsense);
    assert!(looks < 10_000);
}
