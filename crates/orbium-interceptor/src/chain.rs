// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interceptors of one kind, and how a point of them is run: with slots of its own, with no
//! panic that leaves it, and not at all for those that do not implement it.

mod entry;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use orbium_giop::SystemException;
use tracing::error;

use crate::errors;
use crate::request::slots::PiCurrent;
use entry::Known;
pub(crate) use entry::{Entry, Point, PointInfo, Unimplemented};

/// Interceptors in the order of their registration.
pub(crate) struct Chain<I: ?Sized> {
    entries: Vec<Arc<Entry<I>>>,
    known: Arc<Known>,
}

impl<I: ?Sized> Chain<I> {
    /// Adds an interceptor.
    pub(crate) fn push(&mut self, entry: Arc<Entry<I>>) {
        self.entries.push(entry);
        // Copies of the chain without that interceptor keep theirs.
        self.known = Arc::default();
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
        self.known.lacks(point)
    }

    /// Whether none of them implements any of these points.
    #[inline]
    pub(crate) fn does_nothing_at_all(&self, points: &[Point]) -> bool {
        let bits = points.iter().fold(0, |all, it| all | it.bit);
        self.known.unimplemented.load(Ordering::Relaxed) & bits == bits
    }

    /// Runs a starting or intermediate point of each interceptor in order, with empty slots, or with
    /// those of the thread where there are [no slots](crate::request::slots::NO_SLOTS) to set aside.
    /// `started` counts those that have succeeded. `info` is called unless none of them implements
    /// the point.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline(always)]
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
        if !self.known.has(point) || current.has_slots() {
            return self.start_slowly(point, current, started, &mut info, &run);
        }
        let (entries, info) = (self.entries.as_slice(), &mut info);
        // Not `started` itself, so that it is in a register.
        let mut at = 0;
        let ran = self.walk(point, &mut at, |at| {
            while let Some(entry) = entries.get(*at) {
                run(&*entry.interceptor, info)?;
                *at += 1;
            }
            Ok(())
        });
        *started = at;
        ran
    }

    /// As `start`, where it is not known yet which of them implement the point, not all do, or
    /// slots are to be set aside.
    #[cold]
    #[inline(never)]
    fn start_slowly<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: &mut P,
        run: &impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = current.set_aside();
        let ran = self.walk(point, started, |at| {
            for entry in &self.entries {
                entry.run(point, info, run)?;
                *at += 1;
                current.clear();
            }
            Ok(())
        });
        current.restore(before);
        self.learn(point);
        ran
    }

    /// Runs an ending point of the interceptors that have started, the last first, with empty
    /// slots. `started` counts those that remain. `info` is called unless none of them
    /// implements the point.
    ///
    /// # Errors
    /// That of the first interceptor that fails; UNKNOWN if it has panicked.
    #[inline(always)]
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
        if !self.known.has(point) || current.has_slots() {
            return self.end_slowly(point, current, started, &mut info, &run);
        }
        let (entries, info) = (self.entries.as_slice(), &mut info);
        let mut at = (*started).min(entries.len());
        let ran = self.walk(point, &mut at, |at| {
            while let Some(entry) = at.checked_sub(1).and_then(|last| entries.get(last)) {
                // Before it is called: none is called twice.
                *at -= 1;
                run(&*entry.interceptor, info)?;
            }
            Ok(())
        });
        *started = at;
        ran
    }

    /// As `end`, where it is not known yet which of them implement the point, not all do, or slots
    /// are to be set aside.
    #[cold]
    #[inline(never)]
    fn end_slowly<P: PointInfo, E: From<SystemException>>(
        &self,
        point: Point,
        current: PiCurrent,
        started: &mut usize,
        info: &mut P,
        run: &impl Fn(&I, &mut P) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = current.set_aside();
        let ran = self.walk(point, started, |at| {
            let started = self.entries.get(..*at).unwrap_or_default();
            for entry in started.iter().rev() {
                *at -= 1;
                entry.run(point, info, run)?;
                current.clear();
            }
            Ok(())
        });
        current.restore(before);
        self.learn(point);
        ran
    }

    /// Runs `calls`, which keeps in `at` which interceptor it calls.
    ///
    /// # Errors
    /// Those of `calls`; UNKNOWN if that interceptor has panicked.
    #[inline(always)]
    fn walk<E: From<SystemException>>(
        &self,
        point: Point,
        at: &mut usize,
        calls: impl FnOnce(&mut usize) -> Result<(), E>,
    ) -> Result<(), E> {
        match catch_unwind(AssertUnwindSafe(|| calls(at))) {
            Ok(ran) => ran,
            // By value: `at` stays in a register.
            Err(_) => Err(self.panicked(*at, point).into()),
        }
    }

    /// The point was run: perhaps it is known of all interceptors by now.
    fn learn(&self, point: Point) {
        if self.known.has(point) {
            return;
        }
        let mut each = self.entries.iter();
        if each.clone().all(|it| it.known.lacks(point)) {
            self.known
                .unimplemented
                .fetch_or(point.bit, Ordering::Relaxed);
        } else if each.all(|it| it.known.has(point)) {
            self.known
                .implemented
                .fetch_or(point.bit, Ordering::Relaxed);
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
            known: Arc::clone(&self.known),
        }
    }
}

impl<I: ?Sized> Default for Chain<I> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            known: Arc::new(Known {
                unimplemented: AtomicU8::new(u8::MAX),
                implemented: AtomicU8::new(0),
            }),
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
    use std::any::TypeId;
    use std::cell::Cell;

    use orbium_giop::Completion;

    use super::*;
    use crate::request::slots::{NO_SLOTS, SlotAllocator};

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
            all.start(POINT, NO_SLOTS, &mut 0, Info::default, run)
                .unwrap();
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

    #[test]
    fn a_panic_at_a_point_that_all_implement_leaves_the_count_of_those_that_have_started() {
        let mut all = Chain::<dyn Seen>::default();
        for _ in 0..3 {
            all.push(entry(Has));
        }
        let current = SlotAllocator::new().current();
        let start = |started: &mut usize, run: &dyn Fn() -> Result<(), SystemException>| {
            all.start(POINT, current, started, Info::default, |_, _| run())
        };
        let mut started = 0;
        start(&mut started, &|| Ok(())).unwrap();
        assert_eq!(started, 3);
        assert!(all.known.has(POINT));
        let calls = Cell::new(0);
        let second_panics = || {
            calls.set(calls.get() + 1);
            assert_ne!(calls.get(), 2, "as the test wants it");
            Ok(())
        };
        started = 0;
        assert!(start(&mut started, &second_panics).is_err());
        assert_eq!((started, calls.get()), (1, 2));
        let end = |_: &dyn Seen, _: &mut Info| {
            calls.set(calls.get() + 1);
            Err(errors::no_such_policy())
        };
        assert!(
            all.end(POINT, current, &mut started, Info::default, end)
                .is_err()
        );
        assert_eq!((started, calls.get()), (0, 3));
    }
}
