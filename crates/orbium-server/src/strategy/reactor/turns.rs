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

/// Maximum number of requests of one connection in a turn.
const REQUESTS: usize = 16;

/// Maximum time in which a turn begins requests; the last one is completed.
const TIME: Duration = Duration::from_millis(1);

/// The turn of a connection: the maximum number of its requests served before other connections are
/// checked.
pub(crate) struct Turn {
    most: usize,
    served: usize,
    since: Option<Instant>,
}

impl Turn {
    /// A turn with the usual number of requests.
    pub(crate) fn usual() -> Self {
        Self::of(REQUESTS)
    }

    /// A turn of at most that many requests.
    pub(crate) fn of(requests: usize) -> Self {
        Self {
            most: requests,
            served: 0,
            since: None,
        }
    }

    /// Records a served request; returns whether another one may begin. The clock is read from the
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

/// The parts needed to serve a connection: its ORB, itself, and its receive state.
pub(crate) type Taken = (Arc<dyn Dispatcher>, Arc<ServerConnection>, Box<Intake>);

impl Reactor {
    /// Appends a connection to the line.
    pub(crate) fn enqueue_turn(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id)
            && !std::mem::replace(&mut served.is_lined_up, true)
        {
            self.todo.push_back(id);
        }
    }

    /// Gives a connection the next turn, with its receive state.
    pub(crate) fn enqueue_turn_first(&mut self, id: u64, intake: Intake) {
        if let Some(served) = self.served.get_mut(id) {
            served.intake = Some(Box::new(intake));
            served.is_lined_up = true;
            self.todo.push_front(id);
        }
    }

    /// Withdraws the next turn of a connection.
    pub(crate) fn withdraw_turn(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id) {
            served.intake = None;
            served.is_lined_up = false;
            self.todo.retain(|it| *it != id);
        }
    }

    /// Whether a connection is in the line: then it has something to serve, and perhaps a full
    /// receive buffer.
    pub(super) fn is_lined_up(&self, id: u64) -> bool {
        self.served.get(id).is_some_and(|it| it.is_lined_up)
    }

    /// Whether any connection is in the line.
    pub(crate) fn has_turns(&self) -> bool {
        !self.todo.is_empty()
    }

    /// Whether a connection is the last in the line.
    pub(crate) fn is_last_in_line(&self, id: u64) -> bool {
        self.todo.back() == Some(&id)
    }

    /// The connection at the head of the line; `None` if there is none, or the poller and the
    /// deadlines come first.
    #[inline]
    pub(crate) fn next_turn(&mut self) -> Option<u64> {
        self.turns = self.turns.checked_sub(1)?;
        self.todo.pop_front()
    }

    /// Time to wait for the poller; zero if connections are in the line.
    pub(crate) fn timeout_of_a_look(&mut self) -> Option<Duration> {
        let timeout = self.timeout();
        if self.todo.is_empty() {
            timeout
        } else {
            Some(Duration::ZERO)
        }
    }

    /// Takes the parts needed to serve a connection.
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

    /// Takes the receive state back; `any` is set if a message was processed.
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
            // Replies of other threads are sent first. They have a deadline.
            served.closing = true;
            return;
        }
        if close || connection.is_broken() {
            self.drop_connection(id);
            return;
        }
        let unfinished = last == Outcome::Incomplete
            && (intake.is_unfinished() || connection.note_partial_message());
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
            self.enqueue_turn(id);
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
        // The poller does not report it.
        if buffered && self.notifier.oneshot {
            // The serving thread receives it, without the lock of the reactor.
            self.enqueue_turn(id);
        } else if buffered {
            self.progress(id);
        }
    }

    /// Stops the poller's reports for a connection that is not read.
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

    /// Resumes reading a connection that no longer waits for a place.
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
        self.enqueue_turn(id);
    }

    /// The receive state, unless the connection is gone, or was just granted a thread, which has it
    /// now.
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

    /// Has a connection read by its granted thread; returns the receive state if there is none.
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
