// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines and idle times of a reactor's connections.

use std::time::{Duration, Instant};

use orbium_transport::Deadline;

use super::{Reactor, Waits};
use crate::connections::idle;
use orbium_metrics::Closing;
use orbium_request::ServerContext;

impl Reactor {
    /// Time until the next event that does not depend on received data.
    pub(crate) fn timeout(&mut self) -> Option<Duration> {
        let resume = self.accepting.resume(&self.notifier.poller);
        let (late, idle) = (self.drop_late(), self.drop_idle());
        let silent = self.drop_silent();
        sooner(sooner(sooner(late, resume), idle), silent)
    }

    /// Closes connections that have been idle for too long; returns the time until the next check.
    fn drop_idle(&mut self) -> Option<Duration> {
        let time = self.shared.host.context.limits().server_idle_time?;
        let now = Instant::now();
        let pause = idle::pause(time);
        // It is later only if the idle time was longer before.
        let next = self.idle.min(now + pause);
        if now < next {
            return Some(next - now);
        }
        let all = self.served.iter_mut();
        let idle = all.filter_map(|(id, served)| served.is_idle(now, time).then_some(id));
        let idle: Vec<u64> = idle.collect();
        for id in idle {
            // A connection in the line is not idle.
            if !self.todo.contains(&id) {
                if let Some(served) = self.served.get(id) {
                    served.connection.tracked.note_closing(Closing::Idle);
                }
                self.drop_connection(id);
            }
        }
        self.idle = now + pause;
        Some(pause)
    }

    /// Drops connections past their deadlines; returns the time until the next one.
    fn drop_late(&mut self) -> Option<Duration> {
        for id in self.notifier.take_timed() {
            self.note_timed(id);
            self.go_on(id);
        }
        let mut next = None;
        let mut place = 0;
        while let Some(&id) = self.timed.get(place) {
            if self.stays_timed(id, &mut next) {
                place += 1;
            } else {
                self.timed.swap_remove(place);
            }
        }
        next
    }

    /// Records that a connection has a deadline.
    pub(super) fn note_timed(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id)
            && !std::mem::replace(&mut served.is_timed, true)
        {
            self.timed.push(id);
        }
    }

    /// Whether a connection has a future deadline, which may become the `next`.
    fn stays_timed(&mut self, id: u64, next: &mut Option<Duration>) -> bool {
        let Some(served) = self.served.get_mut(id) else {
            return false;
        };
        let pending = served.connection.pending_deadline();
        // Received data are processed first, however long the turn takes to come.
        let has_more = served.is_lined_up || served.is_taken() || served.waits != Waits::No;
        let unfinished = served.unfinished.filter(|_| !has_more);
        let earliest = match (unfinished, pending) {
            (Some(a), Some(b)) => Some(a.earlier(b)),
            (one, other) => one.or(other),
        };
        let left = earliest.map(|it| it.remaining().ok());
        if let Some(Some(left)) = left {
            *next = sooner(*next, left);
            return true;
        }
        if earliest.is_none() && served.unfinished.is_some() {
            return true;
        }
        served.is_timed = false;
        if earliest.is_some() {
            crate::log::debug!(target: "orbium::conn", peer = %served.connection.peer(), "peer too slow");
            self.lose(id);
        }
        false
    }

    /// Sets a deadline for a partial message in the stream's buffer, or removes it if there is
    /// none.
    pub(crate) fn note_partial_message(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if served.connection.note_partial_message() {
            if served.unfinished.is_none() {
                served.unfinished = Some(completion(&self.shared.host.context));
                self.note_timed(id);
            }
        } else if served
            .intake()
            .as_ref()
            .is_some_and(|intake| !intake.is_unfinished())
        {
            // It was not the beginning of a message.
            served.unfinished = None;
        }
    }
}

/// The shorter of two times, if any.
pub(super) fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The deadline of a message that has just begun.
pub(super) fn completion(context: &ServerContext) -> Deadline {
    Deadline::after(Some(context.limits().message_time))
}
