// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines and idle times of a reactor's connections.

use std::time::{Duration, Instant};

use orbium_transport::Deadline;

use super::{Reactor, Waits};
use crate::connections::idle;
use orbium_metrics::Closing;
use orbium_request::ServerContext;

impl Reactor {
    /// Time until something is due, whatever is received.
    pub(crate) fn timeout(&mut self) -> Option<Duration> {
        let resume = self.accepting.resume(&self.notifier.poller);
        let (late, idle) = (self.drop_late(), self.drop_idle());
        let silent = self.drop_silent();
        sooner(sooner(sooner(late, resume), idle), silent)
    }

    /// Closes what has been idle for too long; time until the next look.
    fn drop_idle(&mut self) -> Option<Duration> {
        let time = self.shared.host.context.limits().server_idle_time?;
        let now = Instant::now();
        let pause = idle::pause(time);
        // Later than that only by a time that was longer.
        let next = self.idle.min(now + pause);
        if now < next {
            return Some(next - now);
        }
        let all = self.served.iter_mut();
        let idle = all.filter_map(|(id, served)| served.is_idle(now, time).then_some(id));
        let idle: Vec<u64> = idle.collect();
        for id in idle {
            // What is to be looked at is not idle.
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

    /// Time until the next deadline; connections past theirs are dropped.
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

    /// Notes that a connection has a deadline.
    pub(super) fn note_timed(&mut self, id: u64) {
        if let Some(served) = self.served.get_mut(id)
            && !std::mem::replace(&mut served.is_timed, true)
        {
            self.timed.push(id);
        }
    }

    /// Whether a connection has a deadline that is to come, and perhaps is the
    /// `next`.
    fn stays_timed(&mut self, id: u64, next: &mut Option<Duration>) -> bool {
        let Some(served) = self.served.get_mut(id) else {
            return false;
        };
        let pending = served.connection.pending_deadline();
        // What has arrived is looked at first, however long the turn takes to come.
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

    /// Gives what the stream keeps of a message to itself a deadline, or takes it
    /// back if there is nothing.
    pub(crate) fn note_midway(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        if served.connection.note_midway() {
            if served.unfinished.is_none() {
                served.unfinished = Some(completion(&self.shared.host.context));
                self.note_timed(id);
            }
        } else if served
            .intake()
            .as_ref()
            .is_some_and(|intake| !intake.is_unfinished())
        {
            // It was nothing that a message begins with.
            served.unfinished = None;
        }
    }
}

/// The shorter of two times, as far as there are any.
pub(super) fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Until when a message that has just begun must be complete.
pub(super) fn completion(context: &ServerContext) -> Deadline {
    Deadline::after(Some(context.limits().message_time))
}
