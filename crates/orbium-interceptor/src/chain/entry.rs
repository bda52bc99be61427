// SPDX-License-Identifier: MIT OR Apache-2.0
//! An interceptor, and which points it implements.

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::link::{Linked, MakeLink};
use super::point::Point;

/// The type for which the method of the trait itself has run, which does nothing. No value of
/// that type implements the point, so that it is not called again. An interceptor that passes
/// its calls on to another one is of another type than that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unimplemented(Option<TypeId>);

/// What an interceptor can ask at a point.
pub(crate) trait PointInfo {
    fn unimplemented(&mut self) -> &mut Unimplemented;

    /// The method of the trait has run for an interceptor of type `I`.
    #[inline]
    fn note_unimplemented<I: ?Sized + 'static>(&mut self) {
        *self.unimplemented() = Unimplemented(Some(TypeId::of::<I>()));
    }
}

/// An interceptor.
pub(crate) struct Entry<I: Linked + ?Sized> {
    pub(super) interceptor: Arc<I>,
    pub(super) name: String,
    type_id: TypeId,
    /// Makes a link of it.
    pub(super) link: MakeLink<I>,
    /// Points that it does not implement, and those that it does, as far as they have been run.
    pub(super) known: Known,
}

/// Points of which something is known.
#[derive(Default)]
pub(super) struct Known {
    /// Not implemented: of several interceptors, by none.
    pub(super) unimplemented: AtomicU8,
    /// Implemented: of several interceptors, by each.
    pub(super) implemented: AtomicU8,
}

impl Known {
    /// Of no interceptors.
    pub(super) fn of_none() -> Self {
        Self {
            unimplemented: AtomicU8::new(u8::MAX),
            implemented: AtomicU8::new(0),
        }
    }

    #[inline]
    pub(super) fn lacks(&self, point: Point) -> bool {
        self.unimplemented.load(Ordering::Relaxed) & point.bit != 0
    }

    #[inline]
    pub(super) fn has(&self, point: Point) -> bool {
        self.implemented.load(Ordering::Relaxed) & point.bit != 0
    }
}

impl Clone for Known {
    fn clone(&self) -> Self {
        let copy = |of: &AtomicU8| AtomicU8::new(of.load(Ordering::Relaxed));
        Self {
            unimplemented: copy(&self.unimplemented),
            implemented: copy(&self.implemented),
        }
    }
}

impl<I: Linked + ?Sized> Entry<I> {
    /// An interceptor of type `T`; `link` makes a link of it.
    pub(crate) fn new<T: 'static>(
        name: String,
        interceptor: Arc<I>,
        link: MakeLink<I>,
    ) -> Arc<Self> {
        Arc::new(Self {
            interceptor,
            name,
            type_id: TypeId::of::<T>(),
            link,
            known: Known::default(),
        })
    }

    /// Runs the point of the interceptor, unless it is known not to implement it.
    pub(super) fn run<P: PointInfo, E>(
        &self,
        point: Point,
        info: &mut P,
        run: &impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.known.lacks(point) {
            return Ok(());
        }
        let ran = run(&*self.interceptor, info);
        if !self.known.has(point) {
            let known = if info.unimplemented().0.take() == Some(self.type_id) {
                &self.known.unimplemented
            } else {
                &self.known.implemented
            };
            known.fetch_or(point.bit, Ordering::Relaxed);
        }
        ran
    }
}
