// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls from other threads to objects of the main thread, which makes them with the borrowed
//! arguments of their callers.

use orbium_giop::SystemException;

use crate::adapter::{Served, Unserved};
use crate::client::{Collocated, Reference, Terms};
use crate::{Lane, Orb};

/// Makes a call on another thread; `false` if it needs a message.
pub(crate) type Make<'m> =
    dyn FnMut((&Reference, &Orb), &Collocated, &Terms<'_, '_>) -> bool + Send + 'm;

/// Serves a call on another thread; `None` if it needs a message.
pub(crate) type Serve<'m> =
    dyn FnMut((&Reference, &Orb), &Collocated, &Terms<'_, '_>) -> Option<Served> + Send + 'm;

/// A call through that reference of that ORB, to be made by the main thread.
pub(crate) struct Lent<'l, 'o> {
    called: (&'l Reference, &'l Orb),
    at: &'l Collocated,
    terms: &'l Terms<'l, 'o>,
    lane: &'l Lane,
}

impl<'l, 'o> Lent<'l, 'o> {
    /// `None` if the calling thread may serve it, or it needs a message.
    #[cold]
    pub(crate) fn of<S: ?Sized + 'static>(
        called: (&'l Reference, &'l Orb),
        at: &'l Collocated,
        terms: &'l Terms<'l, 'o>,
    ) -> Option<Self> {
        let lane = called.1.core().adapters.main_lane_of::<S>(at, terms)?;
        Some(Self {
            called,
            at,
            terms,
            lane,
        })
    }

    /// Has the main thread serve the call, and waits for the servant's result; `None` if the call
    /// needs a message.
    pub(crate) fn serve(&self, serve: &mut Serve<'_>) -> Option<Served> {
        let mut served = None;
        let ended = self.run(&mut |called, at, terms| {
            served = serve(called, at, terms);
            served.is_some()
        });
        match ended? {
            Ok(()) => served,
            Err(exception) => Some(Err(Unserved::Withdrawn(exception))),
        }
    }

    /// Has the main thread run `make`, and waits for its end; `None` if the call needs a message.
    pub(crate) fn run(&self, make: &mut Make<'_>) -> Option<Result<(), SystemException>> {
        let (called, at) = (self.called, self.at);
        let lent = self.terms.lent();
        let work = move || lent.run(|terms| make(called, at, terms));
        let token = called.0.overrides().cancellation.as_ref();
        let main = &called.1.core().adapters.main;
        match main.lend(self.lane, self.terms.until, token, work) {
            Err(exception) => Some(Err(exception)),
            Ok((is_made, contexts)) => {
                self.terms.made(is_made, contexts);
                is_made.then_some(Ok(()))
            }
        }
    }
}
