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
use crate::slots::{PiCurrent, SlotTable};

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
    interceptor: I,
}

impl<I: 'static> Entry<I> {
    pub(crate) fn new(name: String, interceptor: I) -> Self {
        Self {
            name,
            type_id: TypeId::of::<I>(),
            unimplemented: AtomicU8::new(0),
            interceptor,
        }
    }
}

/// Interceptors in the order of their registration.
pub(crate) struct Chain<I: ?Sized> {
    entries: Vec<Arc<Entry<I>>>,
    /// Points that none of them implements.
    unimplemented: Arc<AtomicU8>,
}

impl<I: ?Sized> Chain<I> {
    pub(crate) fn push(&mut self, entry: Arc<Entry<I>>) {
        self.entries.push(entry);
        // Copies of the chain without that interceptor keep theirs.
        self.unimplemented = Arc::default();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &I> {
        self.entries.iter().map(|entry| &entry.interceptor)
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

    #[inline]
    fn does_nothing_at(&self, point: Point) -> bool {
        self.unimplemented.load(Ordering::Relaxed) & point.bit != 0
    }

    /// Runs a starting point of each interceptor in order, with empty slots. `started` counts
    /// those that have succeeded.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn start<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: &mut P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            *started = self.len();
            return Ok(());
        }
        let before = current.exchange(SlotTable::default());
        let ran = self.walk(point, started, |at| {
            while let Some(entry) = self.entries.get(*at) {
                self.run(entry, point, info, &run)?;
                *at += 1;
                current.clear();
            }
            Ok(())
        });
        current.exchange(before);
        ran
    }

    /// Runs an intermediate point of each interceptor in order, with the slots of the thread.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn go_on<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        info: &mut P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            return Ok(());
        }
        self.walk(point, &mut 0, |at| {
            while let Some(entry) = self.entries.get(*at) {
                self.run(entry, point, info, &run)?;
                *at += 1;
            }
            Ok(())
        })
    }

    /// Runs an ending point of the interceptors that have started, the last first, with empty
    /// slots. `started` counts those that remain.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline]
    pub(crate) fn end<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: &mut P,
        run: impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.does_nothing_at(point) {
            *started = 0;
            return Ok(());
        }
        let before = current.exchange(SlotTable::default());
        let ran = self.walk(point, started, |at| {
            while let Some(last) = at.checked_sub(1) {
                // Before it is called: none is called twice.
                *at = last;
                self.run(&self.entries[last], point, info, &run)?;
                current.clear();
            }
            Ok(())
        });
        current.exchange(before);
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
        let ran = run(&entry.interceptor, info);
        if let Some(of_type) = info.unimplemented().0.take() {
            self.learn(entry, point, of_type);
        }
        ran
    }

    /// The method of the trait has run for an interceptor of that type.
    #[cold]
    fn learn(&self, entry: &Entry<I>, point: Point, of_type: TypeId) {
        if of_type != entry.type_id {
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
            unimplemented: Arc::default(),
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

    /// How often interceptors are called when the point is run that many times.
    fn calls(all: &Chain<dyn Seen>, times: usize) -> usize {
        let calls = Cell::new(0);
        for _ in 0..times {
            let mut info = Info::default();
            let run = |it: &dyn Seen, info: &mut Info| {
                calls.set(calls.get() + 1);
                it.point(info)
            };
            all.go_on(POINT, &mut info, run).unwrap();
        }
        calls.get()
    }

    #[test]
    fn a_point_is_run_once_where_it_is_not_implemented() {
        let mut all = Chain::<dyn Seen>::default();
        all.push(Arc::new(Entry::new(String::new(), Lacks)));
        all.push(Arc::new(Entry::new(String::new(), Lacks)));
        assert_eq!(calls(&all, 3), 2);
        assert!(all.does_nothing_at(POINT));
        let copy = all.clone();
        all.push(Arc::new(Entry::new(String::new(), Has)));
        all.push(Arc::new(Entry::new(String::new(), PassesOn(Lacks))));
        assert!(!all.does_nothing_at(POINT));
        assert_eq!(calls(&all, 3), 6);
        assert_eq!(calls(&copy, 3), 0);
    }
}
