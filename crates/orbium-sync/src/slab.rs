// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values found by index, validated by a generation.

mod hazard;
mod hazard_registry;
mod projection;
mod slot;

use std::fmt;
use std::sync::OnceLock;

use crate::process_barrier;
pub use projection::Projection;
pub use slot::Pinned;
use slot::{Free, Slot};

/// Slots in the first chunk; each further chunk doubles the total.
const FIRST_CHUNK: u64 = 64;

/// Chunks: enough for nearly 2³¹ slots.
const CHUNKS: usize = 25;

/// Slots of all chunks.
const MAX_SLOTS: u32 = ((FIRST_CHUNK << CHUNKS) - FIRST_CHUNK) as u32;

/// Key of a value: its slot, and the generation of the slot at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotKey {
    /// Index of the slot.
    pub index: u32,
    /// Counts the uses of the slot; never 0.
    pub generation: u32,
}

/// No slot is free: all of nearly 2³¹ are in use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SlabFull;

impl fmt::Display for SlabFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no slot is left")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SlabFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SlabFull {}

/// A growing table of values.
///
/// A lookup costs one index, one compare and two atomic additions to a word of the slot,
/// independently of the number of values; no thread waits for another. Slots never move.
pub struct Slab<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: Free,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        process_barrier::register_early();
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Free::new(),
        }
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Chunk and position of a slot. Any index may be passed, since keys come from peers; hence 64 bits
/// on every machine.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let position = u64::from(index) + FIRST_CHUNK;
    let chunk = (position.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, (position - (FIRST_CHUNK << chunk)) as usize)
}

impl<T> Slab<T> {
    /// Number of values in the slab, and of removed ones that are still in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.free.lock().taken
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, place) = locate(index);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    fn slot_or_grow(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, place) = locate(index);
        let first = index - place as u32;
        let count = (FIRST_CHUNK << chunk) as u32;
        let slots = self.chunks.get(chunk)?.get_or_init(|| {
            let mut slots = Vec::with_capacity(count as usize);
            for index in first..first + count {
                slots.push(Slot::free(index));
            }
            slots.into()
        });
        slots.get(place)
    }

    /// Inserts the value that `make` returns; `make` receives the key.
    ///
    /// # Errors
    /// [`SlabFull`].
    #[allow(unsafe_code)]
    pub fn insert_with(&self, make: impl FnOnce(SlotKey) -> T) -> Result<SlotKey, SlabFull> {
        let (index, last_generation) = {
            let mut free = self.free.lock();
            let taken = match free.indices.pop() {
                Some(reused) => reused,
                None => {
                    let fresh = free.next_fresh;
                    if fresh >= MAX_SLOTS {
                        return Err(SlabFull);
                    }
                    free.next_fresh += 1;
                    (fresh, 0)
                }
            };
            free.taken += 1;
            taken
        };
        let slot = self.slot_or_grow(index).ok_or(SlabFull)?;
        // Threads that use a view of it must not wait until the process is registered.
        process_barrier::is_offered();
        let key = SlotKey {
            index,
            generation: last_generation.wrapping_add(1).max(1),
        };
        let value = make(key);
        // SAFETY: an index that is fresh or was free was taken under the lock,
        // once; it comes back to the list when the slot is free again.
        unsafe { slot.fill(key.generation, value) };
        Ok(key)
    }

    /// The value with that key, which is kept as long as the result exists; `None` for a key of
    /// another generation.
    #[must_use]
    #[inline(always)]
    pub fn pin(&self, key: SlotKey) -> Option<Pinned<'_, T>> {
        self.slot(key.index)?.pin(&self.free, key.generation)
    }

    /// Removes a value; `None` if it does not exist (any more). It is dropped when the last pin is
    /// released, including that of the caller.
    pub fn remove(&self, key: SlotKey) -> Option<Pinned<'_, T>> {
        self.slot(key.index)?.remove(&self.free, key.generation)
    }
}

impl<T: Clone> Slab<T> {
    /// The value with that key; `None` for a key of another generation.
    #[must_use]
    #[inline]
    pub fn get(&self, key: SlotKey) -> Option<T> {
        self.pin(key).map(|value| T::clone(&value))
    }

