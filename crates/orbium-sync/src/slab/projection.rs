// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value of a slab, and a view of what is in it, both looked up once.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::slot::Slot;
use super::{Pinned, Slab, SlotKey};

/// A value of a slab and a view of it, such as a trait object that it owns, both resolved
/// once. It does not keep the value alive: [`pin`](Self::pin) does, and fails once the value
/// was removed.
///
/// ```
/// use std::sync::Arc;
/// use orbium_sync::Slab;
///
/// let slab = Arc::new(Slab::default());
/// let key = slab.insert_with(|_| Some(String::from("seven")))?;
/// let text = slab.project(key, |value| value.as_deref()).expect("it is there");
/// assert_eq!(text.pin().map(|pinned| pinned.view().len()), Some(5));
/// drop(slab.remove(key));
/// assert!(text.pin().is_none());
/// # Ok::<(), orbium_sync::SlabFull>(())
/// ```
pub struct Projection<T, S: ?Sized> {
    slot: NonNull<Slot<T>>,
    view: NonNull<S>,
    generation: u32,
    slab: Arc<Slab<T>>,
}

#[allow(unsafe_code)]
// SAFETY: it gives references to the value and to the view to any thread, and drops the slab
// on any; that is all.
unsafe impl<T: Send + Sync, S: Sync + ?Sized> Send for Projection<T, S> {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl<T: Send + Sync, S: Sync + ?Sized> Sync for Projection<T, S> {}

/// A value of a slab, pinned, with its view.
pub struct PinnedView<'p, T, S: ?Sized> {
    pinned: Pinned<'p, T>,
    /// No reference: whichever function is given this one by value ends the pin, and with it
    /// perhaps what the view is of, while a reference would still have to be good.
    view: NonNull<S>,
    /// It is of what the projection holds.
    of: PhantomData<&'p S>,
}

impl<T> Slab<T> {
    /// The value with that key as `view` sees it; `None` for a key of another generation, and
    /// where `view` returns that.
    pub fn project<S: ?Sized>(
        self: &Arc<Self>,
        key: SlotKey,
        view: impl for<'v> FnOnce(&'v T) -> Option<&'v S>,
    ) -> Option<Projection<T, S>> {
        let slot = self.slot(key.index)?;
        let pinned = slot.pin(&self.free, key.generation)?;
        let view = NonNull::from(view(&pinned)?);
        Some(Projection {
            slot: NonNull::from(slot),
            view,
            generation: key.generation,
            slab: Arc::clone(self),
        })
    }
}

impl<T, S: ?Sized> Projection<T, S> {
    /// The value and its view, which stay as long as what is returned; `None` once the value
    /// was removed.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn pin(&self) -> Option<PinnedView<'_, T, S>> {
        // SAFETY: slots never move, and stay as long as the slab, which is held here.
        let slot = unsafe { self.slot.as_ref() };
        let pinned = slot.pin(&self.slab.free, self.generation)?;
        Some(PinnedView {
            pinned,
            view: self.view,
            of: PhantomData,
        })
    }
}

impl<T, S: ?Sized> PinnedView<'_, T, S> {
    /// The view.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn view(&self) -> &S {
        // SAFETY: the view was made from a shared reference to the value of this generation,
        // for whatever lifetime that reference had (`project`). The value was not moved, and is
        // neither changed but by shared references nor dropped while it is pinned, which it is
        // as long as the reference that is returned.
        unsafe { self.view.as_ref() }
    }
}

impl<T, S: ?Sized> Deref for PinnedView<'_, T, S> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.pinned
    }
}

impl<T, S: ?Sized> fmt::Debug for Projection<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

impl<T, S: ?Sized> fmt::Debug for PinnedView<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinnedView")
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

    #[test]
    fn a_view_is_of_its_generation_alone() {
        let slab = Arc::new(Slots::default());
        let seven = inserted(&slab, &Arc::new(7));
        let view = slab.project(seven, as_number).unwrap();
        assert_eq!(view.pin().map(|it| it.view().number()), Some(7));
        assert_eq!(view.pin().map(|it| it.number()), Some(7));
        drop(slab.remove(seven));
        assert!(view.pin().is_none() && slab.project(seven, as_number).is_none());
        let eight = inserted(&slab, &Arc::new(8));
        assert_eq!(eight.index, seven.index);
        assert!(view.pin().is_none());
    }

    #[test]
    fn a_view_that_is_not_there_is_no_projection() {
        let slab = Arc::new(Slab::default());
        let key = slab.insert_with(|_| None::<String>).unwrap();
        assert!(slab.project(key, Option::as_deref).is_none());
    }

    #[test]
    fn a_pinned_view_outlives_the_removal() {
        let slab = Arc::new(Slots::default());
        let number = Arc::new(9);
        let key = inserted(&slab, &number);
        let view = slab.project(key, as_number).unwrap();
        let pinned = view.pin().unwrap();
        drop(slab.remove(key));
        drop(slab);
        assert_eq!((pinned.view().number(), Arc::strong_count(&number)), (9, 2));
        drop(pinned);
        assert_eq!(Arc::strong_count(&number), 1);
    }
}
