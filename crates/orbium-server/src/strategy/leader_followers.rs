// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leader/followers: all threads of the lane wait on one poller; the kernel wakes one, which
//! receives and dispatches itself while the others keep waiting.
//!
//! Several threads may lead at once, a variant of the pattern for pollers that give
//! each event to a single waiter. So no follower is promoted, and a request takes the
//! lock of the team once.
//!
//! Connections are registered with EPOLLONESHOT: the notified thread re-arms its connection, so a
//! connection has one thread at a time. When all threads block in nested calls, another one is
//! started, up to a limit; the last one refuses requests instead of dispatching them, so that the
//! poller always has a waiter.

mod member;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use orbium_channel::accepting::Accepting;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::{Ready, Waker};

use crate::LaneCore;
use crate::connections::connection::ServerConnection;
use crate::connections::ending::refuse_remaining;
use crate::intake::{Intake, Source};
use crate::lane::sizes::{Resize, Sizes, Surplus};
use crate::message_outcome::Outcome;
use crate::strategy::notifier::Notifier;
use crate::strategy::reactor::{Reactor, Turn as Requests};
use orbium_lane::LaneSizes;
use orbium_request::Dispatcher;
use orbium_sync::{StartBarrier, StartGuard};

struct State {
    reactor: Reactor,
    /// The number of threads that are not waiting in nested calls.
    active: usize,
    /// The number of all threads.
    alive: usize,
    /// Whether waiting for connections has failed.
    failed: bool,
    /// Beyond the static threads, further ones are started while none waits on the poller.
    sizes: Sizes,
    surplus: Surplus,
}

/// The shared state of the threads.
struct Team {
    shared: Arc<LaneCore>,
    notifier: Arc<Notifier>,
    /// Maximum number of threads, including those in nested calls; one more only refuses requests.
    most: usize,
    state: Mutex<State>,
    /// The number of threads that wait for the connections, or are about to.
    waiting: AtomicUsize,
    /// Whether a thread must check the state before it waits. Dekker's protocol, SeqCst
    /// on both sides: a waiter increments `waiting`, then reads `look`; a producer
    /// stores `look`, then reads `waiting`. So the waiter sees the work, or the
    /// producer sees the waiter.
    look: AtomicBool,
}

/// A thread that serves a connection.
struct Member<'a> {
    team: &'a Arc<Team>,
    refuse: bool,
}

/// Starts the threads.
pub(crate) fn start(
    shared: &Arc<LaneCore>,
    accepting: Accepting,
    waker: &Arc<Waker>,
    sizes: &LaneSizes,
) -> io::Result<()> {
    let reactor = Reactor::new(shared, accepting, waker, true)?;
    let limits = shared.host.context.limits();
    let sizes = Sizes::of_team(sizes, limits);
    let team = Arc::new(Team {
        shared: Arc::clone(shared),
        notifier: Arc::clone(&reactor.notifier),
        most: limits.serving_threads,
        state: Mutex::new(State {
            reactor,
            active: 0,
            alive: 0,
            failed: false,
            sizes,
            surplus: Surplus::default(),
        }),
        waiting: AtomicUsize::new(0),
        look: AtomicBool::new(true),
    });
    let resized: Weak<Team> = Arc::downgrade(&team);
    shared.set_team(resized);
    let mut state = team.lock();
    let barrier = StartBarrier::default();
    let started =
        (0..sizes.fixed).try_for_each(|_| team.add_thread(&mut state, Some(barrier.guard())));
    if started.is_err() {
        state.failed = true;
    }
    drop(state);
    // The first request finds all of them.
    barrier.wait();
    started
}

/// A connection to serve.
struct Turn {
    dispatcher: Arc<dyn Dispatcher>,
    connection: Arc<ServerConnection>,
    intake: Box<Intake>,
    /// Whether there was no other work, nor a deadline, when it was taken.
    easy: bool,
    /// Whether requests are refused: no other thread is left to wait on the poller.
    refuse: bool,
}

impl Team {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Starts a thread, which drops `guard` once it has begun.
    fn add_thread(
        self: &Arc<Self>,
        state: &mut State,
        guard: Option<StartGuard>,
    ) -> io::Result<()> {
        let team = Arc::clone(self);
        self.shared.threads.run(move || {
            let mut ready = Vec::with_capacity(1);
            team.shared.setup.begin_serving();
            drop(guard);
            let mut easy = false;
            while let Some(turn) = team.next(&mut ready, easy) {
                easy = team.serve(turn);
            }
        })?;
        state.active += 1;
        state.alive += 1;
        Ok(())
    }

