// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that take turns to wait for all connections: who finds one ready
//! lets another wait, and serves it itself.
//!
//! A connection is told of once; who serves it asks for it again, so only one
//! thread has it. When all threads wait in calls of their own, another one takes
//! the lead, up to a limit; the last one begins nothing, but refuses whatever
//! comes, so that somebody always waits for the connections.

use std::io;
use std::sync::{Arc, PoisonError};

use crate::Orb;
use crate::accepting::Accepting;
use crate::server::LaneCore;
use crate::server::bell::Bell;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Queued, Sink, Source, Taken};
use crate::server::reactor::{Reactor, TURN};
use crate::server::starting::{Called, Roll};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::Ready;

/// Sources told of at once that need no memory to be taken.
const READY: usize = 64;

struct State {
    reactor: Reactor,
    /// Whether there is a leader, who waits for the connections.
    led: bool,
    /// Threads that wait to lead.
    followers: usize,
    /// Threads that do not wait in a call of their own.
    active: usize,
    /// All threads.
    alive: usize,
    /// Waiting for connections has failed.
    failed: bool,
}

/// What the threads share.
struct Team {
    shared: Arc<LaneCore>,
    bell: Arc<Bell>,
    /// Threads that stay.
    threads: usize,
    /// Threads that are started while nobody waits for the connections.
    grows_to: usize,
    /// Threads there may be, those that wait in calls included; one more only
    /// refuses.
    most: usize,
    state: Mutex<State>,
    promoted: Condvar,
}

/// Starts the threads.
pub(super) fn start(
    orb: &Orb,
    shared: &Arc<LaneCore>,
    accepting: Accepting,
    threads: usize,
) -> io::Result<()> {
    let reactor = Reactor::new(orb, shared, accepting, true)?;
    let team = Arc::new(Team {
        shared: Arc::clone(shared),
        bell: Arc::clone(&reactor.bell),
        threads,
        grows_to: shared.most_threads,
        most: orb.config().limits.serving_threads,
        state: Mutex::new(State {
            reactor,
            led: false,
            followers: 0,
            active: 0,
            alive: 0,
            failed: false,
        }),
        promoted: Condvar::new(),
    });
    let mut state = team.lock();
    let roll = Roll::default();
    let started = (0..threads).try_for_each(|_| team.add_thread(&mut state, Some(roll.call())));
    if started.is_err() {
        state.failed = true;
    }
    drop(state);
    // The first request finds all of them.
    roll.await_all();
    started
}

/// A connection to serve.
struct Turn {
    orb: Orb,
    connection: Arc<ServerConnection>,
    intake: Intake,
    /// Its requests are refused: nobody else could wait for the connections.
    refuse: bool,
}

impl Team {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread, which drops `called` when it is there.
    fn add_thread(self: &Arc<Self>, state: &mut State, called: Option<Called>) -> io::Result<()> {
        let team = Arc::clone(self);
        self.shared.threads.run(move || {
            let mut ready = Vec::with_capacity(READY);
            drop(called);
            while let Some(turn) = team.next(&mut ready) {
                team.serve(turn);
            }
        })?;
        state.active += 1;
        state.alive += 1;
        Ok(())
    }

    /// Leads or follows until there is a connection to serve; `None` if this
    /// thread is one too many.
    fn next(self: &Arc<Self>, ready: &mut Vec<Ready>) -> Option<Turn> {
        let mut state = self.lock();
        let mut waited_enough = false;
        while !self.is_over(&state) && state.active <= self.grows_to {
            if let Some(id) = state.reactor.todo.pop_front() {
                let Some((orb, connection, intake)) = state.reactor.take(id) else {
                    continue;
                };
                if state.followers > 0 {
                    self.promoted.notify_one();
                } else if !state.led && state.alive < self.grows_to.min(self.most) {
                    // If there is none, this one waits again when it has served.
                    let _ = self.add_thread(&mut state, None);
                }
                return Some(Turn {
                    orb,
                    connection,
                    intake,
                    refuse: state.active == 1 && state.alive > self.most,
                });
            }
            let spare = state.active > self.threads;
            // Never the last who could wait for the connections.
            if waited_enough && spare && state.led {
                break;
            }
            (state, waited_enough) = match state.led {
                true => self.follow(state, spare),
                false => (self.lead(state, ready), false),
            };
        }
        state.active -= 1;
        state.alive -= 1;
        if self.is_over(&state) {
            // Those being served are ended by who serves them.
            state.reactor.close_all();
            self.promoted.notify_all();
        } else {
            self.somebody_look(&state);
        }
        None
    }

