// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections that one thread waits for, and all their handling except serving.

mod asked;
mod last_replies;
mod newcomers;
mod silent;
mod table;
mod times;
mod turns;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_channel::accepting::{Accepting, WAKER, place_of};
use orbium_sys::{Interest, Poller, Ready, Waker};
use orbium_transport::{ByteStream, Deadline};

use crate::LaneCore;
use crate::connections::connection::ServerConnection;
use crate::connections::ending::Left;
use crate::connections::idle::Quiet;
use crate::intake::Intake;
use crate::lane::pool::Pool;
use crate::strategy::notifier::Notifier;
pub(crate) use asked::NestedTurn;
use last_replies::send_last_replies;
use newcomers::Newcomers;
use table::Table;
pub(crate) use turns::Turn;

/// Maximum number of turns of connections between two checks of the poller and of deadlines:
/// together with [`Turn`] it bounds the number of other requests that a peer waits for after it has
/// become ready.
const TURNS: usize = 16;

/// Maximum time in which all clients together receive the pending replies when the reactor ends.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Whether a connection waits for a place in a queue, and its state in the poller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    /// The poller still reports received data.
    Heard,
    /// The poller no longer reports it.
    Silent,
}

/// A connection and its receive state.
pub(crate) struct Served {
    pub(crate) connection: Arc<ServerConnection>,
    /// `None` while a message of it is being served, and if the serving thread has stored it in the
    /// connection.
    pub(crate) intake: Option<Box<Intake>>,
    /// The deadline of the unfinished message.
    pub(crate) unfinished: Option<Deadline>,
    /// Reading has ended; it is closed after all queued data were sent.
    closing: bool,
    /// Whether it is in the list of those with a deadline.
    is_timed: bool,
    /// Whether a request of it waits for a place in a queue: reading is suspended.
    waits: Waits,
    /// Whether it is in the line.
    is_lined_up: bool,
    /// Its index among the newcomers, if it is one.
    newcomer: Option<usize>,
    quiet: Quiet,
}

impl Served {
    /// The receive state, here or in the connection.
    fn intake(&mut self) -> &mut Option<Box<Intake>> {
        if self.intake.is_none() {
            self.intake = self.connection.left.take_local();
        }
        &mut self.intake
    }

    /// Whether a message of it is being served, so that it will be returned.
    fn is_taken(&mut self) -> bool {
        self.intake().is_none() && !self.closing
    }

    /// Whether nothing was received for that long, and no reply is due.
    fn is_idle(&mut self, now: Instant, time: Duration) -> bool {
        let busy = self.intake().as_ref().is_none_or(|it| it.is_unfinished())
            || self.closing
            || self.unfinished.is_some()
            || self.connection.has_pending()
            || self.connection.may_be_silent();
        if busy {
            self.quiet.disturb();
        }
        !busy && self.quiet.lasts(now, time)
    }
}

/// The state of the reactor; moves between threads as one.
pub(crate) struct Reactor {
    pub(crate) shared: Arc<LaneCore>,
    pub(crate) notifier: Arc<Notifier>,
    accepting: Accepting,
    pub(crate) served: Table<Served>,
    /// Connections to process before waiting again.
    todo: VecDeque<u64>,
    /// The number of turns before the poller is checked.
    turns: usize,
    /// Connections with a deadline, lazily cleaned. Each has a flag for that.
    timed: Vec<u64>,
    /// Connections without received data.
    pub(crate) newcomers: Newcomers,
    /// The time of the next check of idle connections.
    idle: Instant,
    /// The worker pool that serves requests, if this thread does not.
    pub(crate) pool: Option<Arc<Pool>>,
}

impl Reactor {
    /// A reactor that accepts connections; see [`Notifier`] for `oneshot`.
    pub(crate) fn new(
        shared: &Arc<LaneCore>,
        accepting: Accepting,
        waker: &Arc<Waker>,
        once: bool,
    ) -> io::Result<Self> {
        let poller = Poller::busy(shared.setup.busy_poll)?;
        let notifier = Arc::new(Notifier::new(waker, once, poller));
        accepting.register(&notifier.poller, waker)?;
        Ok(Self {
            shared: Arc::clone(shared),
            notifier,
            accepting,
            served: Table::new(),
            todo: VecDeque::new(),
            turns: 0,
            timed: Vec::new(),
            newcomers: Newcomers::default(),
            idle: Instant::now(),
            pool: None,
        })
    }