    /// Waits until there is a connection to serve; `None` if this thread is surplus. With `easy` it
    /// may wait before it checks the state.
    fn next(self: &Arc<Self>, ready: &mut Vec<Ready>, easy: bool) -> Option<Turn> {
        let waited = easy.then(|| self.wait_unless_asked(ready)).flatten();
        let mut state = self.lock();
        if let Some(waited) = waited {
            handle_wait(&mut state, waited, ready);
        }
        let mut spare_since = None;
        while !self.is_over(&state) && state.active <= state.sizes.grows_to {
            if let Some(id) = state.reactor.next_turn() {
                match self.turn(&mut state, id) {
                    Some(turn) => return Some(turn),
                    None => continue,
                }
            }
            if state.reactor.has_turns() {
                self.look(&mut state, ready);
                continue;
            }
            let spare = state.active > state.sizes.fixed;
            let mut timeout = state.reactor.timeout();
            if spare {
                let since = *spare_since.get_or_insert_with(Instant::now);
                let left = if state.surplus.is_there() {
                    Duration::ZERO
                } else {
                    state.sizes.idle_time.saturating_sub(since.elapsed())
                };
                // The last waiter never ends: the next thread that starts to wait is then the
                // surplus one.
                if !left.is_zero() {
                    timeout = Some(timeout.map_or(left, |it| it.min(left)));
                } else if self.waiting.load(Ordering::SeqCst) > 0 {
                    break;
                }
            }
            self.waiting.fetch_add(1, Ordering::SeqCst);
            self.tell(&state);
            drop(state);
            let waited = self.wait(ready, timeout);
            state = self.lock();
            handle_wait(&mut state, waited, ready);
        }
        self.end_thread(state);
        None
    }

    /// Checks deadlines and one of the ready connections, before those in the line.
    fn look(&self, state: &mut State, ready: &mut Vec<Ready>) {
        let timeout = state.reactor.timeout_of_a_look();
        let waited = self.notifier.poller.wait_for_some::<1>(ready, timeout);
        handle_wait(state, waited, ready);
    }

    /// The turn of a connection with work to do.
    fn turn(self: &Arc<Self>, state: &mut State, id: u64) -> Option<Turn> {
        let (dispatcher, connection, intake) = state.reactor.take(id)?;
        self.ensure_waiter(state);
        Some(Turn {
            dispatcher,
            connection,
            intake,
            easy: !self.tell(state),
            refuse: state.active == 1 && state.alive > self.most,
        })
    }

    /// Ends this thread: it is surplus, or the lane has ended.
    fn end_thread(&self, mut state: MutexGuard<'_, State>) {
        state.active -= 1;
        state.alive -= 1;
        state.surplus.end_one();
        if !self.is_over(&state) {
            return self.wake_waiter(&state);
        }
        // A connection being served is closed by the thread that serves it.
        let left = state.reactor.close_all();
        // Wakes the threads that wait, or are about to.
        self.notifier.wake();
        drop(state);
        if let Some(left) = left {
            refuse_remaining(left);
        }
    }

    fn is_over(&self, state: &State) -> bool {
        state.failed || self.shared.is_stopping()
    }

    /// Publishes whether waiters must check the state first. Called before the lock is released, if
    /// that may have changed.
    fn tell(&self, state: &State) -> bool {
        let look = state.reactor.has_plans() || state.failed || state.active > state.sizes.fixed;
        self.look.store(look, Ordering::SeqCst);
        look
    }

    /// Waits for a connection, unless there is other work first.
    fn wait_unless_asked(&self, ready: &mut Vec<Ready>) -> Option<io::Result<()>> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.look.load(Ordering::SeqCst) {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        Some(self.wait(ready, None))
    }

