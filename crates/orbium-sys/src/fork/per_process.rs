// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values created separately in each process.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::generation;

/// A value created on first access, and again in a child forked afterwards. The child's copy of its
/// parent's value is not touched, and its memory never freed: other threads of the parent may have
/// been changing it, and held its locks; frames below the one that forked may still refer to it.
///
/// An access costs a load of the pointer and a comparison of [`generation`]s.
///
/// ```
/// use orbium_sys::fork::PerProcess;
///
/// static PROCESS: PerProcess<u32> = PerProcess::new();
/// assert_eq!(*PROCESS.get_or_init(std::process::id), std::process::id());
/// ```
pub struct PerProcess<T> {
    /// Of a `Made<T>`, or of [`EMPTY`].
    made: AtomicPtr<Made<T>>,
    owns: PhantomData<Box<T>>,
}

#[repr(C)]
struct Made<T> {
    /// The generation of the process that created the value.
    generation: u32,
    value: T,
}

/// Represents the absence of a value: a generation that no process has.
static EMPTY: u32 = u32::MAX;

// SAFETY: a value is put there by `renew` alone, which is there for values that are `Send`
// and `Sync`; any other T never has a value. So the bounds stand where a value is made, and
// are not worked out again, with all that T holds, wherever a type has one of these in it:
// that once exceeded the compiler's recursion limit in the crates of users.
unsafe impl<T> Send for PerProcess<T> {}
// SAFETY: as above; values are made by any thread that has a reference, and dropped
// by any that has the whole.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// No value yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            made: AtomicPtr::new((&raw const EMPTY).cast_mut().cast()),
            owns: PhantomData,
        }
    }

    /// The value, if this process has created it.
    #[must_use]
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        self.own(self.made.load(Ordering::Acquire))
    }

    /// The value at an address that this has stored, if this process has created it.
    #[inline(always)]
    fn own(&self, made: *mut Made<T>) -> Option<&T> {
        // SAFETY: a number stands at the place in either case, and first in the
        // struct; neither is freed as long as `self` lives.
        if unsafe { *made.cast::<u32>() } != generation() {
            return None;
        }
        // SAFETY: of this generation, which EMPTY never is, so it is a `Made<T>`;
        // it stays until `self` is dropped.
        Some(unsafe { &(*made).value })
    }

    fn is_empty(made: *mut Made<T>) -> bool {
        ptr::eq(made.cast::<u32>(), &raw const EMPTY)
    }
}

impl<T: Send + Sync> PerProcess<T> {
    /// The value, which is created if this process has none. If two threads create it at the same
    /// time, one result is discarded.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.get_or_renew(make, |_| {})
    }

    /// As [`get_or_init`](Self::get_or_init). A value of the parent is passed to `leave` once,
    /// which must not wait for locks, since their holders may not exist in this process.
    #[inline]
    pub fn get_or_renew(&self, make: impl FnOnce() -> T, leave: impl FnOnce(&T)) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.renew(make, leave),
        }
    }

    #[cold]
    fn renew(&self, make: impl FnOnce() -> T, leave: impl FnOnce(&T)) -> &T {
        super::watch();
        let before = self.made.load(Ordering::Acquire);
        // Another thread may have created it since the check of this one: its value is kept.
        if let Some(value) = self.own(before) {
            return value;
        }
        let made = Box::into_raw(Box::new(Made {
            generation: generation(),
            value: make(),
        }));
        let exchanged =
            self.made
                .compare_exchange(before, made, Ordering::AcqRel, Ordering::Acquire);
        match exchanged {
            Ok(_) => {
                if !Self::is_empty(before) {
                    // SAFETY: not EMPTY, so a `Made<T>`, which is freed no more.
                    leave(unsafe { &(*before).value });
                }
                // SAFETY: it was just made, and stays until `self` is dropped.
                unsafe { &(*made).value }
            }
            Err(others) => {
                // SAFETY: of the box above, which no other thread has seen.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process put it there, by this very
                // function; it stays until `self` is dropped.
                unsafe { &(*others).value }
            }
        }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for PerProcess<T> {
    /// A value that the parent has created is not dropped by this process.
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: made by `renew` from a box, and replaced by nothing since;
            // references to it borrow `self`.
            drop(unsafe { Box::from_raw(*self.made.get_mut()) });
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerProcess").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::PerProcess;

    /// Counts its drops.
    struct Value<'a> {
        number: usize,
        drops: &'a AtomicUsize,
    }

    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn racing_threads_get_the_same_value() {
        const THREADS: usize = 4;
        let (made, drops) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let values = PerProcess::new();
        let start = Barrier::new(THREADS);
        let ask = || {
            start.wait();
            let make = || Value {
                number: made.fetch_add(1, Ordering::Relaxed),
                drops: &drops,
            };
            values.get_or_init(make).number
        };
        thread::scope(|scope| {
            let threads = [(); THREADS].map(|()| scope.spawn(ask));
            let numbers = threads.map(|thread| thread.join().expect("a thread panicked"));
            assert!(numbers.iter().all(|number| *number == numbers[0]));
        });
        let in_vain = made.load(Ordering::Relaxed) - 1;
        assert_eq!(drops.load(Ordering::Relaxed), in_vain);
        drop(values);
        assert_eq!(drops.load(Ordering::Relaxed), in_vain + 1);
    }

    /// Regression: a thread that found no value, and was then delayed, replaced the value of
    /// another thread, and the process had two identities.
    #[test]
    fn a_value_of_this_process_is_not_replaced() {
        let drops = AtomicUsize::new(0);
        let values = PerProcess::new();
        let make = |number| {
            let drops = &drops;
            move || Value { number, drops }
        };
        assert_eq!(values.get_or_init(make(1)).number, 1);
        let late = values.renew(make(2), |_| panic!("it is no value of a parent's"));
        assert_eq!(late.number, 1);
        assert_eq!(values.get().map(|value| value.number), Some(1));
    }

    /// Only under Miri, where the process runs no other tests: their threads would find themselves
    /// in another process. The testkit's tests really fork.
    #[test]
    #[cfg_attr(not(miri), ignore = "raises the generation of the whole process")]
    fn a_child_makes_its_own_and_leaves_the_parents() {
        let (made, drops) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let values = PerProcess::new();
        let make = || Value {
            number: made.fetch_add(1, Ordering::Relaxed),
            drops: &drops,
        };
        assert_eq!(values.get_or_init(make).number, 0);
        let before = values.get().expect("made above");
        super::super::raise();
        assert!(values.get().is_none(), "the parent's");
        let mut left = None;
        let renewed = values.get_or_renew(make, |value| left = Some(value.number));
        assert_eq!(renewed.number, 1);
        assert_eq!(left, Some(0));
        assert_eq!(before.number, 0, "frames of the parent's still refer to it");

        drop(values);
        let dropped = drops.load(Ordering::Relaxed);
        assert_eq!(dropped, 1, "the parent's value is never dropped here");
    }
}
