// SPDX-License-Identifier: MIT OR Apache-2.0
//! One thread that waits for all connections and runs the servants itself.
//!
//! When a servant is about to block, the whole reactor moves to another thread:
//! the blocked one finishes its request and leaves.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_sys::{Interest, Ready};
use orbium_transport::{Acceptor, ByteStream, Deadline};

use crate::Orb;
use crate::orb::OrbCore;
use crate::server::bell::Bell;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Source, Taken};
use crate::server::threads::{is_refusal, register_acceptors};
use crate::server::{Shared, WAKER};

/// Messages served from one connection before the others have their turn.
const TURN: usize = 16;

/// How long each client is waited for at the end, if it does not take what is
/// kept for it.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// How long nothing is accepted after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection and what was received on it.
struct Served {
    connection: Arc<ServerConnection>,
    /// `None` while a message of it is being served.
    intake: Option<Intake>,
    /// Until when the message that has begun must be complete.
    unfinished: Option<Deadline>,
    /// Nothing more is read; it is closed when all that is kept was sent.
    closing: bool,
}

/// The state of the reactor; moves between threads as one.
struct Reactor {
    orb: Weak<OrbCore>,
    shared: Arc<Shared>,
    bell: Arc<Bell>,
    acceptors: Vec<Box<dyn Acceptor>>,
    served: HashMap<u64, Served>,
    /// Connections to look at before waiting again.
    todo: VecDeque<u64>,
    /// Connections with a deadline, lazily cleaned.
    timed: HashSet<u64>,
    /// Until when nothing is accepted: the system has run out of something.
    paused: Option<Deadline>,
}