    /// Waits, as one of the threads counted as waiting. Receives one event at most and leaves
    /// others to other threads.
    fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<()> {
        let waited = self.notifier.poller.wait_for_some::<1>(ready, timeout);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    /// Ensures, before this thread serves, that another waits for the connections, and wakes for
    /// deadlines.
    fn ensure_waiter(self: &Arc<Self>, state: &mut State) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            if state.alive < state.sizes.grows_to.min(self.most) {
                // If there is none, this one waits again when it has served.
                let _ = self.add_thread(state, None);
            }
        } else if state.reactor.has_turns()
            || state.reactor.is_timed()
            || state.reactor.newcomers.are_to_be_looked_at()
        {
            self.notifier.wake();
        }
    }

    /// Wakes a waiting thread: there may be work that this thread will not do.
    fn wake_waiter(&self, state: &State) {
        self.tell(state);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.notifier.wake();
        }
    }

    /// Serves a connection: received data, and those of one receive. Returns whether there was no
    /// other work.
    fn serve(self: &Arc<Self>, turn: Turn) -> bool {
        let Turn {
            dispatcher,
            connection,
            mut intake,
            easy,
            refuse,
        } = turn;
        let member = Member { team: self, refuse };
        let source = Source::new(&*dispatcher, &connection, &member);
        let (mut any, mut received) = (false, false);
        let mut requests = Requests::usual();
        let mut last;
        loop {
            last = if refuse {
                intake.take_for(&source, &member)
            } else {
                intake.take(&source)
            };
            any |= last == Outcome::Dispatched;
            if last == Outcome::Incomplete && !received {
                received = true;
                last = self.receive(&connection, &mut intake);
                if last == Outcome::Dispatched {
                    // Checked in this turn or the next.
                    continue;
                }
            }
            // No request is begun while earlier replies cannot be sent.
            if last != Outcome::Dispatched || connection.has_pending() || !requests.goes_on() {
                break;
            }
        }
        if last == Outcome::HandedOff {
            let mut state = self.lock();
            state.active += 1;
            self.tell(&state);
            return false;
        }
        connection.send_collected();
        if easy && last == Outcome::Incomplete && is_at_rest(&connection, &intake) {
            return self.leave(&connection, intake);
        }
        self.put_back(&connection, intake, last, any);
        false
    }

    /// Receives once; `Dispatched` if there is something to process.
    #[inline]
    fn receive(&self, connection: &ServerConnection, intake: &mut Intake) -> Outcome {
        match intake.giop.receive(&*connection.stream) {
            // Shut down: `close_all` closes it.
            Ok(0) if self.shared.is_stopping() => Outcome::Incomplete,
            Ok(0) => Outcome::Close,
            Ok(_) => {
                connection.note_octets();
                Outcome::Dispatched
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => Outcome::Incomplete,
                _ => Outcome::Close,
            },
        }
    }

    /// Returns a connection without the lock, if there is no other work for it.
    fn leave(&self, connection: &ServerConnection, intake: Box<Intake>) -> bool {
        if let Err(intake) = connection.left.put(intake) {
            // Not while it is taken.
            self.put_back(connection, intake, Outcome::Incomplete, true);
            return false;
        }
        let asked = connection.wait_again(&self.notifier).is_ok();
        if !asked {
            self.lock().reactor.drop_connection(connection.id);
        }
        asked
    }

    /// Returns a connection to the poller.
    fn put_back(
        &self,
        connection: &ServerConnection,
        intake: Box<Intake>,
        last: Outcome,
        any: bool,
    ) {
        let id = connection.id;
        let mut state = self.lock();
        let reactor = &mut state.reactor;
        reactor.put_back(connection, intake, last, any);
        if reactor.served.get(id).is_some() && !reactor.is_last_in_line(id) {
            reactor.note_partial_message(id);
            if connection.wait_again(&self.notifier).is_err() {
                reactor.drop_connection(id);
            }
        }
        self.tell(&state);
    }
}

impl Resize for Team {
    fn resize(self: Arc<Self>, sizes: &LaneSizes) -> io::Result<()> {
        let sizes = Sizes::of_team(sizes, self.shared.host.context.limits());
        let barrier = StartBarrier::default();
        let mut state = self.lock();
        let missing = if self.is_over(&state) {
            0
        } else {
            sizes.fixed.saturating_sub(state.alive)
        };
        let before = std::mem::replace(&mut state.sizes, sizes);
        let grown =
            (0..missing).try_for_each(|_| self.add_thread(&mut state, Some(barrier.guard())));
        let (mut was, mut is) = (before, sizes);
        if grown.is_err() {
            (was, is) = (sizes, before);
            state.sizes = before;
        }
        let alive = state.alive;
        state.surplus.change(was.fixed, is.fixed, alive);
        self.wake_waiter(&state);
        drop(state);
        barrier.wait();
        grown
    }
}

/// Handles the result of waiting.
fn handle_wait(state: &mut State, waited: io::Result<()>, ready: &[Ready]) {
    match waited {
        Ok(()) => state.reactor.handle_ready::<true>(ready),
        Err(error) => {
            crate::log::error!(target: "orbium::conn", %error, "cannot wait for connections");
            state.failed = true;
        }
    }
}

/// Whether a connection needs nothing but waiting for it.
fn is_at_rest(connection: &ServerConnection, intake: &Intake) -> bool {
    let stream = &connection.stream;
    let sends = connection.is_broken() || connection.has_pending() || connection.is_shared();
    !(sends || intake.is_unfinished() || stream.is_midway() || stream.has_buffered())
}
