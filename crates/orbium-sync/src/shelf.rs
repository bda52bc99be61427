// SPDX-License-Identifier: MIT OR Apache-2.0
//! A few places where threads leave things for the next who needs one.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::AtomicUsize;

use crate::atomic::{AtomicPtr, Ordering};

/// A place on a cache line of its own: two threads that each use their own do
/// not disturb one another.
#[repr(align(64))]
struct Place<T>(AtomicPtr<T>);

impl<T> Place<T> {
    fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn take(&self) -> Option<Box<T>> {
        // In one order with `put` and whatever else is: who looks everywhere after
        // saying so misses nothing that was put before its word was looked for.
        let left = self.0.swap(ptr::null_mut(), Ordering::SeqCst);
        // SAFETY: whatever is not null in a place came from `Box::into_raw` in
        // `put`, and the swap gave it to this thread alone. What its owner did
        // with it before happened before: `put` released and this acquires.
        (!left.is_null()).then(|| unsafe { Box::from_raw(left) })
    }

    /// Gives the value back if there is one already.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn put(&self, value: Box<T>) -> Result<(), Box<T>> {
        let value = Box::into_raw(value);
        let order = (Ordering::SeqCst, Ordering::Relaxed);
        match self
            .0
            .compare_exchange(ptr::null_mut(), value, order.0, order.1)
        {
            Ok(_) => Ok(()),
            // SAFETY: made from a box above, and nobody else has seen it.
            Err(_) => Err(unsafe { Box::from_raw(value) }),
        }
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Up to `N` boxed values (a power of two) that wait for the next who needs one.
///
/// Each thread has a place that it looks at first: who takes and puts back alone
/// finds what it left there, by one exchange each, and touches no other place.
/// Nothing here waits or repeats anything: there is no lock to be counted.
pub struct Shelf<T, const N: usize = 16> {
    places: [Place<T>; N],
    /// Values go from thread to thread, as through a mutex.
    shared: PhantomData<std::sync::Mutex<Box<T>>>,
}

impl<T, const N: usize> Default for Shelf<T, N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two()) };
        Self {
            places: std::array::from_fn(|_| Place::empty()),
            shared: PhantomData,
        }
    }
}

impl<T, const N: usize> fmt::Debug for Shelf<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.places.iter().filter(|place| !place.is_empty());
        f.debug_struct("Shelf")
            .field("values", &taken.count())
            .finish_non_exhaustive()
    }
}

impl<T, const N: usize> Shelf<T, N> {
    /// What this thread left last, if it is still there.
    #[inline(always)]
    pub fn take_own(&self) -> Option<Box<T>> {
        self.places[own_place() % N].take()
    }

    /// Any value, that of this thread first.
    pub fn take(&self) -> Option<Box<T>> {
        self.take_near(own_place())
    }

    /// Leaves a value where this thread finds it first.
    ///
    /// # Errors
    /// All places are taken: the value comes back.
    #[inline(always)]
    pub fn put(&self, value: Box<T>) -> Result<(), Box<T>> {
        let own = own_place();
        match self.places[own % N].put(value) {
            Ok(()) => Ok(()),
            Err(value) => self.put_near(own, value),
        }
    }

    /// Takes everything, one after the other.
    pub fn drain(&self) -> impl Iterator<Item = Box<T>> {
        self.places.iter().filter_map(Place::take)
    }

    fn near(&self, start: usize) -> impl Iterator<Item = &Place<T>> {
        (0..N).map(move |step| &self.places[start.wrapping_add(step) % N])
    }

    #[inline(never)]
    fn take_near(&self, start: usize) -> Option<Box<T>> {
        let mut taken = self.near(start).filter(|place| !place.is_empty());
        taken.find_map(Place::take)
    }

    #[inline(never)]
    fn put_near(&self, start: usize, mut value: Box<T>) -> Result<(), Box<T>> {
        for place in self.near(start).filter(|place| place.is_empty()) {
            match place.put(value) {
                Ok(()) => return Ok(()),
                Err(back) => value = back,
            }
        }
        Err(value)
    }
}

thread_local! {
    static OWN_PLACE: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread's number, which says where it looks first.
#[inline(always)]
fn own_place() -> usize {
    match OWN_PLACE.get() {
        0 => number_this_thread(),
        own => own,
    }
}

#[cold]
fn number_this_thread() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(1);
    let number = THREADS.fetch_add(1, Ordering::Relaxed).max(1);
    OWN_PLACE.set(number);
    number
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_thread_finds_what_it_left_and_others_find_it_too() {
        let shelf = Arc::new(Shelf::<_, 4>::default());
        assert_eq!((shelf.take_own(), shelf.take()), (None, None));
        shelf.put(Box::new(1)).unwrap();
        assert_eq!(shelf.take_own().as_deref(), Some(&1));
        shelf.put(Box::new(2)).unwrap();
        let elsewhere = Arc::clone(&shelf);
        let found = thread::spawn(move || elsewhere.take()).join().unwrap();
        assert_eq!(found.as_deref(), Some(&2));
        assert_eq!(shelf.take(), None);
    }

    #[test]
    fn what_finds_no_place_comes_back() {
        let shelf = Shelf::<_, 2>::default();
        shelf.put(Box::new(1)).unwrap();
        shelf.put(Box::new(2)).unwrap();
        assert_eq!(shelf.put(Box::new(3)), Err(Box::new(3)));
        let mut all: Vec<_> = shelf.drain().map(|value| *value).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        assert_eq!(shelf.take(), None);
    }

    #[test]
    fn what_is_left_at_the_end_is_dropped() {
        let value = Arc::new(());
        let shelf = Shelf::<_, 4>::default();
        shelf.put(Box::new(Arc::clone(&value))).unwrap();
        shelf.put(Box::new(Arc::clone(&value))).unwrap();
        assert_eq!(Arc::strong_count(&value), 3);
        drop(shelf);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn nothing_is_lost_or_had_by_two() {
        let shelf = Shelf::<u64, 4>::default();
        for value in [1, 10, 100] {
            shelf.put(Box::new(value)).unwrap();
        }
        let rounds = if cfg!(miri) { 50 } else { 5_000 };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        if let Some(mut value) = shelf.take() {
                            // Another who had it would be seen here.
                            *value += 1;
                            *value -= 1;
                            shelf.put(value).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(shelf.drain().map(|value| *value).sum::<u64>(), 111);
    }
}
