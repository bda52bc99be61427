// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two ends of a ring.
//!
//! Each end keeps its own cursor, and the last seen value of the other's, outside the shared
//! memory. The cursor of the other side is read once and compared with these: it may only move
//! forward, and only as far as there are octets to read, or room to write. Any other value breaks
//! the connection. Positions are also masked, so no value leads out of the ring.
//!
//! There should be one thread at each end. Several threads mix up octets, or break the connection,
//! without further effects.

use super::control::Control;
use crate::sync::{AtomicU32, Ordering};

/// The memory of a ring.
pub trait Octets {
    /// Octets of it: a power of two, at most 2³¹.
    fn capacity(&self) -> u32;

    /// Copies octets in, from a position on, modulo the capacity.
    fn put(&self, at: u32, from: &[u8]);

    /// Copies octets out, from a position on, modulo the capacity.
    fn take(&self, at: u32, into: &mut [u8]);
}

/// The peer wrote an impossible value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Octets published at once, of that many: the other side can process a part of a large message
/// while this one copies the next.
fn step(capacity: u32) -> usize {
    (capacity as usize / 4).max(1)
}

/// The writing end. On separate cache lines, as the reading end of the same connection belongs to
/// another thread.
#[derive(Debug)]
#[repr(align(128))]
pub struct Writer {
    tail: AtomicU32,
    /// The reader's cursor as last seen.
    head: AtomicU32,
}

impl Writer {
    /// Of an empty ring.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "not a value to be copied about")]
    pub fn new() -> Self {
        Self {
            tail: AtomicU32::new(0),
            head: AtomicU32::new(0),
        }
    }

    /// Octets of free room, at least `wanted` if possible; reads the reader's cursor only if the
    /// known room is less.
    ///
    /// # Errors
    /// The reader's cursor has an impossible value.
    #[inline]
    pub fn room(&self, control: &Control, capacity: u32, wanted: usize) -> Result<u32, Broken> {
        let tail = self.tail.load(Ordering::Relaxed);
        let known = tail.wrapping_sub(self.head.load(Ordering::Relaxed));
        let room = capacity.saturating_sub(known);
        if room as usize >= wanted {
            return Ok(room);
        }
        // Acquire: the reader has copied the octets out before they are overwritten.
        let head = control.head.0.load(Ordering::Acquire);
        let used = tail.wrapping_sub(head);
        if used > known || known > capacity {
            return Err(Broken);
        }
        self.head.store(head, Ordering::Relaxed);
        Ok(capacity - used)
    }

    /// Writes as much of the pieces, `wanted` octets together, as there is room for; calls
    /// `published` each time more becomes visible to the reader.
    ///
    /// # Errors
    /// As [`Writer::room`].
    #[inline]
    pub fn push<'p>(
        &self,
        control: &Control,
        octets: &impl Octets,
        wanted: usize,
        pieces: impl Iterator<Item = &'p [u8]>,
        mut published: impl FnMut(),
    ) -> Result<usize, Broken> {
        let capacity = octets.capacity();
        let room = self.room(control, capacity, wanted)?;
        let total = wanted.min(room as usize);
        let mut left = total;
        let mut tail = self.tail.load(Ordering::Relaxed);
        let mut unseen = 0;
        for piece in pieces {
            let piece = &piece[..piece.len().min(left)];
            left -= piece.len();
            let mut rest = piece;
            while !rest.is_empty() {
                let (part, after) = rest.split_at(rest.len().min(step(capacity) - unseen));
                octets.put(tail, part);
                // Parts are no longer than the capacity, which fits.
                tail = tail.wrapping_add(part.len() as u32);
                unseen += part.len();
                rest = after;
                if unseen == step(capacity) {
                    self.publish(control, tail, &mut published);
                    unseen = 0;
                }
            }
        }
        if unseen > 0 {
            self.publish(control, tail, &mut published);
        }
        Ok(total - left)
    }

    #[inline]
    fn publish(&self, control: &Control, tail: u32, published: &mut impl FnMut()) {
        self.tail.store(tail, Ordering::Relaxed);
        // Release: the octets happen-before a reader that loads this cursor (Acquire in
        // `pop`).
        control.tail.0.store(tail, Ordering::Release);
        published();
    }

    /// Whether the reader has made room since the last check.
    #[inline]
    pub fn has_changed(&self, control: &Control) -> bool {
        control.head.0.load(Ordering::Relaxed) != self.head.load(Ordering::Relaxed)
    }
}

/// The reading end.
#[derive(Debug)]
#[repr(align(128))]
pub struct Reader {
    head: AtomicU32,
    /// The writer's cursor as last seen.
    tail: AtomicU32,
}

impl Reader {
    /// Of an empty ring.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "not a value to be copied about")]
    pub fn new() -> Self {
        Self {
            head: AtomicU32::new(0),
            tail: AtomicU32::new(0),
        }
    }

    /// Reads the available octets, up to the room; calls `published` each time more room becomes
    /// visible to the writer.
    ///
    /// # Errors
    /// The writer's cursor has an impossible value.
    #[inline]
    pub fn pop(
        &self,
        control: &Control,
        octets: &impl Octets,
        into: &mut [u8],
        mut published: impl FnMut(),
    ) -> Result<usize, Broken> {
        let capacity = octets.capacity();
        let mut head = self.head.load(Ordering::Relaxed);
        let known = self.tail.load(Ordering::Relaxed).wrapping_sub(head);
        let tail = control.tail.0.load(Ordering::Acquire);
        let available = tail.wrapping_sub(head);
        if available > capacity || available < known {
            return Err(Broken);
        }
        self.tail.store(tail, Ordering::Relaxed);
        let count = into.len().min(available as usize);
        for part in into[..count].chunks_mut(step(capacity)) {
            octets.take(head, part);
            // Parts are no longer than the capacity, which fits.
            head = head.wrapping_add(part.len() as u32);
            self.head.store(head, Ordering::Relaxed);
            // Release: partner of the load in `room`.
            control.head.0.store(head, Ordering::Release);
            published();
        }
        Ok(count)
    }

    /// Whether there is something to read, or the writer's cursor has an impossible value.
    #[inline]
    pub fn has_some(&self, control: &Control) -> bool {
        control.tail.0.load(Ordering::Acquire) != self.head.load(Ordering::Relaxed)
    }
}
