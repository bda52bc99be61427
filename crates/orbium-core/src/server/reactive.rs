// SPDX-License-Identifier: MIT OR Apache-2.0
//! One thread that waits for all connections and runs the servants itself.
//!
//! When a servant is about to block, the whole reactor moves to another thread:
//! the blocked one finishes its request and leaves.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use crate::Orb;
use crate::accepting::Accepting;
use crate::server::LaneCore;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Source, Taken};
use crate::server::reactor::{Reactor, TURN};

/// Starts the thread.
pub(super) fn start(orb: &Orb, shared: &Arc<LaneCore>, accepting: Accepting) -> io::Result<()> {
    let reactor = Box::new(Reactor::new(orb, shared, accepting, false)?);
    shared.threads.run(move || run(reactor))
}

/// The reactor as long as this thread has it.
struct Held(RefCell<Option<Box<Reactor>>>);

impl HandOver for Held {
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        let Some(mut reactor) = self.0.borrow_mut().take() else {
            return false;
        };
        // What was received behind the message is looked at first.
        if let Some(served) = reactor.served.get_mut(&connection.id) {
            served.intake = Some(Box::new(intake));
            reactor.todo.push_front(connection.id);
        }
        let threads = reactor.shared.threads.clone();
        let passed = Arc::new(std::sync::Mutex::new(Some(reactor)));
        let taken = Arc::clone(&passed);
        let spawned = threads.run(move || {
            let reactor = taken.lock().ok().and_then(|mut taken| taken.take());
            if let Some(reactor) = reactor {
                run(reactor);
            }
        });
        if spawned.is_ok() {
            return true;
        }
        // No thread to be had: keep the reactor, and block.
        let mut back = passed.lock().ok().and_then(|mut passed| passed.take());
        if let Some(reactor) = &mut back
            && let Some(served) = reactor.served.get_mut(&connection.id)
        {
            served.intake = None;
        }
        *self.0.borrow_mut() = back;
        false
    }
}

/// Runs the reactor until it stops or moves to another thread.
fn run(reactor: Box<Reactor>) {
    let held = Held(RefCell::new(Some(reactor)));
    let mut ready = Vec::new();
    loop {
        // Borrowed for short times only: a servant may hand the reactor over.
        let next = match &mut *held.0.borrow_mut() {
            None => return,
            Some(reactor) => match reactor.next(&mut ready) {
                Some(next) => next,
                None => {
                    reactor.close_all();
                    return;
                }
            },
        };
        serve(&held, next);
    }
}

/// Serves what was received on a connection: a turn of messages.
fn serve(held: &Held, id: u64) {
    let taken = match &mut *held.0.borrow_mut() {
        None => return,
        Some(reactor) => reactor.take(id),
    };
    let Some((orb, connection, mut intake)) = taken else {
        return;
    };
    let source = Source {
        orb: &orb,
        connection: &connection,
        reader: held,
    };
    let mut last = Taken::None;
    let mut any = false;
    for _ in 0..TURN {
        last = intake.take(&source);
        any |= last == Taken::Done;
        // No request is begun while the answers before it are not taken.
        if last != Taken::Done || connection.has_pending() {
            break;
        }
    }
    if let Some(reactor) = &mut *held.0.borrow_mut() {
        reactor.put_back(&connection, intake, last, any);
    }
}