    /// The next connection with something to serve; `None` at the end.
    pub(crate) fn next(&mut self, ready: &mut Vec<Ready>) -> Option<u64> {
        loop {
            if self.shared.is_stopping() {
                return None;
            }
            if let Some(id) = self.next_turn() {
                return Some(id);
            }
            let timeout = self.timeout_of_a_look();
            if let Err(error) = self.notifier.poller.wait(ready, timeout) {
                crate::log::error!(target: "orbium::conn", %error, "cannot wait for connections");
                return None;
            }
            self.handle_ready::<false>(ready);
        }
    }

    /// Handles ready connections. With `LATER`, data are received by the serving thread.
    #[inline]
    pub(crate) fn handle_ready<const LATER: bool>(&mut self, ready: &[Ready]) {
        for Ready { token } in ready.iter().copied() {
            if token == WAKER {
                // All other causes of a wake-up are checked before waiting again.
                self.notifier.clear();
                self.apply_changes();
                continue;
            }
            if Accepting::is_acceptor(token) {
                self.accept(token);
            } else if LATER && !self.is_held_up(token) {
                self.enqueue_turn(token);
            } else if !self.is_lined_up(token) {
                self.progress(token);
            }
        }
        self.turns = self.todo.len().min(TURNS);
    }

    fn is_held_up(&self, id: u64) -> bool {
        let served = self.served.get(id);
        served.is_some_and(|served| served.connection.has_pending())
    }

    /// Applies changes of the lane's endpoints.
    #[cold]
    fn apply_changes(&mut self) {
        let mut accepted = Vec::new();
        let notifier = Arc::clone(&self.notifier);
        let any = self
            .accepting
            .apply_changes(&notifier.poller, &mut |stream, at| {
                accepted.push((stream, at));
            });
        for (stream, at) in accepted {
            self.take_on(stream, at);
        }
        if any {
            self.accepting.changes().note_applied();
        }
    }

    fn accept(&mut self, token: u64) {
        if let Some(stream) = self.accepting.accept(token, &self.notifier.poller) {
            self.take_on(stream, place_of(token));
        } else if self.accepting.is_paused() {
            let lane = Arc::clone(&self.shared);
            if lane.end_emptiest(|it| self.make_room(it.id)) {
                self.accepting.retry_soon();
            }
        }
    }

    fn take_on(&mut self, stream: Box<dyn ByteStream>, at: usize) {
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        let notifier = Some(Arc::clone(&self.notifier));
        let lane = Arc::clone(&self.shared);
        let registered = lane.register(stream, at, notifier, |it| self.make_room(it.id));
        let Some(connection) = registered else {
            return;
        };
        let id = connection.id;
        let source = connection.stream.source();
        let interest = self.notifier.interest(Interest::Read);
        let added = self.notifier.poller.add(&source, connection.id, interest);
        if added.is_err() {
            self.shared.forget(&connection);
            return;
        }
        let intake = Some(Box::new(connection.new_intake(&lane.host.context)));
        self.served.insert(
            connection.id,
            Served {
                connection,
                intake,
                unfinished: None,
                closing: false,
                is_timed: false,
                waits: Waits::No,
                is_lined_up: false,
                newcomer: None,
                quiet: Quiet::default(),
            },
        );
        self.note_newcomer(id);
    }

    /// Closes a connection for another; `false` if there is work for it.
    #[cold]
    fn make_room(&mut self, id: u64) -> bool {
        let Some(served) = self.served.get_mut(id) else {
            return false;
        };
        let busy = served.is_taken() || served.closing || served.is_lined_up;
        // Last: a connection that may end counts as ended from then on.
        if busy || !served.connection.may_end() {
            return false;
        }
        self.drop_connection(id);
        true
    }

