// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots and object caches under a model checker: in every schedule no thread
//! sees a value that is gone, nothing is had by two, and nothing is lost.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-sync --test loom_slots --release`
//!
//! The modules are compiled here over the checker's atomics; values are in cells
//! that it watches for races.
#![cfg(loom)]

#[path = "../src/object_cache.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod object_cache;
#[path = "../src/slab/slot.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod slot;

mod atomic {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
}

mod lock {
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use object_cache::ObjectCache;
use slot::{Free, Slot};

/// Counts itself out, once.
struct Value(Arc<AtomicUsize>);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Table {
    slot: Slot<Value>,
    free: Free,
}

impl Table {
    /// A table with a value of generation 1.
    fn with(gone: &Arc<AtomicUsize>) -> Arc<Self> {
        let table = Self {
            slot: Slot::free(0),
            free: Free::new(),
        };
        table.free.lock().taken = 1;
        table.fill(1, gone);
        Arc::new(table)
    }

    fn fill(&self, generation: u32, gone: &Arc<AtomicUsize>) {
        // SAFETY: called with a slot that is free, by the owner of its index.
        unsafe { self.slot.fill(generation, Value(Arc::clone(gone))) };
    }

    /// How often the value is gone, as seen while it is pinned.
    fn look(&self, generation: u32) -> Option<usize> {
        let pinned = self.slot.pin(&self.free, generation)?;
        Some(pinned.0.load(Ordering::Relaxed))
    }
}

#[test]
fn a_pinned_value_outlives_its_removal() {
    loom::model(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let table = Table::with(&gone);
        let looks = {
            let table = Arc::clone(&table);
            thread::spawn(move || assert!(matches!(table.look(1), None | Some(0))))
        };
        drop(table.slot.remove(&table.free, 1));
        looks.join().unwrap();
        assert_eq!(gone.load(Ordering::Relaxed), 1);
        assert_eq!(table.free.lock().indices, [(0, 1)]);
    });
}

#[test]
fn one_of_two_removals_succeeds() {
    loom::model(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let table = Table::with(&gone);
        let other = {
            let table = Arc::clone(&table);
            thread::spawn(move || usize::from(table.slot.remove(&table.free, 1).is_some()))
        };
        let here = usize::from(table.slot.remove(&table.free, 1).is_some());
        assert_eq!(other.join().unwrap() + here, 1);
        assert_eq!(gone.load(Ordering::Relaxed), 1);
        assert_eq!(table.free.lock().indices.len(), 1);
    });
}

#[test]
fn a_slot_that_is_taken_again_is_not_taken_for_the_earlier_one() {
    loom::model(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let later = Arc::new(AtomicUsize::new(0));
        let table = Table::with(&gone);
        let looks = {
            let table = Arc::clone(&table);
            thread::spawn(move || assert!(matches!(table.look(1), None | Some(0))))
        };
        drop(table.slot.remove(&table.free, 1));
        // If it is free by now it is taken again.
        let freed = table.free.lock().indices.pop();
        if freed.is_some() {
            table.fill(2, &later);
            assert_eq!(table.look(2), Some(0));
        }
        looks.join().unwrap();
        assert_eq!(gone.load(Ordering::Relaxed), 1);
        assert_eq!(later.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_cached_value_has_one_owner() {
    loom::model(|| {
        let cache = Arc::new(ObjectCache::<u32, 2>::default());
        cache.put(Box::new(7)).unwrap();
        let taker = {
            let cache = Arc::clone(&cache);
            thread::spawn(move || {
                let taken = cache.take();
                let had = usize::from(taken.is_some());
                taken.into_iter().for_each(|it| cache.put(it).unwrap());
                had
            })
        };
        let here = cache.take();
        let had = usize::from(here.is_some()) + taker.join().unwrap();
        assert!(had >= 1);
        let left: Vec<_> = cache.drain().chain(here).map(|it| *it).collect();
        assert_eq!(left, [7]);
    });
}

/// As a pool of connections does: either the releasing thread sees the waiter's count,
/// or the waiter, scanning after its increment, sees the released value.
#[test]
fn a_waiter_misses_no_cached_value() {
    loom::model(|| {
        let cache = Arc::new(ObjectCache::<u32, 1>::default());
        let waiting = Arc::new(AtomicUsize::new(0));
        let releaser = {
            let (cache, waiting) = (Arc::clone(&cache), Arc::clone(&waiting));
            thread::spawn(move || {
                cache.put(Box::new(7)).unwrap();
                waiting.load(Ordering::SeqCst) > 0
            })
        };
        waiting.fetch_add(1, Ordering::SeqCst);
        let found = cache.drain().count() > 0;
        let notified = releaser.join().unwrap();
        assert!(found || notified);
    });
}
