// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots, views of their values and object caches under a model checker: in every schedule no thread
//! sees a value that is gone, nothing is had by two, and nothing is lost.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-sync --test loom_slots --release`
//!
//! The modules are compiled here over the checker's atomics; values are in cells
//! that it watches for races.
#![cfg(loom)]

#[path = "../src/slab/hazard.rs"]
mod hazard;
#[path = "../src/object_cache.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod object_cache;
#[path = "../src/slab/projection.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod projection;
#[path = "../src/slab/slot.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod slot;

mod atomic {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// The barrier of the process as the checker has it: a fence on either side.
mod process_barrier {
    use loom::sync::atomic::{Ordering, fence};

    pub(crate) fn light() {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn is_offered() -> bool {
        true
    }

    pub(crate) fn heavy() -> bool {
        fence(Ordering::SeqCst);
        true
    }
}

/// The hazard pointers of the threads of a model, which are two at most.
mod hazard_registry {
    use std::cell::Cell;

    use loom::sync::atomic::{AtomicUsize, Ordering};

    use super::hazard::Hazards;

    #[derive(Default)]
    struct All {
        threads: AtomicUsize,
        hazards: [Hazards; 2],
    }

    loom::lazy_static! {
        static ref ALL: All = All::default();
    }

    loom::thread_local! {
        static NUMBER: Cell<Option<usize>> = Cell::new(None);
    }

    pub(crate) fn of_this_thread() -> Option<&'static Hazards> {
        let number = NUMBER.with(|number| {
            let assigned = number.get();
            let assigned = assigned.unwrap_or_else(|| ALL.threads.fetch_add(1, Ordering::Relaxed));
            number.set(Some(assigned));
            assigned
        });
        Some(&ALL.hazards[number])
    }

    pub(crate) fn contains(slot: usize) -> bool {
        ALL.hazards.iter().any(|it| it.contain(slot))
    }
}

#[expect(dead_code, reason = "slabs wait for no condition")]
mod lock;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use object_cache::ObjectCache;
use projection::Projection;
use slot::{Free, Slot};

/// Counts itself out, once.
struct Value(Arc<AtomicUsize>);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A slab of one slot, as projections see it.
struct Slab<T> {
    slot: Slot<T>,
    free: Free,
}

#[derive(Clone, Copy)]
struct SlotKey {
    index: u32,
    generation: u32,
}

impl<T> Slab<T> {
    /// With a value of generation 1.
    fn of(value: T) -> Self {
        let slab = Self {
            slot: Slot::free(0),
            free: Free::new(),
        };
        slab.free.lock().taken = 1;
        slab.put(1, value);
        slab
    }

    fn put(&self, generation: u32, value: T) {
        // SAFETY: called with a slot that is free, by the owner of its index.
        unsafe { self.slot.fill(generation, value) };
    }

    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        (index == 0).then_some(&self.slot)
    }
}

type Table = Slab<Value>;

impl Table {
    /// A table with a value of generation 1.
    fn with(gone: &Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self::of(Value(Arc::clone(gone))))
    }

    fn fill(&self, generation: u32, gone: &Arc<AtomicUsize>) {
        self.put(generation, Value(Arc::clone(gone)));
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
fn a_reused_slot_is_distinguished_by_its_generation() {
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

/// A number that is overwritten when it is dropped: the checker fails where that races with a
/// thread that reads it by a view.
struct Number(atomic::UnsafeCell<u32>);

impl Number {
    fn new(number: u32) -> Self {
        Self(atomic::UnsafeCell::new(number))
    }

    fn read(&self) -> u32 {
        // SAFETY: it is written only when it is dropped.
        self.0.with(|number| unsafe { *number })
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: nothing else has it.
        self.0.with_mut(|number| unsafe { *number = 0 });
    }
}

// SAFETY: as `Number` says.
unsafe impl Sync for Number {}

/// What owns a number, as an active object owns its servant.
type Owner = Box<Number>;

fn projection(slab: &std::sync::Arc<Slab<Owner>>) -> Projection<Owner, Number> {
    let key = SlotKey {
        index: 0,
        generation: 1,
    };
    slab.project(key, |owner| Some(&**owner)).unwrap()
}

fn seen(view: &Projection<Owner, Number>) -> Option<u32> {
    view.with(|_, number| number.read())
}

#[test]
fn a_view_is_lent_only_while_its_value_is_there() {
    loom::model(|| {
        let slab = std::sync::Arc::new(Slab::of(Box::new(Number::new(7))));
        let view = Arc::new(projection(&slab));
        let looks = {
            let view = Arc::clone(&view);
            thread::spawn(move || assert!(matches!(seen(&view), None | Some(7))))
        };
        drop(slab.slot.remove(&slab.free, 1));
        assert_eq!(seen(&view), None);
        looks.join().unwrap();
        assert_eq!(slab.free.lock().indices, [(0, 1)]);
    });
}

#[test]
fn the_last_of_two_users_drops_the_value() {
    loom::model(|| {
        let slab = std::sync::Arc::new(Slab::of(Box::new(Number::new(7))));
        let view = Arc::new(projection(&slab));
        let looks = {
            let view = Arc::clone(&view);
            thread::spawn(move || assert!(matches!(seen(&view), None | Some(7))))
        };
        let number = view.with(|_, number| {
            drop(slab.slot.remove(&slab.free, 1));
            number.read()
        });
        assert_eq!(number, Some(7));
        looks.join().unwrap();
        assert_eq!(slab.free.lock().indices, [(0, 1)]);
    });
}

#[test]
fn a_view_is_not_of_the_value_that_follows() {
    loom::model(|| {
        let slab = std::sync::Arc::new(Slab::of(Box::new(Number::new(7))));
        let view = projection(&slab);
        let looks = thread::spawn(move || assert!(matches!(seen(&view), None | Some(7))));
        drop(slab.slot.remove(&slab.free, 1));
        // If the slot is free by now it is taken again.
        let freed = slab.free.lock().indices.pop();
        if freed.is_some() {
            slab.put(2, Box::new(Number::new(8)));
        }
        looks.join().unwrap();
        let eight = slab.slot.pin(&slab.free, 2).map(|owner| owner.read());
        assert_eq!(eight, freed.map(|_| 8));
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
