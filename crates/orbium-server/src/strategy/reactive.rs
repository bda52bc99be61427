// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reactive strategy: one thread waits for all connections and runs the servants
//! itself.
//!
//! When a servant is about to block, the whole reactor is handed off to another thread: the blocked
//! one finishes its request and ends. A servant that waits on the reactor retains it instead: see
//! [`nested_upcall`].

mod nested_upcall;
mod waits;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;
use orbium_invocation::reactor::{self, Running};

use crate::LaneCore;
use crate::connections::connection::ServerConnection;
use crate::connections::ending::refuse_remaining;
use crate::hand_off::hand_off;
use crate::intake::{HandOver, Intake, Source};
use crate::lane::nested_calls::Refusing;
use crate::message_outcome::Outcome;
use crate::strategy::reactor::{Reactor, Turn};
use orbium_sys::{Ready, Waker};
use waits::Waits;

/// Starts the thread.
pub(crate) fn start(
    shared: &Arc<LaneCore>,
    accepting: Accepting,
    waker: &Arc<Waker>,
) -> io::Result<()> {
    let reactor = Box::new(Reactor::new(shared, accepting, waker, false)?);
    shared.threads.run(move || run(reactor))
}

/// The reactor as long as this thread has it.
struct Held {
    reactor: RefCell<Option<Box<Reactor>>>,
    waits: Waits,
}

impl Held {
    /// Has another thread run the reactor; returns whether this one no longer has it.
    fn move_on(&self) -> bool {
        let Some(reactor) = self.reactor.borrow_mut().take() else {
            return false;
        };
        let lane = Arc::clone(&reactor.shared);
        let moved = lane.nested.begin(|| hand_off(&lane.threads, reactor, run));
        let Err(back) = moved else {
            return true;
        };
        // No thread is available: this one retains the reactor, and blocks.
        *self.reactor.borrow_mut() = Some(back);
        false
    }

    /// The next connection with something to serve; `None` at the end, and if another thread has
    /// the reactor.
    fn next(&self, ready: &mut Vec<Ready>) -> Option<u64> {
        // Borrowed for short times only: a servant may hand the reactor off.
        self.reactor.borrow_mut().as_mut()?.next(ready)
    }

    /// Closes all connections after their last replies.
    fn end(&self) {
        let reactor = self.reactor.borrow_mut().take();
        if let Some(left) = reactor.and_then(|mut reactor| reactor.close_all()) {
            refuse_remaining(left);
        }
    }

    /// Returns the data received after a message: they are processed first.
    fn give_back(&self, connection: &ServerConnection, intake: Intake) {
        if let Some(reactor) = &mut *self.reactor.borrow_mut() {
            reactor.enqueue_turn_first(connection.id, intake);
        }
    }
}

impl HandOver for Held {
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.give_back(connection, intake);
        if self.move_on() {
            return true;
        }
        if let Some(reactor) = &mut *self.reactor.borrow_mut() {
            reactor.withdraw_turn(connection.id);
        }
        false
    }

    fn keep(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        if !self.waits.may_keep(connection) {
            return self.hand_over(connection, intake);
        }
        self.give_back(connection, intake);
        true
    }

    fn let_go(&self) {
        if self.waits.has_kept() {
            self.move_on();
        }
    }
}

/// Runs the reactor until it stops or moves to another thread.
fn run(reactor: Box<Reactor>) {
    reactor.shared.setup.begin_serving();
    let lane = Arc::clone(&reactor.shared);
    let held = Rc::new(Held {
        reactor: RefCell::new(Some(reactor)),
        waits: Waits::default(),
    });
    let _own = Running::new(Rc::clone(&held) as Rc<dyn reactor::Reactor>);
    let mut ready = Vec::new();
    if lane.nested.is_full() {
        refuse(&held, &lane, &mut ready);
    }
    while let Some(next) = held.next(&mut ready) {
        held.waits.let_go();
        serve(&held, next, Turn::usual());
    }
    if held.reactor.borrow().is_some() {
        held.end();
    } else {
        // The request that had the reactor move on was served.
        lane.nested.end();
    }
}

/// Refuses requests as long as as many threads wait in nested calls as may.
#[cold]
fn refuse(held: &Held, lane: &LaneCore, ready: &mut Vec<Ready>) {
    let refusing = Refusing(&lane.pool);
    while let Some(next) = held.next(ready) {
        // One may have returned in the meantime.
        if !lane.nested.is_full() {
            return serve(held, next, Turn::usual());
        }
        serve_by(held, next, Turn::usual(), |intake, source| {
            intake.take_for(source, &refusing)
        });
    }
}

/// Serves the data received on a connection: a turn of messages.
fn serve(held: &Held, id: u64, turn: Turn) {
    serve_by(held, id, turn, Intake::take);
}

/// As `serve`, by what takes each message.
#[inline]
fn serve_by(
    held: &Held,
    id: u64,
    mut turn: Turn,
    take: impl Fn(&mut Intake, &Source<'_>) -> Outcome,
) {
    let taken = match &mut *held.reactor.borrow_mut() {
        None => return,
        Some(reactor) => reactor.take(id),
    };
    let Some((dispatcher, connection, mut intake)) = taken else {
        return;
    };
    let source = Source::new(&*dispatcher, &connection, held);
    let mut any = false;
    let mut last;
    loop {
        last = take(&mut intake, &source);
        any |= last == Outcome::Dispatched;
        // No request is begun while earlier replies cannot be sent.
        if last != Outcome::Dispatched || connection.has_pending() || !turn.goes_on() {
            break;
        }
    }
    // The receive state was returned, or passed to another thread.
    if last == Outcome::HandedOff {
        return;
    }
    connection.send_collected();
    if let Some(reactor) = &mut *held.reactor.borrow_mut() {
        reactor.put_back(&connection, intake, last, any);
    }
}
