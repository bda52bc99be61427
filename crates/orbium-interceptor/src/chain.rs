// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interceptors of one kind, and how a point of them is run: with slots of its own, with no
//! panic that leaves it, and not at all for those that do not implement it.

use std::any::TypeId;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use orbium_giop::{Completion, SystemException};
use tracing::error;

use crate::errors;
use crate::request::slots::PiCurrent;

/// A point of interceptors.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    /// A bit of its own among the points of a kind.
    pub(crate) bit: u8,
    /// What an exception for a panic says of the request.
    pub(crate) completed: Completion,
}

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
pub(crate) struct Entry<I: ?Sized> {
    name: String,
    type_id: TypeId,
    /// Points that it does not implement, as far as they have been run.
    unimplemented: AtomicU8,
    interceptor: Box<I>,
}

impl<I: ?Sized> Entry<I> {
    /// An interceptor; `type_id` is its own type.
    pub(crate) fn new(name: String, type_id: TypeId, interceptor: Box<I>) -> Arc<Self> {
        Arc::new(Self {
            name,
            type_id,
            unimplemented: AtomicU8::new(0),
            interceptor,
        })
    }
}

/// Interceptors in the order of their registration.
pub(crate) struct Chain<I: ?Sized> {
    entries: Vec<Arc<Entry<I>>>,
    /// Points that none of them implements.
    unimplemented: Arc<AtomicU8>,
}

impl<I: ?Sized> Chain<I> {
    /// Adds an interceptor.
    pub(crate) fn push(&mut self, entry: Arc<Entry<I>>) {
        self.entries.push(entry);
        // Copies of the chain without that interceptor keep theirs.
        self.unimplemented = Arc::default();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &I> {
        self.entries.iter().map(|entry| &*entry.interceptor)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether none of them implements the point.
    #[inline]
    pub(crate) fn does_nothing_at(&self, point: Point) -> bool {
        self.unimplemented.load(Ordering::Relaxed) & point.bit != 0
    }

    /// Whether none of them implements any of these points.
    #[inline]
    pub(crate) fn does_nothing_at_all(&self, points: &[Point]) -> bool {
        let bits = points.iter().fold(0, |all, it| all | it.bit);
        self.unimplemented.load(Ordering::Relaxed) & bits == bits
    }

    /// Runs a starting point of each interceptor in order, with empty slots. `started` counts
    /// those that have succeeded. `info` is called unless none of them implements the point.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn start<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: impl FnOnce() -> P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            *started = self.len();
            return Ok(());
        }
        let mut info = info();
        let before = current.set_aside();
        let ran = self.walk(point, started, |at| {
            for (place, entry) in self.entries.iter().enumerate() {
                *at = place;
                self.run(entry, point, &mut info, &run)?;
                current.clear();
            }
            *at = self.entries.len();
            Ok(())
        });
        current.restore(before);
        ran
    }