    /// Handles a ready connection: receives, or sends its queued data.
    fn progress(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if served.connection.has_pending() {
            if !served.connection.read_ahead(&self.notifier) {
                return self.lose(id);
            }
            match served.connection.flush().ok() {
                Some(false) => {}
                // Unless more was queued in the meantime.
                Some(true) if served.closing => {
                    if served.connection.may_end() {
                        self.drop_connection(id);
                    }
                }
                // More may have been received before.
                Some(true) => {
                    if served.waits == Waits::Silent {
                        served.waits = Waits::Heard;
                    }
                    self.enqueue_turn(id);
                    if let Some(pool) = &self.pool {
                        pool.look_again();
                    }
                }
                None => self.lose(id),
            }
            return;
        }
        if served.waits != Waits::No {
            return match served.connection.read_ahead_in_part() {
                Some(true) if !self.notifier.oneshot => {}
                Some(false) => self.lose(id),
                _ => self.silence(id),
            };
        }
        if served.intake().is_none() {
            return;
        }
        let Some(intake) = &mut served.intake else {
            return;
        };
        match intake.giop.receive(&*served.connection.stream) {
            // Shut down: `close_all` closes it.
            Ok(0) if self.shared.is_stopping() => {}
            Ok(0) if served.connection.may_end() => self.drop_connection(id),
            // Replies of other threads are sent first.
            Ok(0) => served.closing = true,
            Ok(_) => {
                served.connection.note_octets();
                self.enqueue_turn(id);
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => {
                    if served.connection.stream.has_buffered() {
                        // It is decoded part by part.
                        self.enqueue_turn(id);
                    }
                    self.note_partial_message(id);
                }
                _ => self.drop_connection(id),
            },
        }
    }

    /// Drops a connection that its peer does not read from.
    #[cold]
    fn lose(&mut self, id: u64) {
        if let Some(pool) = &self.pool {
            pool.forget(id);
        }
        if let Some(served) = self.served.get_mut(id)
            && served.is_taken()
        {
            // Its request is completed first; the reply is discarded.
            return served.connection.give_up();
        }
        self.drop_connection(id);
    }

    /// Removes a connection from the reactor.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Served> {
        self.forget_newcomer(id);
        self.served.remove(id)
    }

    pub(crate) fn drop_connection(&mut self, id: u64) {
        if let Some(served) = self.remove(id) {
            // First: a late sender must not rely on the reactor.
            served.connection.end();
            served.connection.wait_for_nothing(&self.notifier);
            self.shared.forget(&served.connection);
            if let Some(pool) = &self.pool {
                pool.look_again();
            }
        }
    }

    /// Stops listening, and closes all connections except those with a message being served.
    /// Returns those with pending replies; their further requests have to be refused.
    #[must_use]
    pub(crate) fn close_all(&mut self) -> Option<Left> {
        self.accepting.end(&self.notifier.poller);
        let all = self.served.iter_mut();
        let free = all.filter_map(|(id, served)| (!served.is_taken()).then_some(id));
        let free: Vec<u64> = free.collect();
        let free = free.into_iter().filter_map(|id| self.remove(id));
        let free: Vec<Served> = free.collect();
        let last = Deadline::after(Some(LAST_WAIT));
        let sent = send_last_replies(free.iter().map(|served| &*served.connection), last);
        if let Err(error) = sent {
            crate::log::warn!(target: "orbium::conn", %error, "last replies are cut off");
        }
        let mut connections = Vec::new();
        for served in free {
            // Without a reply there is room for the last word, or the stream was never opened.
            if served.connection.has_pending() {
                served.connection.end_by(last);
            } else {
                served.connection.end();
            }
            self.shared.forget(&served.connection);
            if served.connection.is_shared()
                && let Some(intake) = served.intake
            {
                connections.push((served.connection, intake));
            }
        }
        let dispatcher = self.shared.host.dispatcher();
        dispatcher
            .filter(|_| !connections.is_empty())
            .map(|dispatcher| Left {
                lane: Arc::clone(&self.shared),
                dispatcher,
                connections,
            })
    }
}
