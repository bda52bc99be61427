// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reactor that the calling thread runs: a nested call waits on it, and dispatches upcalls in
//! between (wait-on-reactor).

use std::cell::RefCell;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;

use orbium_sync::ThreadCache;
use orbium_sys::{Interest, wait_for};
use orbium_transport::Deadline;

/// A reactor of a server, as used by a nested call from one of its upcalls.
pub trait Reactor {
    /// Whether the request in progress has retained the reactor for its waits.
    fn is_kept(&self) -> bool;

    /// Whether this thread runs a nested upcall.
    fn is_within_a_wait(&self) -> bool;

    /// The threads of its lane; `None` if another thread has the reactor.
    fn threads(&self) -> Option<ThreadCache>;

    /// Waits until a source is ready, and dispatches upcalls in between.
    ///
    /// # Errors
    /// The error of the system, or `TimedOut` when the deadline has passed.
    fn wait(&self, source: &dyn AsFd, interest: Interest, deadline: Deadline) -> io::Result<()>;
}

thread_local! {
    /// The reactor of this thread.
    static OWN: RefCell<Option<Rc<dyn Reactor>>> = const { RefCell::new(None) };
}

/// Marks this thread as running a reactor, as long as it is held.
pub struct Running(Option<Rc<dyn Reactor>>);

impl Running {
    /// Makes this thread run that reactor.
    #[must_use]
    pub fn new(reactor: Rc<dyn Reactor>) -> Self {
        Self(OWN.replace(Some(reactor)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        OWN.set(self.0.take());
    }
}

fn own() -> Option<Rc<dyn Reactor>> {
    OWN.with_borrow(Clone::clone)
}

/// Whether this thread runs a nested upcall: the waits below it on the stack cannot
/// return before it does.
#[must_use]
pub fn is_within_a_wait() -> bool {
    own().is_some_and(|reactor| reactor.is_within_a_wait())
}

/// The threads of the lane, if this thread serves requests while it waits.
#[must_use]
pub fn keeps_reactor() -> Option<ThreadCache> {
    own().filter(|reactor| reactor.is_kept())?.threads()
}

/// Waits until a source is ready; dispatches upcalls in between if the request in progress has
/// retained its reactor.
///
/// # Errors
/// The error of the system, or `TimedOut` when the deadline has passed.
pub fn wait_on_reactor(
    source: &dyn AsFd,
    interest: Interest,
    deadline: Deadline,
) -> io::Result<()> {
    match own() {
        Some(reactor) if reactor.is_kept() => reactor.wait(source, interest, deadline),
        _ => wait_alone(source, interest, deadline),
    }
}

/// Waits until a source is ready, without serving requests.
///
/// # Errors
/// The error of the system, or `TimedOut` when the deadline has passed.
pub fn wait_alone(source: &dyn AsFd, interest: Interest, deadline: Deadline) -> io::Result<()> {
    while wait_for([(source, interest)], deadline.remaining()?)? != [true] {}
    Ok(())
}