    /// All values, in the order of their slots; a snapshot.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        let fresh = self.free.lock().next_fresh;
        (0..fresh)
            .filter_map(|index| self.slot(index)?.pin_any(&self.free))
            .map(|value| T::clone(&value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Conformance: references - object keys
    #[test]
    fn a_key_of_an_earlier_generation_finds_nothing() {
        let slab = Slab::default();
        let first = slab.insert_with(|_| 'a').unwrap();
        assert_eq!(slab.get(first), Some('a'));
        assert_eq!(slab.remove(first).as_deref(), Some(&'a'));
        let second = slab.insert_with(|_| 'b').unwrap();
        assert_eq!(second.index, first.index);
        assert_ne!(second.generation, first.generation);
        assert_eq!(slab.get(first), None);
        assert!(slab.remove(first).is_none());
        assert_eq!(slab.get(second), Some('b'));
        assert_eq!(slab.len(), 1);
    }

    #[test]
    fn a_value_stays_while_it_is_pinned() {
        let slab = Slab::default();
        let value = Arc::new(7);
        let key = slab.insert_with(|_| Arc::clone(&value)).unwrap();
        let pinned = slab.pin(key).unwrap();
        drop(slab.remove(key).unwrap());
        assert!(slab.pin(key).is_none() && slab.remove(key).is_none());
        // Its slot is not reused before.
        let other = slab.insert_with(|_| Arc::new(8)).unwrap();
        assert_ne!(other.index, key.index);
        assert_eq!((**pinned, Arc::strong_count(&value)), (7, 2));
        drop(pinned);
        assert_eq!((Arc::strong_count(&value), slab.len()), (1, 1));
        let again = slab.insert_with(|_| Arc::new(9)).unwrap();
        assert_eq!(again.index, key.index);
        assert!(slab.pin(key).is_none());
    }

    #[test]
    fn one_of_several_concurrent_removals_succeeds() {
        let slab = Slab::default();
        for value in 0..20 {
            let key = slab.insert_with(|_| Arc::new(value)).unwrap();
            let removed = std::thread::scope(|scope| {
                let remove = || slab.remove(key).is_some();
                let others = [scope.spawn(remove), scope.spawn(remove)];
                others.map(|other| usize::from(other.join().unwrap()))
            });
            assert_eq!(removed.iter().sum::<usize>(), 1);
            assert!(slab.is_empty());
        }
    }

    #[test]
    fn slots_grow_over_several_chunks() {
        let slab = Slab::default();
        let keys: Vec<_> = (0..1000)
            .map(|i| slab.insert_with(|_| i).unwrap())
            .collect();
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(slab.get(*key), Some(i));
        }
        assert_eq!(slab.values(), (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn every_slot_has_a_place_of_its_own() {
        let places = (0..1000).map(locate);
        let next = |(chunk, place): (usize, usize)| {
            if place + 1 < 64 << chunk {
                (chunk, place + 1)
            } else {
                (chunk + 1, 0)
            }
        };
        let expected = std::iter::successors(Some((0, 0)), |it| Some(next(*it)));
        assert!(places.eq(expected.take(1000)));
        let last = locate(MAX_SLOTS - 1);
        assert_eq!(last, (CHUNKS - 1, (64 << (CHUNKS - 1)) - 1));
        assert_eq!(locate(MAX_SLOTS), (CHUNKS, 0));
    }

    /// Conformance: references - object keys
    #[test]
    fn keys_from_a_hostile_peer_find_nothing() {
        let slab = Slab::default();
        slab.insert_with(|_| ()).unwrap();
        // Regression: the last ones overflowed on targets with addresses of 32 bits.
        for index in [0, 1, 63, 64, 1 << 20, MAX_SLOTS, u32::MAX - 63, u32::MAX] {
            for generation in [0, 2, u32::MAX] {
                assert_eq!(slab.get(SlotKey { index, generation }), None);
            }
        }
    }

    #[test]
    fn looking_up_while_others_come_and_go() {
        let slab = Arc::new(Slab::default());
        let stays = slab.insert_with(|_| Arc::new(7)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let slab = &slab;
                scope.spawn(move || {
                    for i in 0..200 {
                        let key = slab.insert_with(|_| Arc::new(i)).unwrap();
                        assert_eq!(slab.get(key).as_deref(), Some(&i));
                        assert_eq!(slab.get(stays).as_deref(), Some(&7));
                        assert!(slab.remove(key).is_some());
                        assert_eq!(slab.get(key), None);
                    }
                });
            }
        });
        assert_eq!(slab.len(), 1);
    }
}