    /// Runs an intermediate point of each interceptor in order, with the slots of the thread.
    /// `info` is called unless none of them implements the point.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn go_on<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        info: impl FnOnce() -> P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            return Ok(());
        }
        let mut info = info();
        self.walk(point, &mut 0, |at| {
            for (place, entry) in self.entries.iter().enumerate() {
                *at = place;
                self.run(entry, point, &mut info, &run)?;
            }
            Ok(())
        })
    }

    /// Runs an ending point of the interceptors that have started, the last first, with empty
    /// slots. `started` counts those that remain. `info` is called unless none of them
    /// implements the point.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn end<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: impl FnOnce() -> P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            *started = 0;
            return Ok(());
        }
        let mut info = info();
        let before = current.set_aside();
        let ran = self.walk(point, started, |at| {
            let started = self.entries.get(..*at).unwrap_or_default();
            for (place, entry) in started.iter().enumerate().rev() {
                // Before it is called: none is called twice.
                *at = place;
                self.run(entry, point, &mut info, &run)?;
                current.clear();
            }
            Ok(())
        });
        current.restore(before);
        ran
    }

    /// Runs `calls`, which keeps in `at` which interceptor it calls.
    ///
    /// # Errors
    /// Those of `calls`; UNKNOWN if that interceptor has panicked.
    #[inline]
    fn walk<E: From<SystemException>>(
        &self,
        point: Point,
        at: &mut usize,
        calls: impl FnOnce(&mut usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let ran = catch_unwind(AssertUnwindSafe(|| calls(at)));
        ran.unwrap_or_else(|_| Err(self.panicked(*at, point).into()))
    }

    #[inline]
    fn run<P: PointInfo, E>(
        &self,
        entry: &Entry<I>,
        point: Point,
        info: &mut P,
        run: &impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if entry.unimplemented.load(Ordering::Relaxed) & point.bit != 0 {
            return Ok(());
        }
        let ran = run(&*entry.interceptor, info);
        if info.unimplemented().0.is_some() {
            self.learn(entry, point, info.unimplemented());
        }
        ran
    }

    /// The method of the trait has run for an interceptor of that type.
    #[cold]
    fn learn(&self, entry: &Entry<I>, point: Point, unimplemented: &mut Unimplemented) {
        if unimplemented.0.take() != Some(entry.type_id) {
            return;
        }
        entry.unimplemented.fetch_or(point.bit, Ordering::Relaxed);
        let lacks = |it: &Arc<Entry<I>>| it.unimplemented.load(Ordering::Relaxed) & point.bit != 0;
        if self.entries.iter().all(lacks) {
            self.unimplemented.fetch_or(point.bit, Ordering::Relaxed);
        }
    }

    /// What an interceptor raises that has panicked. Where, the panic hook has said.
    #[cold]
    fn panicked(&self, at: usize, point: Point) -> SystemException {
        let name = self.names().nth(at).unwrap_or_default();
        error!(target: "orbium::call", interceptor = name, "interceptor panicked");
        errors::panicked(point.completed)
    }
}

impl<I: ?Sized> Clone for Chain<I> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            unimplemented: Arc::clone(&self.unimplemented),
        }
    }
}

impl<I: ?Sized> Default for Chain<I> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            unimplemented: Arc::new(AtomicU8::new(u8::MAX)),
        }
    }
}

impl<I: ?Sized> fmt::Debug for Chain<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[derive(Default)]
    struct Info(Unimplemented);

    impl PointInfo for Info {
        fn unimplemented(&mut self) -> &mut Unimplemented {
            &mut self.0
        }
    }

    trait Seen: 'static {
        fn point(&self, info: &mut Info) -> Result<(), SystemException> {
            info.note_unimplemented::<Self>();
            Ok(())
        }
    }

    struct Lacks;
    struct Has;
    struct PassesOn(Lacks);

    impl Seen for Lacks {}
    impl Seen for Has {
        fn point(&self, _: &mut Info) -> Result<(), SystemException> {
            Ok(())
        }
    }
    impl Seen for PassesOn {
        fn point(&self, info: &mut Info) -> Result<(), SystemException> {
            self.0.point(info)
        }
    }

    const POINT: Point = Point {
        bit: 1,
        completed: Completion::No,
    };

    fn entry<I: Seen>(interceptor: I) -> Arc<Entry<dyn Seen>> {
        Entry::new(String::new(), TypeId::of::<I>(), Box::new(interceptor))
    }

    /// How often interceptors are called when the point is run that many times.
    fn calls(all: &Chain<dyn Seen>, times: usize) -> usize {
        let calls = Cell::new(0);
        for _ in 0..times {
            let run = |it: &dyn Seen, info: &mut Info| {
                calls.set(calls.get() + 1);
                it.point(info)
            };
            all.go_on(POINT, Info::default, run).unwrap();
        }
        calls.get()
    }

    #[test]
    fn a_point_is_run_once_where_it_is_not_implemented() {
        let mut all = Chain::<dyn Seen>::default();
        for _ in 0..2 {
            all.push(entry(Lacks));
        }
        assert_eq!(calls(&all, 3), 2);
        assert!(all.does_nothing_at(POINT));
        let copy = all.clone();
        all.push(entry(Has));
        all.push(entry(PassesOn(Lacks)));
        assert!(!all.does_nothing_at(POINT));
        assert_eq!(calls(&all, 3), 6);
        assert_eq!(calls(&copy, 3), 0);
    }
}
