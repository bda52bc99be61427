// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handing a connection to the thread that serves it, and taking it back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::times::completion;
use super::{Reactor, Waits};
use crate::connections::connection::ServerConnection;
use crate::intake::Intake;
use crate::message_outcome::Outcome;
use orbium_request::Dispatcher;

/// Requests of one connection that a turn has at most.
const REQUESTS: usize = 16;

/// How long a turn begins requests; the one that has begun is completed.
const TIME: Duration = Duration::from_millis(1);

/// The turn of a connection: so many of its requests are served before the others
/// are looked at.
pub(crate) struct Turn {
    most: usize,
    served: usize,
    since: Option<Instant>,
}

impl Turn {
    /// A turn of as many requests as others may have to wait for.
    pub(crate) fn usual() -> Self {
        Self::of(REQUESTS)
    }

    /// A turn of at most so many requests.
    pub(crate) fn of(requests: usize) -> Self {
        Self {
            most: requests,
            served: 0,
            since: None,
        }
    }

    /// A request was served; whether another one may begin. The clock is read from the
    /// second on: most turns have one.
    #[inline]
    pub(crate) fn goes_on(&mut self) -> bool {
        self.served += 1;
        self.served < self.most && (self.served == 1 || self.has_time())
    }

    fn has_time(&mut self) -> bool {
        self.since.get_or_insert_with(Instant::now).elapsed() < TIME
    }
}

/// What is needed to serve a connection: its ORB, itself, and what was received.
pub(crate) type Taken = (Arc<dyn Dispatcher>, Arc<ServerConnection>, Box<Intake>);

