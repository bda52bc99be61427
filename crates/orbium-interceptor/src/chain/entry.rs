// SPDX-License-Identifier: MIT OR Apache-2.0
//! An interceptor, and the points that it implements.

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::link::{Linked, MakeLink};
use super::point::Point;

/// The type for which the default method of the trait has run, which has no effect. No value of
/// that type implements the point, so it is not called again. An interceptor that delegates its
/// calls to another one has a different type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unimplemented(Option<TypeId>);

/// The information at a point.
pub(crate) trait PointInfo {
    fn unimplemented(&mut self) -> &mut Unimplemented;

    /// Records that the default method of the trait has run for an interceptor of type `I`.
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
    /// Makes its link.
    pub(super) link: MakeLink<I>,
    /// The points known to be implemented or not, as far as they have been run.
    pub(super) known: Known,
}

/// Known properties of points.
#[derive(Default)]
pub(super) struct Known {
    /// Points implemented by none of the interceptors.
    pub(super) unimplemented: AtomicU8,
    /// Points implemented by each of the interceptors.
    pub(super) implemented: AtomicU8,
}

impl Known {
    /// The points of an empty chain.
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
    /// An interceptor of type `T`; `link` makes its link.
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

    /// Runs the point of the interceptor, unless the interceptor is known not to implement it.
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
