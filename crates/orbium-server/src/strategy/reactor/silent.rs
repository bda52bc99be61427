// SPDX-License-Identifier: MIT OR Apache-2.0
//! The newcomers of a reactor, and the deadlines of their first bytes.

use std::time::{Duration, Instant};

use super::Reactor;

impl Reactor {
    /// Adds a connection that was just accepted.
    pub(super) fn note_newcomer(&mut self, id: u64) {
        let Some(served) = self.served.get_mut(id) else {
            return;
        };
        let Some(deadline) = served.connection.opening().instant() else {
            return;
        };
        served.newcomer = Some(self.newcomers.ids.len());
        self.newcomers.ids.push(id);
        let next = self.newcomers.next.map_or(deadline, |it| it.min(deadline));
        self.newcomers.next = Some(next);
    }

    /// Removes a connection that has received data, or ends.
    pub(super) fn forget_newcomer(&mut self, id: u64) {
        let Some(place) = self.served.get_mut(id).and_then(|it| it.newcomer.take()) else {
            return;
        };
        let ids = &mut self.newcomers.ids;
        ids.swap_remove(place);
        if let Some(moved) = ids.get(place).copied()
            && let Some(served) = self.served.get_mut(moved)
        {
            served.newcomer = Some(place);
        }
        if self.newcomers.ids.is_empty() {
            self.newcomers.next = None;
        }
    }

    /// Drops connections without data by their deadline; returns the time until the next may be
    /// late.
    pub(super) fn drop_silent(&mut self) -> Option<Duration> {
        let now = Instant::now;
        let left = self.newcomers.next?.saturating_duration_since(now());
        if !left.is_zero() {
            return Some(left);
        }
        let (now, mut next) = (now(), None::<Instant>);
        let (mut late, mut known) = (Vec::new(), Vec::new());
        for id in self.newcomers.ids.iter().copied() {
            let Some(served) = self.served.get_mut(id) else {
                continue;
            };
            match served.connection.opening().instant() {
                _ if !served.connection.is_fresh() => known.push(id),
                Some(deadline) if deadline <= now => late.push(id),
                deadline => next = [next, deadline].into_iter().flatten().min(),
            }
        }
        known.into_iter().for_each(|id| self.forget_newcomer(id));
        for id in late {
            if let Some(served) = self.served.get_mut(id) {
                crate::log::debug!(target: "orbium::conn", peer = %served.connection.peer(), "nothing came over a new connection");
            }
            self.forget_newcomer(id);
            self.lose(id);
        }
        self.newcomers.next = next;
        next.map(|it| it.saturating_duration_since(now))
    }
}
