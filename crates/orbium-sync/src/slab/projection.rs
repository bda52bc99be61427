// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value of a slab and a view of its content, both looked up once.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::slot::Slot;
use super::{Slab, SlotKey, hazard_registry};
use crate::process_barrier;

/// A value of a slab and a view of it, such as a trait object that it owns, both resolved once. It
/// does not keep the value alive: [`with`](Self::with) does while it runs, and fails once the value
/// was removed. If the system offers a memory barrier on all threads of a process (`membarrier` of
/// Linux), that takes no read-modify-write; removing the value then costs that barrier, a few
/// microseconds.
///
/// ```
/// use std::sync::Arc;
/// use orbium_sync::Slab;
///
/// let slab = Arc::new(Slab::default());
/// let key = slab.insert_with(|_| Some(String::from("seven")))?;
/// let text = slab.project(key, |value| value.as_deref()).expect("it is there");
/// assert_eq!(text.with(|_, text| text.len()), Some(5));
/// drop(slab.remove(key));
/// assert_eq!(text.with(|_, text| text.len()), None);
/// # Ok::<(), orbium_sync::SlabFull>(())
/// ```
pub struct Projection<T, S: ?Sized> {
    slot: NonNull<Slot<T>>,
    view: NonNull<S>,
    generation: u32,
    /// Whether the value is used by hazard pointers and not by pins.
    has_hazards: bool,
    slab: Arc<Slab<T>>,
}

#[allow(unsafe_code)]
// SAFETY: it gives references to the value and to the view to any thread, and drops the slab
// on any; that is all.
unsafe impl<T: Send + Sync, S: Sync + ?Sized> Send for Projection<T, S> {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl<T: Send + Sync, S: Sync + ?Sized> Sync for Projection<T, S> {}

impl<T> Slab<T> {
    /// A projection of the value with that key by `view`; `None` for a key of another generation,
    /// and if `view` returns `None`.
    pub fn project<S: ?Sized>(
        self: &Arc<Self>,
        key: SlotKey,
        view: impl for<'v> FnOnce(&'v T) -> Option<&'v S>,
    ) -> Option<Projection<T, S>> {
        let slot = self.slot(key.index)?;
        let pinned = slot.pin(&self.free, key.generation)?;
        let view = NonNull::from(view(&pinned)?);
        let has_hazards = process_barrier::is_offered();
        if has_hazards {
            slot.has_views_from_now_on();
        }
        Some(Projection {
            slot: NonNull::from(slot),
            view,
            generation: key.generation,
            has_hazards,
            slab: Arc::clone(self),
        })
    }
}

impl<T, S: ?Sized> Projection<T, S> {
    /// Calls `run` with the value and its view, which are kept while it runs; `None` if the value
    /// was removed.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn with<R>(&self, run: impl for<'v> FnOnce(&'v T, &'v S) -> R) -> Option<R> {
        // SAFETY: slots never move, and stay as long as the slab, which is held here.
        let slot = unsafe { self.slot.as_ref() };
        let hazards = if self.has_hazards {
            hazard_registry::of_this_thread()
        } else {
            None
        };
        let value = slot.enter(&self.slab.free, self.generation, hazards)?;
        // SAFETY: the view was made from a shared reference to the value of this generation,
        // for whatever lifetime that reference had (`project`). The value was not moved, and is
        // neither changed but by shared references nor dropped while it is in use, which it is
        // until `run` has returned.
        let view = unsafe { self.view.as_ref() };
        Some(run(&value, view))
    }
}

