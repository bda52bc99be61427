// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interceptors of one kind, and the execution of their points: with separate slots, with
//! panics caught, and only for interceptors that implement the point.

mod entry;
mod link;
mod point;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_giop::SystemException;
use tracing::error;

use crate::errors;
use crate::request::interrupt::Interrupt;
use crate::request::slots::PiCurrent;
use entry::Known;
pub(crate) use entry::{Entry, PointInfo, Unimplemented};
pub(crate) use link::{Link, Linked, Stopped};
pub(crate) use point::Point;

/// Whether a point was completed by all interceptors of a chain.
pub(crate) type Passed = Result<(), Box<Stopped>>;

/// Interceptors in the order of their registration.
pub(crate) struct Chain<I: Linked + ?Sized> {
    entries: Vec<Arc<Entry<I>>>,
    /// For starting and intermediate points: the first one runs first.
    starting: Box<I::Links>,
    /// For ending points: the last one runs first.
    ending: Box<I::Links>,
    known: Known,
}

impl<I: Linked + ?Sized> Chain<I> {
    fn of(entries: Vec<Arc<Entry<I>>>, known: Known) -> Self {
        let in_order = entries.iter().enumerate();
        let in_front = |next, (place, entry): (usize, &Arc<Entry<I>>)| (entry.link)(place, next);
        Self {
            starting: in_order.clone().rev().fold(I::end(), in_front),
            ending: in_order.fold(I::end(), in_front),
            entries,
            known,
        }
    }

    /// Adds an interceptor.
    pub(crate) fn push(&mut self, entry: Arc<Entry<I>>) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.push(entry);
        *self = Self::of(entries, Known::default());
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

    /// Whether no interceptor implements the point.
    #[inline]
    pub(crate) fn does_nothing_at(&self, point: Point) -> bool {
        self.known.lacks(point)
    }

    /// Whether no interceptor implements any of these points.
    #[inline]
    pub(crate) fn does_nothing_at_all(&self, points: &[Point]) -> bool {
        let bits = points.iter().fold(0, |all, it| all | it.bit);
        self.known.unimplemented.load(Ordering::Relaxed) & bits == bits
    }

    /// Whether each interceptor implements each of these points: then [`starting`](Self::starting)
    /// and [`ending`](Self::ending) run them if no slots are to be set aside.
    #[inline]
    pub(crate) fn implements(&self, points: &[Point]) -> bool {
        let bits = points.iter().fold(0, |all, it| all | it.bit);
        self.known.implemented.load(Ordering::Relaxed) & bits == bits
    }

    /// The links that run a starting or intermediate point of each interceptor in order.
    #[inline]
    pub(crate) fn starting(&self) -> &I::Links {
        &self.starting
    }

    /// The links that run an ending point of each interceptor, the last first.
    #[inline]
    pub(crate) fn ending(&self) -> &I::Links {
        &self.ending
    }

    /// The interrupt by which an interceptor has ended a linked point. `started` is set to the
    /// number of interceptors before it, which have started, or have yet to run at an ending point.
    #[cold]
    pub(crate) fn stopped(&self, stopped: Stopped, started: &mut usize) -> Interrupt {
        *started = stopped.place;
        if stopped.has_panicked {
            self.log_panic(stopped.place);
        }
        stopped.interrupt
    }

    /// Runs a starting or intermediate point of each interceptor in order, with empty slots, or
    /// with those of the thread if there are [no slots](crate::request::slots::NO_SLOTS) to set
    /// aside. `started` counts the successful ones.
    ///
    /// # Errors
    /// The error of the first interceptor that fails; UNKNOWN if it has panicked.
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
        self.start_slowly(point, current, started, info, &run)
    }

    #[cold]
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
    /// slots. `started` counts the remaining ones.
    ///
    /// # Errors
    /// The error of the first interceptor that fails; UNKNOWN if it has panicked.
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
        self.end_slowly(point, current, started, info, &run)
    }

    #[cold]
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
                // Before the call: no interceptor is called twice.
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

    /// Runs `calls`, which stores the index of the interceptor being called in `at`.
    ///
    /// # Errors
    /// Errors of `calls`; UNKNOWN if that interceptor has panicked.
    fn walk<E: From<SystemException>>(
        &self,
        point: Point,
        at: &mut usize,
        calls: impl FnOnce(&mut usize) -> Result<(), E>,
    ) -> Result<(), E> {
        catch_unwind(AssertUnwindSafe(|| calls(at))).unwrap_or_else(|_| {
            self.log_panic(*at);
            Err(errors::panicked(point.completed).into())
        })
    }

    /// Updates the known points of the chain after a point was run.
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

    /// Logs the interceptor that has panicked. The panic hook has reported the location.
    #[cold]
    fn log_panic(&self, place: usize) {
        let name = self.names().nth(place).unwrap_or_default();
        error!(target: "orbium::call", interceptor = name, "interceptor panicked");
    }
}

impl<I: Linked + ?Sized> Clone for Chain<I> {
    fn clone(&self) -> Self {
        Self::of(self.entries.clone(), self.known.clone())
    }
}

impl<I: Linked + ?Sized> Default for Chain<I> {
    fn default() -> Self {
        Self::of(Vec::new(), Known::of_none())
    }
}

impl<I: Linked + ?Sized> fmt::Debug for Chain<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
