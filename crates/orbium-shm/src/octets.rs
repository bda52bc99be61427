// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a ring as atomics, and copies in and out of it.
//!
//! Another process may write there at any time, in violation of the protocol. A plain copy of such
//! memory is a data race, which is undefined behaviour; a relaxed atomic load has some value,
//! whatever the other side does. So the memory is only accessed by atomic words of eight octets:
//! atomics of different sizes at one place would race as well. If a copy begins or ends within a
//! word, the writer preserves the other octets. No write is lost, as only one side ever writes
//! there; several threads of that side may mix up octets. Words compile to plain moves.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ring::Octets;

/// Octets of a word.
const WORD: usize = 8;

/// The memory of a ring.
#[derive(Clone, Copy, Debug)]
pub struct SharedOctets<'m> {
    words: &'m [AtomicU64],
}

impl<'m> SharedOctets<'m> {
    /// Over words; their number is a power of two, at most 2²⁸.
    ///
    /// # Panics
    ///
    /// For any other number.
    #[must_use]
    #[inline]
    pub fn new(words: &'m [AtomicU64]) -> Self {
        assert!(words.len().is_power_of_two() && words.len() <= 1 << 28);
        Self { words }
    }

    /// The part of a copy of `count` octets before the end of the memory.
    #[inline]
    fn before_end(self, at: u32, count: usize) -> (usize, usize) {
        let size = self.words.len() * WORD;
        let at = at as usize & (size - 1);
        (at, count.min(size - at))
    }

    /// As [`Octets::put`], if the copy ends before the end of the memory.
    #[inline]
    fn put_run(self, at: usize, from: &[u8]) {
        let (first, rest) = from.split_at(until_word(at).min(from.len()));
        if !first.is_empty() {
            put_part(&self.words[at / WORD], at % WORD, first);
        }
        let at = (at + first.len()) / WORD;
        let (words, last) = rest.as_chunks::<WORD>();
        for (place, word) in self.words[at..].iter().zip(words) {
            place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        if !last.is_empty() {
            put_part(&self.words[at + words.len()], 0, last);
        }
    }

    /// As [`Octets::take`], if the copy ends before the end of the memory.
    #[inline]
    fn take_run(self, at: usize, into: &mut [u8]) {
        let (first, rest) = into.split_at_mut(until_word(at).min(into.len()));
        if !first.is_empty() {
            take_part(&self.words[at / WORD], at % WORD, first);
        }
        let at = (at + first.len()) / WORD;
        let (words, last) = rest.as_chunks_mut::<WORD>();
        for (place, word) in self.words[at..].iter().zip(&mut *words) {
            *word = place.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !last.is_empty() {
            take_part(&self.words[at + words.len()], 0, last);
        }
    }
}

/// Changes some octets of a word, from the given one on.
#[inline]
fn put_part(word: &AtomicU64, at: usize, from: &[u8]) {
    let mut octets = word.load(Ordering::Relaxed).to_ne_bytes();
    for (place, octet) in octets[at..].iter_mut().zip(from) {
        *place = *octet;
    }
    word.store(u64::from_ne_bytes(octets), Ordering::Relaxed);
}

/// Copies some octets out of a word, from the given one on.
#[inline]
fn take_part(word: &AtomicU64, at: usize, into: &mut [u8]) {
    let octets = word.load(Ordering::Relaxed).to_ne_bytes();
    for (place, octet) in into.iter_mut().zip(&octets[at..]) {
        *place = *octet;
    }
}

/// Octets until the next word begins.
#[inline]
fn until_word(at: usize) -> usize {
    at.wrapping_neg() % WORD
}

impl Octets for SharedOctets<'_> {
    #[inline]
    fn capacity(&self) -> u32 {
        // At most 2³¹, as `new` has checked.
        (self.words.len() * WORD) as u32
    }

    #[inline]
    fn put(&self, at: u32, from: &[u8]) {
        let (at, count) = self.before_end(at, from.len());
        let (first, second) = from.split_at(count);
        self.put_run(at, first);
        if !second.is_empty() {
            self.put_run(0, second);
        }
    }

    #[inline]
    fn take(&self, at: u32, into: &mut [u8]) {
        let (at, count) = self.before_end(at, into.len());
        let (first, second) = into.split_at_mut(count);
        self.take_run(at, first);
        if !second.is_empty() {
            self.take_run(0, second);
        }
    }
}
