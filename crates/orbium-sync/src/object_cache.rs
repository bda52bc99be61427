// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lock-free cache of boxed objects with a slot per thread.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicUsize;

use crate::atomic::{AtomicPtr, Ordering};

/// A slot on a separate cache line, so that threads that use different slots do not contend for a
/// line.
#[repr(align(64))]
struct Slot<T>(AtomicPtr<T>);

impl<T> Slot<T> {
    fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn take(&self) -> Option<Box<T>> {
        // SeqCst: a waiter that increments its counter and then scans the slots cannot
        // miss a `put` that precedes the releasing thread's load of that counter.
        let taken = self.0.swap(ptr::null_mut(), Ordering::SeqCst);
        // SAFETY: a pointer that is not null came from `Box::into_raw` in `put`, and the
        // swap gave it to this thread alone. The release of `put` and the acquire here
        // order what the previous owner did with it before what this thread does.
        (!taken.is_null()).then(|| unsafe { Box::from_raw(taken) })
    }

    /// Returns the value if the slot is occupied.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn put(&self, value: Box<T>) -> Result<(), Box<T>> {
        let value = Box::into_raw(value);
        // SeqCst, partner of the swap in `take`: it releases the value to the thread that takes it,
        // and precedes the releasing thread's load of the waiters' counter in the total order.
        let order = (Ordering::SeqCst, Ordering::Relaxed);
        match self
            .0
            .compare_exchange(ptr::null_mut(), value, order.0, order.1)
        {
            Ok(_) => Ok(()),
            // SAFETY: made from a box above, and the failed exchange published it to no
            // other thread.
            Err(_) => Err(unsafe { Box::from_raw(value) }),
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Up to `N` boxed values (a power of two) for reuse.
///
/// Each thread has a slot that it tries first: a thread that takes and puts back alone finds its
/// own value again, by one exchange each, and accesses no other slot. No operation blocks or
/// retries, and there is no lock to be counted.
pub struct ObjectCache<T, const N: usize = 16> {
    /// Shared by threads for any `T`: a value is `Send` where it is put, so that the compiler need
    /// not derive this again, with all parts of `T`, for every type that contains a cache.
    slots: [Slot<T>; N],
}

impl<T, const N: usize> Default for ObjectCache<T, N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two()) };
        Self {
            slots: std::array::from_fn(|_| Slot::empty()),
        }
    }
}

impl<T, const N: usize> fmt::Debug for ObjectCache<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occupied = self.slots.iter().filter(|slot| !slot.is_empty());
        f.debug_struct("ObjectCache")
            .field("values", &occupied.count())
            .finish_non_exhaustive()
    }
}

impl<T: Send, const N: usize> ObjectCache<T, N> {
    /// Takes the value in the calling thread's slot.
    #[inline(always)]
    pub fn take_local(&self) -> Option<Box<T>> {
        self.slots[thread_number() % N].take()
    }

    /// Takes any value; the calling thread's slot is searched first.
    pub fn take(&self) -> Option<Box<T>> {
        self.take_near(thread_number())
    }

    /// Puts a value into the calling thread's slot, otherwise into the next empty one.
    ///
    /// # Errors
    /// All slots are occupied: the value is returned.
    #[inline(always)]
    pub fn put(&self, value: Box<T>) -> Result<(), Box<T>> {
        let own = thread_number();
        match self.slots[own % N].put(value) {
            Ok(()) => Ok(()),
            Err(value) => self.put_near(own, value),
        }
    }

    /// Takes all values, one by one.
    pub fn drain(&self) -> impl Iterator<Item = Box<T>> {
        self.slots.iter().filter_map(Slot::take)
    }

    fn slots_from(&self, start: usize) -> impl Iterator<Item = &Slot<T>> {
        (0..N).map(move |step| &self.slots[start.wrapping_add(step) % N])
    }

    fn take_near(&self, start: usize) -> Option<Box<T>> {
        let mut occupied = self.slots_from(start).filter(|slot| !slot.is_empty());
        occupied.find_map(Slot::take)
    }

    fn put_near(&self, start: usize, mut value: Box<T>) -> Result<(), Box<T>> {
        for slot in self.slots_from(start).filter(|slot| slot.is_empty()) {
            match slot.put(value) {
                Ok(()) => return Ok(()),
                Err(back) => value = back,
            }
        }
        Err(value)
    }
}

thread_local! {
    static THREAD_NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread's number, which selects its slot.
#[inline(always)]
fn thread_number() -> usize {
    match THREAD_NUMBER.get() {
        0 => assign_thread_number(),
        number => number,
    }
}

#[cold]
fn assign_thread_number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(1);
    let number = THREADS.fetch_add(1, Ordering::Relaxed).max(1);
    THREAD_NUMBER.set(number);
    number
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_thread_takes_its_own_value_first_and_other_threads_take_it_too() {
        let cache = Arc::new(ObjectCache::<_, 4>::default());
        assert_eq!((cache.take_local(), cache.take()), (None, None));
        cache.put(Box::new(1)).unwrap();
        assert_eq!(cache.take_local().as_deref(), Some(&1));
        cache.put(Box::new(2)).unwrap();
        let shared = Arc::clone(&cache);
        let found = thread::spawn(move || shared.take()).join().unwrap();
        assert_eq!(found.as_deref(), Some(&2));
        assert_eq!(cache.take(), None);
    }

    #[test]
    fn a_full_cache_returns_the_value() {
        let cache = ObjectCache::<_, 2>::default();
        cache.put(Box::new(1)).unwrap();
        cache.put(Box::new(2)).unwrap();
        assert_eq!(cache.put(Box::new(3)), Err(Box::new(3)));
        let mut all: Vec<_> = cache.drain().map(|value| *value).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        assert_eq!(cache.take(), None);
    }

    #[test]
    fn remaining_values_are_dropped_with_the_cache() {
        let value = Arc::new(());
        let cache = ObjectCache::<_, 4>::default();
        cache.put(Box::new(Arc::clone(&value))).unwrap();
        cache.put(Box::new(Arc::clone(&value))).unwrap();
        assert_eq!(Arc::strong_count(&value), 3);
        drop(cache);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn no_value_is_lost_or_taken_twice() {
        let cache = ObjectCache::<u64, 4>::default();
        for value in [1, 10, 100] {
            cache.put(Box::new(value)).unwrap();
        }
        let rounds = if cfg!(miri) { 50 } else { 5_000 };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        if let Some(mut value) = cache.take() {
                            // A second owner would corrupt the sum.
                            *value += 1;
                            *value -= 1;
                            cache.put(value).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(cache.drain().map(|value| *value).sum::<u64>(), 111);
    }
}