/// Starts the thread.
pub(super) fn start(
    orb: &Orb,
    shared: &Arc<Shared>,
    acceptors: Vec<Box<dyn Acceptor>>,
) -> io::Result<()> {
    let bell = Arc::new(Bell::new(&shared.waker)?);
    register_acceptors(&bell.poller, shared, &acceptors)?;
    let reactor = Box::new(Reactor {
        orb: orb.downgrade(),
        shared: Arc::clone(shared),
        bell,
        acceptors,
        served: HashMap::new(),
        todo: VecDeque::new(),
        timed: HashSet::new(),
        paused: None,
    });
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
            served.intake = Some(intake);
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

impl Reactor {
    /// The next connection with something to serve; `None` at the end.
    fn next(&mut self, ready: &mut Vec<Ready>) -> Option<u64> {
        loop {
            if self.shared.is_stopping() {
                return None;
            }
            if let Some(id) = self.todo.pop_front() {
                return Some(id);
            }
            let timeout = match (self.drop_late(), self.resume()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if let Err(error) = self.bell.poller.wait(ready, timeout) {
                tracing::error!(%error, "cannot wait for connections");
                return None;
            }
            for Ready { token } in ready.iter().copied() {
                if token == WAKER {
                    // All it can be about is looked at before waiting again.
                    self.bell.clear();
                    continue;
                }
                let place = usize::try_from(token - 1).unwrap_or(usize::MAX);
                if place < self.acceptors.len() {
                    self.accept(place);
                } else {
                    self.progress(token);
                }
            }
        }
    }

    /// Time until the next deadline; connections past theirs are dropped.
    fn drop_late(&mut self) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        let timed = std::mem::take(&mut self.timed);
        for id in timed.into_iter().chain(self.bell.timed()) {
            let Some(served) = self.served.get(&id) else {
                continue;
            };
            let pending = served.connection.pending_deadline();
            let earliest = match (served.unfinished, pending) {
                (Some(a), Some(b)) => a.earlier(b),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => continue,
            };
            match earliest.remaining() {
                Ok(left) => {
                    next = match (next, left) {
                        (Some(a), Some(b)) => Some(a.min(b)),
                        (a, b) => a.or(b),
                    };
                    self.timed.insert(id);
                }
                Err(_) => {
                    tracing::debug!(peer = %served.connection.peer(), "peer too slow");
                    self.drop_connection(id);
                }
            }
        }
        next
    }

    fn accept(&mut self, place: usize) {
        let Some(orb) = self.orb.upgrade().map(Orb::from) else {
            return;
        };
        match self.acceptors[place].accept() {
            Ok(stream) => self.take_on(&orb, stream),
            Err(error) => {
                if is_refusal(&error) {
                    self.paused = Some(Deadline::after(Some(PAUSE)));
                    self.set_accepting(Interest::None);
                }
            }
        }
    }

    fn set_accepting(&self, interest: Interest) {
        for (token, acceptor) in (1..).zip(&self.acceptors) {
            // Should this fail, the next attempt to accept tells.
            let _ = self.bell.poller.modify(&acceptor.source(), token, interest);
        }
    }

    /// Accepts again after a pause; the time until then, if it is not over.
    fn resume(&mut self) -> Option<Duration> {
        let left = self.paused?.remaining();
        if let Ok(left) = left {
            return left;
        }
        self.paused = None;
        self.set_accepting(Interest::Read);
        None
    }

    fn take_on(&mut self, orb: &Orb, stream: Box<dyn ByteStream>) {
        let limits = &orb.config().limits;
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        let (send_time, fragments) = (limits.send_time, orb.config().fragment_size);
        let bell = Some(Arc::clone(&self.bell));
        let registered = self.shared.register(limits.connections, |id| {
            ServerConnection::new(id, stream, send_time, fragments, bell)
        });
        let Some(connection) = registered else {
            tracing::warn!("connection refused: the limit of connections is reached");
            return;
        };
        let source = connection.stream.source();
        if self
            .bell
            .poller
            .add(&source, connection.id, Interest::Read)
            .is_err()
        {
            self.shared.forget(connection.id);
            return;
        }
        let intake = Some(Intake::new(limits, &*connection.stream));
        self.served.insert(
            connection.id,
            Served {
                connection,
                intake,
                unfinished: None,
                closing: false,
            },
        );
    }

    /// A connection is ready: to receive, or to take what is kept for it.
    fn progress(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(&id) else {
            return;
        };
        if served.connection.has_pending() {
            match served.connection.flush() {
                Ok(false) => {}
                Ok(true) if served.closing => self.drop_connection(id),
                // More may have been received before.
                Ok(true) => self.todo.push_back(id),
                Err(_) => self.drop_connection(id),
            }
            return;
        }
        let Some(intake) = &mut served.intake else {
            return;
        };
        match intake.framing.receive(&*served.connection.stream) {
            Ok(0) => self.drop_connection(id),
            Ok(_) => self.todo.push_back(id),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => {
                    if served.connection.stream.is_midway() {
                        if served.unfinished.is_none() {
                            let time = self.orb.upgrade().map(|orb| orb.config.limits.message_time);
                            served.unfinished = Some(Deadline::after(time));
                            self.timed.insert(id);
                        }
                    } else if !intake.is_unfinished() {
                        // It was nothing that a message begins with.
                        served.unfinished = None;
                    }
                }
                _ => self.drop_connection(id),
            },
        }
    }

    /// What is needed to serve a connection.
    fn take(&mut self, id: u64) -> Option<(Orb, Arc<ServerConnection>, Intake)> {
        let served = self.served.get_mut(&id)?;
        if served.connection.has_pending() {
            return None;
        }
        let intake = served.intake.take()?;
        match self.orb.upgrade().map(Orb::from) {
            Some(orb) => Some((orb, Arc::clone(&served.connection), intake)),
            None => {
                served.intake = Some(intake);
                None
            }
        }
    }

    /// Takes back what was received; `any` says that a message was dealt with.
    fn put_back(&mut self, connection: &ServerConnection, intake: Intake, last: Taken, any: bool) {
        let id = connection.id;
        let Some(served) = self.served.get_mut(&id) else {
            return;
        };
        let close = last == Taken::Close || intake.is_assembly_late();
        if close && connection.has_pending() && !connection.is_broken() {
            // The answers of other threads go first. They have a deadline.
            served.closing = true;
            return;
        }
        if close || connection.is_broken() {
            self.drop_connection(id);
            return;
        }
        if any {
            served.unfinished = None;
        }
        let unfinished =
            last == Taken::None && (intake.is_unfinished() || connection.stream.is_midway());
        served.intake = Some(intake);
        if last == Taken::Done && !connection.has_pending() {
            self.todo.push_back(id);
        }
        let buffered = last == Taken::None && connection.stream.has_buffered();
        if unfinished && served.unfinished.is_none() {
            let time = self.orb.upgrade().map(|orb| orb.config.limits.message_time);
            served.unfinished = Some(Deadline::after(time));
        }
        if served.unfinished.is_some() {
            self.timed.insert(id);
        }
        // The poller does not know of it.
        if buffered {
            self.progress(id);
        }
    }

    fn drop_connection(&mut self, id: u64) {
        if let Some(served) = self.served.remove(&id) {
            // First of all: who is late must not count on the reactor.
            served.connection.end();
            served.connection.wait_for_nothing(&self.bell);
            self.shared.forget(id);
        }
    }

    fn close_all(&mut self) {
        for (id, served) in self.served.drain() {
            // In the end the kernel may be waited for, though not for long.
            let stream = &served.connection.stream;
            let _ = stream.set_nonblocking(false);
            let _ = stream.set_timeouts(None, Some(Some(LAST_WAIT)));
            served.connection.end();
            self.shared.forget(id);
        }
    }
}