impl Reactor {
    /// Has a connection wait for its turn.
    pub(crate) fn line_up(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id)
            && !std::mem::replace(&mut served.is_lined_up, true)
        {
            self.todo.push_back(id);
        }
    }

    /// Gives a connection the next turn, with what was received of it.
    pub(crate) fn line_up_first(&mut self, id: u64, intake: Intake) {
        if let Some(served) = self.served.get_mut(id) {
            served.intake = Some(Box::new(intake));
            served.is_lined_up = true;
            self.todo.push_front(id);
        }
    }

    /// Takes back that a connection has the next turn.
    pub(crate) fn is_first_no_more(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id) {
            served.intake = None;
            served.is_lined_up = false;
            self.todo.retain(|it| *it != id);
        }
    }

    /// Whether a connection waits for its turn: then it has something to serve, and
    /// perhaps no room to receive more.
    pub(super) fn is_lined_up(&self, id: u64) -> bool {
        self.served.get(id).is_some_and(|it| it.is_lined_up)
    }

    /// Whether any connection waits for its turn.
    pub(crate) fn has_turns(&self) -> bool {
        !self.todo.is_empty()
    }

    /// Whether a connection is the last that waits for its turn.
    pub(crate) fn is_last_in_line(&self, id: u64) -> bool {
        self.todo.back() == Some(&id)
    }

    /// The connection at the head of the queue; `None` if there is none, or the poller
    /// and the deadlines come first.
    #[inline]
    pub(crate) fn next_turn(&mut self) -> Option<u64> {
        self.turns = self.turns.checked_sub(1)?;
        self.todo.pop_front()
    }

    /// Time to wait for the poller, with nothing else to do until then.
    pub(crate) fn timeout_of_a_look(&mut self) -> Option<Duration> {
        let timeout = self.timeout();
        if self.todo.is_empty() {
            timeout
        } else {
            Some(Duration::ZERO)
        }
    }

    /// What is needed to serve a connection.
    pub(crate) fn take(&mut self, id: u64) -> Option<Taken> {
        let served = self.served.get_mut(id)?;
        served.is_lined_up = false;
        if served.waits != Waits::No || served.connection.has_pending() {
            return None;
        }
        served.quiet.disturb();
        let mut intake = served.intake().take()?;
        if served.connection.is_due() {
            let connection = Arc::clone(&served.connection);
            intake = self.dedicate(&connection, intake)?;
        }
        let served = self.served.get_mut(id)?;
        match self.shared.host.dispatcher() {
            Some(dispatcher) => Some((dispatcher, Arc::clone(&served.connection), intake)),
            None => {
                served.intake = Some(intake);
                None
            }
        }
    }

    /// Takes back what was received; `any` says that a message was dealt with.
    pub(crate) fn put_back(
        &mut self,
        connection: &ServerConnection,
        intake: Box<Intake>,
        last: Outcome,
        any: bool,
    ) {
        let id = connection.id;
        let Some(intake) = self.unless_granted(id, intake, last) else {
            return;
        };
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        let close = last == Outcome::Close || intake.is_assembly_late();
        if close && !connection.is_broken() && !connection.may_end() {
            // The answers of other threads go first. They have a deadline.
            served.closing = true;
            return;
        }
        if close || connection.is_broken() {
            self.drop_connection(id);
            return;
        }
        let unfinished =
            last == Outcome::Incomplete && (intake.is_unfinished() || connection.note_midway());
        if served.newcomer.is_some() && !connection.is_fresh() {
            self.forget_newcomer(id);
        }
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if any || last == Outcome::QueueFull {
            served.unfinished = None;
        }
        served.intake = Some(intake);
        let waits = last == Outcome::QueueFull && connection.waits_for_room();
        if waits {
            served.waits = Waits::Heard;
        }
        let more = match last {
            Outcome::Dispatched | Outcome::ThreadGranted | Outcome::Dedicated => true,
            Outcome::QueueFull => !waits,
            _ => false,
        };
        if more && !connection.has_pending() {
            self.line_up(id);
        }
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        let buffered = last == Outcome::Incomplete && connection.stream.has_buffered();
        if unfinished && served.unfinished.is_none() {
            served.unfinished = Some(completion(&self.shared.host.context));
        }
        if served.unfinished.is_some() {
            self.note_timed(id);
        }
        // The poller does not know of it.
        if buffered && self.notifier.oneshot {
            // The serving thread receives it, without the lock of the reactor.
            self.line_up(id);
        } else if buffered {
            self.progress(id);
        }
    }

    /// Has the poller tell no more of a connection from which nothing is read.
    #[cold]
    pub(super) fn silence(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        // A one-shot registration is already disarmed.
        if served.waits == Waits::Heard && !self.notifier.oneshot {
            served.waits = Waits::Silent;
            let silenced = served.connection.wait_once(&self.notifier);
            if silenced.is_err() {
                self.lose(id);
            }
        }
    }

    /// Goes on to read a connection that has waited for room, if it does so no more.
    #[cold]
    pub(super) fn go_on(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if served.waits == Waits::No || served.connection.waits_for_room() {
            return;
        }
        let silent = served.waits == Waits::Silent;
        served.waits = Waits::No;
        if silent && served.connection.wait_again(&self.notifier).is_err() {
            return self.lose(id);
        }
        self.line_up(id);
    }

    /// What was received, unless the connection is gone, or was just granted a
    /// thread, which has it now.
    fn unless_granted(
        &mut self,
        id: u64,
        intake: Box<Intake>,
        last: Outcome,
    ) -> Option<Box<Intake>> {
        let connection = &self.served.get(id)?.connection;
        let granted = matches!(last, Outcome::ThreadGranted | Outcome::Dedicated);
        if !granted || connection.has_pending() {
            return Some(intake);
        }
        let connection = Arc::clone(connection);
        self.dedicate(&connection, intake)
    }

    /// Has a connection read by the thread that it was granted; gives what was
    /// received back if there is none.
    #[cold]
    fn dedicate(
        &mut self,
        connection: &Arc<ServerConnection>,
        intake: Box<Intake>,
    ) -> Option<Box<Intake>> {
        connection.leave(&self.notifier);
        let Err(back) = self.shared.dedicate(connection, intake) else {
            self.remove(connection.id);
            return None;
        };
        if connection.come_back(&self.notifier).is_ok() {
            return Some(back);
        }
        self.drop_connection(connection.id);
        None
    }
}
