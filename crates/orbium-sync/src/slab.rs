// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values found by index, guarded by a generation.

use std::fmt;
use std::sync::{OnceLock, PoisonError};

use crate::lock::{Mutex, MutexGuard};

/// Slots in the first chunk; each further chunk doubles what there is.
const FIRST_CHUNK: usize = 64;

/// Chunks: enough for 2³¹ slots.
const CHUNKS: usize = 25;

/// Where a value is: its slot, and the generation of the slot at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotKey {
    /// Index of the slot.
    pub index: u32,
    /// Counts how often the slot was taken; never 0.
    pub generation: u32,
}

/// No slot is left: all 2³¹ are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabFull;

impl fmt::Display for SlabFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no slot is left")
    }
}

impl std::error::Error for SlabFull {}

struct Held<T> {
    /// Of the value, or 0 while there is none.
    generation: u32,
    value: Option<T>,
}

struct Slot<T>(Mutex<Held<T>>);

impl<T> Slot<T> {
    const fn free() -> Self {
        Self(Mutex::new(Held {
            generation: 0,
            value: None,
        }))
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Free {
    indices: Vec<(u32, u32)>,
    next_fresh: u32,
    taken: usize,
}

/// A growing table of clonable values, typically `Arc`s.
///
/// Looking one up costs one index, one compare and one uncontended lock that is
/// the slot's own, whatever the number of values; slots never move.
pub struct Slab<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<Free>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free {
                indices: Vec::new(),
                next_fresh: 0,
                taken: 0,
            }),
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

/// Chunk and place within it of a slot.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let position = index as usize + FIRST_CHUNK;
    let chunk = (position.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, position - (FIRST_CHUNK << chunk))
}

impl<T> Slab<T> {
    /// Values in the slab.
    #[must_use]
    pub fn len(&self) -> usize {
        self.free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .taken
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
        let slots = self
            .chunks
            .get(chunk)?
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Slot::free()).collect());
        slots.get(place)
    }

    /// Puts in the value that `make` gives, which is told its key beforehand.
    ///
    /// # Errors
    /// [`SlabFull`].
    pub fn insert_with(&self, make: impl FnOnce(SlotKey) -> T) -> Result<SlotKey, SlabFull> {
        let (index, last_generation) = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = match free.indices.pop() {
                Some(reused) => reused,
                None => {
                    let fresh = free.next_fresh;
                    if fresh >= 1 << 31 {
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
        let key = SlotKey {
            index,
            generation: last_generation.wrapping_add(1).max(1),
        };
        let value = make(key);
        *slot.lock() = Held {
            generation: key.generation,
            value: Some(value),
        };
        Ok(key)
    }

    /// Takes a value out; `None` if it is not there (any more).
    pub fn remove(&self, key: SlotKey) -> Option<T> {
        let slot = self.slot(key.index)?;
        let value = {
            let mut held = slot.lock();
            if key.generation == 0 || held.generation != key.generation {
                return None;
            }
            held.generation = 0;
            held.value.take()
        };
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.indices.push((key.index, key.generation));
        free.taken -= 1;
        value
    }
}

impl<T: Clone> Slab<T> {
    /// The value with that key; `None` for a key of another generation.
    #[must_use]
    #[inline]
    pub fn get(&self, key: SlotKey) -> Option<T> {
        let held = self.slot(key.index)?.lock();
        // A free slot has generation 0, and no value for a key that claims it.
        if held.generation != key.generation {
            return None;
        }
        held.value.clone()
    }

    /// All values, in the order of their slots; a snapshot.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        let fresh = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_fresh;
        (0..fresh)
            .filter_map(|index| self.slot(index))
            .filter_map(|slot| slot.lock().value.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_key_of_an_earlier_generation_finds_nothing() {
        let slab = Slab::default();
        let first = slab.insert_with(|_| 'a').unwrap();
        assert_eq!(slab.get(first), Some('a'));
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert_with(|_| 'b').unwrap();
        assert_eq!(second.index, first.index);
        assert_ne!(second.generation, first.generation);
        assert_eq!(slab.get(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get(second), Some('b'));
        assert_eq!(slab.len(), 1);
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
    fn keys_from_a_hostile_peer_find_nothing() {
        let slab = Slab::default();
        slab.insert_with(|_| ()).unwrap();
        for index in [0, 1, 63, 64, 1 << 20, u32::MAX] {
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
