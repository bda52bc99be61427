// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linked interceptors, each of which runs the next one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::point::Point;
use crate::errors;
use crate::request::interrupt::Interrupt;

/// An interceptor of a chain, and the next link. A point runs the interceptor, then the link: the
/// methods of an interceptor of type `T` are compiled into its link, and an empty point is five
/// instructions.
pub(crate) struct Link<T, L: ?Sized> {
    interceptor: Arc<T>,
    /// Its index in the chain.
    place: usize,
    pub(crate) next: Box<L>,
}

/// Makes the link of an interceptor with that index, before another link.
pub(crate) type MakeLink<I> =
    Box<dyn Fn(usize, Box<<I as Linked>::Links>) -> Box<<I as Linked>::Links> + Send + Sync>;

/// A kind of interceptors that can be linked.
pub(crate) trait Linked: 'static {
    /// The trait of their links.
    type Links: ?Sized + Send + Sync;

    /// The link after the last interceptor.
    fn end() -> Box<Self::Links>;
}

impl<T, L: ?Sized> Link<T, L> {
    pub(crate) fn new(interceptor: &Arc<T>, place: usize, next: Box<L>) -> Box<Self> {
        Box::new(Self {
            interceptor: Arc::clone(interceptor),
            place,
            next,
        })
    }

    /// Runs a point of the interceptor.
    ///
    /// # Errors
    /// The error of the interceptor; UNKNOWN if it has panicked.
    #[inline(always)]
    pub(crate) fn run<E: Into<Interrupt>>(
        &self,
        point: Point,
        run: impl FnOnce(&T) -> Result<(), E>,
    ) -> Result<(), Box<Stopped>> {
        match catch_unwind(AssertUnwindSafe(|| run(&self.interceptor))) {
            Ok(ran) => ran.map_err(|error| self.stopped(error.into(), false)),
            Err(_) => {
                let panicked = errors::panicked(point.completed);
                Err(self.stopped(panicked.into(), true))
            }
        }
    }

    #[cold]
    fn stopped(&self, interrupt: Interrupt, has_panicked: bool) -> Box<Stopped> {
        Box::new(Stopped {
            place: self.place,
            interrupt,
            has_panicked,
        })
    }
}

/// A point ended by an interceptor. Boxed: links return a pointer, which is almost always null.
pub(crate) struct Stopped {
    /// The index of the interceptor in the chain.
    pub(super) place: usize,
    pub(super) interrupt: Interrupt,
    pub(super) has_panicked: bool,
}