impl<T, S: ?Sized> fmt::Debug for Projection<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    trait Number: Send + Sync {
        fn number(&self) -> usize;
    }

    struct Exactly(Arc<usize>);

    impl Number for Exactly {
        fn number(&self) -> usize {
            *self.0
        }
    }

    type Slots = Slab<Arc<dyn Number>>;

    fn inserted(slab: &Slots, number: &Arc<usize>) -> SlotKey {
        let number = Arc::new(Exactly(Arc::clone(number)));
        slab.insert_with(|_| number).unwrap()
    }

    fn as_number(value: &Arc<dyn Number>) -> Option<&(dyn Number + 'static)> {
        Some(&**value)
    }

    /// The number that a view sees.
    fn seen(view: &Projection<Arc<dyn Number>, dyn Number>) -> Option<usize> {
        view.with(|value, view| {
            assert_eq!(value.number(), view.number());
            view.number()
        })
    }

    #[test]
    fn a_view_is_of_its_generation_alone() {
        let slab = Arc::new(Slots::default());
        let seven = inserted(&slab, &Arc::new(7));
        let view = slab.project(seven, as_number).unwrap();
        assert_eq!(seen(&view), Some(7));
        drop(slab.remove(seven));
        assert!(seen(&view).is_none() && slab.project(seven, as_number).is_none());
        let eight = inserted(&slab, &Arc::new(8));
        assert_eq!(eight.index, seven.index);
        assert!(seen(&view).is_none());
    }

    #[test]
    fn a_view_that_is_not_there_is_no_projection() {
        let slab = Arc::new(Slab::default());
        let key = slab.insert_with(|_| None::<String>).unwrap();
        assert!(slab.project(key, Option::as_deref).is_none());
    }

    /// Runs a test with hazard pointers, if the system offers its barrier, and with pins.
    fn in_both_ways(test: impl Fn(&dyn Fn(&mut Projection<Arc<dyn Number>, dyn Number>))) {
        test(&|_| {});
        test(&|view| view.has_hazards = false);
    }

    #[test]
    fn a_value_in_use_outlives_the_removal() {
        in_both_ways(|way| {
            let slab = Arc::new(Slots::default());
            let number = Arc::new(9);
            let key = inserted(&slab, &number);
            let mut view = slab.project(key, as_number).unwrap();
            way(&mut view);
            let seen = view.with(|_, nine| {
                drop(slab.remove(key));
                assert_eq!(seen(&view), None);
                (nine.number(), Arc::strong_count(&number))
            });
            assert_eq!((seen, Arc::strong_count(&number)), (Some((9, 2)), 1));
            assert!(slab.is_empty());
        });
    }

    #[test]
    fn the_last_of_several_nested_uses_drops_the_value() {
        fn nested(view: &Projection<Arc<dyn Number>, dyn Number>, depth: usize, end: &dyn Fn()) {
            let ran = view.with(|_, number| {
                match depth {
                    0 => end(),
                    _ => nested(view, depth - 1, end),
                }
                assert_eq!(number.number(), 5);
            });
            assert!(ran.is_some());
        }
        // More than the hazard pointers of a thread.
        for depth in [0, 3, 20] {
            let slab = Arc::new(Slots::default());
            let number = Arc::new(5);
            let key = inserted(&slab, &number);
            let view = slab.project(key, as_number).unwrap();
            nested(&view, depth, &|| drop(slab.remove(key)));
            assert_eq!((Arc::strong_count(&number), slab.len()), (1, 0));
        }
    }

    #[test]
    fn a_panic_ends_the_use_of_a_value() {
        in_both_ways(|way| {
            let slab = Arc::new(Slots::default());
            let number = Arc::new(3);
            let key = inserted(&slab, &number);
            let mut view = slab.project(key, as_number).unwrap();
            way(&mut view);
            let body = || view.with(|_, _| panic!("servant"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err());
            drop(slab.remove(key));
            assert_eq!(Arc::strong_count(&number), 1);
        });
    }

    #[test]
    fn the_thread_that_uses_a_value_last_drops_it() {
        in_both_ways(|way| {
            let slab = Arc::new(Slots::default());
            let number = Arc::new(4);
            let key = inserted(&slab, &number);
            let mut view = slab.project(key, as_number).unwrap();
            way(&mut view);
            let (is_used, used) = std::sync::mpsc::channel();
            let (end, ended) = std::sync::mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let user = &view;
                let user = scope.spawn(move || {
                    user.with(|_, number| {
                        is_used.send(()).unwrap();
                        ended.recv().unwrap();
                        number.number()
                    })
                });
                used.recv().unwrap();
                drop(slab.remove(key));
                assert_eq!((Arc::strong_count(&number), seen(&view)), (2, None));
                end.send(()).unwrap();
                assert_eq!(user.join().unwrap(), Some(4));
            });
            assert_eq!((Arc::strong_count(&number), slab.len()), (1, 0));
        });
    }

    #[test]
    fn views_are_used_while_their_values_come_and_go() {
        let slab = Arc::new(Slots::default());
        let rounds = if cfg!(miri) { 20 } else { 500 };
        for round in 0..rounds {
            let number = Arc::new(round);
            let key = inserted(&slab, &number);
            let view = slab.project(key, as_number).unwrap();
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| while seen(&view) == Some(round) {});
                }
                drop(slab.remove(key));
            });
            assert_eq!((Arc::strong_count(&number), slab.len()), (1, 0));
        }
    }
}