    fn is_over(&self, state: &State) -> bool {
        state.failed || self.shared.is_stopping()
    }

    /// Waits to lead, a thread too many only for some time; whether that is over.
    fn follow<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        spare: bool,
    ) -> (MutexGuard<'a, State>, bool) {
        state.followers += 1;
        let (mut state, over) = if spare {
            let waited = self.promoted.wait_timeout(state, self.shared.idle_time);
            let (state, result) = waited.unwrap_or_else(PoisonError::into_inner);
            (state, result.timed_out())
        } else {
            let waited = self.promoted.wait(state);
            (waited.unwrap_or_else(PoisonError::into_inner), false)
        };
        state.followers -= 1;
        (state, over)
    }

    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        ready: &mut Vec<Ready>,
    ) -> MutexGuard<'a, State> {
        let timeout = state.reactor.timeout();
        state.led = true;
        drop(state);
        let waited = self.bell.poller.wait(ready, timeout);
        let mut state = self.lock();
        state.led = false;
        match waited {
            Ok(()) => state.reactor.heed::<true>(ready),
            Err(error) => {
                tracing::error!(%error, "cannot wait for connections");
                state.failed = true;
            }
        }
        state
    }

    /// There may be something to do that this thread will not do.
    fn somebody_look(&self, state: &State) {
        if state.followers > 0 {
            self.promoted.notify_one();
        } else if state.led {
            self.shared.waker.wake();
        }
    }

    /// Serves a connection: what is there, and what one receive brings.
    fn serve(self: &Arc<Self>, turn: Turn) {
        let Turn {
            orb,
            connection,
            mut intake,
            refuse,
        } = turn;
        let member = Member { team: self, refuse };
        let source = Source {
            orb: &orb,
            connection: &connection,
            reader: &member,
        };
        let (mut last, mut any, mut received) = (Taken::None, false, false);
        for _ in 0..TURN {
            last = match refuse {
                false => intake.take(&source),
                true => intake.take_for(&source, &member),
            };
            any |= last == Taken::Done;
            if last == Taken::None && !received {
                received = true;
                match intake.framing.receive(&*connection.stream) {
                    Ok(0) => last = Taken::Close,
                    Ok(_) => {
                        // To be looked at, in this turn or the next.
                        last = Taken::Done;
                        continue;
                    }
                    Err(error) => match error.kind() {
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {}
                        _ => last = Taken::Close,
                    },
                }
            }
            // No request is begun while the answers before it are not taken.
            if last != Taken::Done || connection.has_pending() {
                break;
            }
        }
        if last == Taken::HandedOver {
            self.lock().active += 1;
        } else {
            self.put_back(&connection, intake, last, any);
        }
    }

    /// Gives a connection back, to be waited for.
    fn put_back(&self, connection: &ServerConnection, intake: Intake, last: Taken, any: bool) {
        let id = connection.id;
        let mut state = self.lock();
        let led = state.led;
        let reactor = &mut state.reactor;
        let was_unfinished = reactor.is_unfinished(id) && !any;
        reactor.put_back(connection, intake, last, any);
        if reactor.served.contains_key(&id) && reactor.todo.back() != Some(&id) {
            reactor.note_midway(id);
            if connection.wait_again(&self.bell).is_err() {
                reactor.drop_connection(id);
            }
        }
        // Who leads may sleep beyond the deadline.
        if led && !was_unfinished && state.reactor.is_unfinished(id) {
            self.shared.waker.wake();
        }
    }
}

/// A thread that serves a connection.
struct Member<'a> {
    team: &'a Arc<Team>,
    refuse: bool,
}

impl HandOver for Member<'_> {
    /// Whoever is free reads on.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        let id = connection.id;
        let mut state = self.team.lock();
        if let Some(served) = state.reactor.served.get_mut(&id) {
            served.intake = Some(intake);
            state.reactor.todo.push_front(id);
        }
        state.active -= 1;
        if state.active > 0 {
            self.team.somebody_look(&state);
            return true;
        }
        if self.team.add_thread(&mut state, None).is_ok() {
            return true;
        }
        // No thread to be had: keep the connection, and block.
        state.active += 1;
        if let Some(served) = state.reactor.served.get_mut(&id) {
            served.intake = None;
            state.reactor.todo.pop_front();
        }
        false
    }

    fn sink(&self) -> Option<&dyn Sink> {
        self.refuse.then_some(self)
    }
}

impl Sink for Member<'_> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        self.team.shared.pool.count_refused(1);
        Err(Box::new(request))
    }

    fn cancel(&self, _: u64, _: u32) -> bool {
        false
    }
}
