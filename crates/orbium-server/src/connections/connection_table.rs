// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of a lane, and which of them make room for a new one when there
//! are as many as there may be.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::ServerConnection;
use crate::connections::idle::{self, Quiet};
use crate::connections::origin::Origin;
use orbium_config::Limits;

/// How many connections are tried in turn to make room.
const MAX_EVICTION_ATTEMPTS: usize = 8;

struct Entry {
    connection: Arc<ServerConnection>,
    quiet: Quiet,
}

/// Connections, each of which knows its place.
pub(crate) struct ConnectionTable {
    entries: Vec<Entry>,
    /// How many of them do not count against the limit.
    uncounted: usize,
    /// The descriptors that the process may have: there may be no room for more connections.
    descriptors: usize,
    /// When the connections were looked at last.
    looked: Option<Instant>,
}

/// How empty a connection is: the lowest goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Emptiness {
    /// No octet ever came; peers with many connections first (negative), then by age.
    Fresh(isize, u64),
    /// Idle for long, and since when.
    Idle(Instant),
    /// One of too many that its peer has (negative), idle ones first.
    Share(isize, bool, u64),
}

impl ConnectionTable {
    /// No connections yet, in a process that may have so many descriptors.
    pub(crate) fn new(descriptors: Option<usize>) -> Self {
        Self {
            entries: Vec::new(),
            uncounted: 0,
            descriptors: descriptors.unwrap_or(usize::MAX),
            looked: None,
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<ServerConnection>> {
        self.entries.iter().map(|entry| &entry.connection)
    }

    /// Enters a connection; `false` if there are as many as there may be.
    pub(crate) fn enter(&mut self, connection: &Arc<ServerConnection>, limits: &Limits) -> bool {
        let is_counted = connection.is_counted();
        if is_counted && self.entries.len() - self.uncounted >= limits.connections {
            return false;
        }
        self.uncounted += usize::from(!is_counted);
        // With room for as many again, no connection will have to be closed soon.
        if self.entries.len() >= limits.connections.min(self.descriptors) / 2 {
            self.look(limits);
        }
        connection
            .place
            .store(self.entries.len(), Ordering::Relaxed);
        self.entries.push(Entry {
            connection: Arc::clone(connection),
            quiet: Quiet::default(),
        });
        true
    }

    /// Takes a connection out, if it is there.
    pub(crate) fn remove(
        &mut self,
        connection: &ServerConnection,
    ) -> Option<Arc<ServerConnection>> {
        let place = connection.place.load(Ordering::Relaxed);
        let there = self.entries.get(place)?;
        if there.connection.id != connection.id {
            return None;
        }
        let removed = self.entries.swap_remove(place).connection;
        self.uncounted -= usize::from(!removed.is_counted());
        if let Some(moved) = self.entries.get(place) {
            moved.connection.place.store(place, Ordering::Relaxed);
        }
        Some(removed)
    }

    /// Notes which connections have been idle since the last look, now and then.
    fn look(&mut self, limits: &Limits) {
        let Some(time) = limits.initial_idle_time else {
            return;
        };
        let now = Instant::now();
        if self
            .looked
            .is_some_and(|it| now.duration_since(it) < idle::pause(time))
        {
            return;
        }
        self.looked = Some(now);
        for entry in &mut self.entries {
            if entry.connection.has_spoken() {
                entry.quiet.disturb();
            }
            entry.quiet.lasts(now, time);
        }
    }

    /// The connections that may end for a new one, the emptiest first. For one that is not accepted yet, no peer has
    /// too many.
    #[cold]
    pub(crate) fn emptiest(
        &mut self,
        newcomer: Option<&ServerConnection>,
        limits: &Limits,
    ) -> Vec<Arc<ServerConnection>> {
        self.look(limits);
        let mut shares: HashMap<&Origin, isize> = HashMap::new();
        for entry in &self.entries {
            *shares.entry(entry.connection.origin()).or_default() += 1;
        }
        let own = newcomer.map(|it| shares.get(it.origin()).copied().unwrap_or_default());
        let now = Instant::now();
        let candidates = self.entries.iter().enumerate();
        let mut candidates: Vec<_> = candidates
            .filter_map(|(place, entry)| {
                let share = shares.get(entry.connection.origin()).copied();
                let share = share.unwrap_or_default();
                Some((entry.emptiness(share, own, now, limits)?, place))
            })
            .collect();
        candidates.sort_unstable();
        candidates.truncate(MAX_EVICTION_ATTEMPTS);
        let places = candidates.into_iter();
        places
            .map(|(_, place)| Arc::clone(&self.entries[place].connection))
            .collect()
    }
}

impl Entry {
    /// How empty the connection is, when its peer has so many, compared with a new one
    /// of a peer that has `own`, where that is known; `None` if it stays.
    fn emptiness(
        &self,
        share: isize,
        own: Option<isize>,
        now: Instant,
        limits: &Limits,
    ) -> Option<Emptiness> {
        let connection = &self.connection;
        if !connection.may_make_room() {
            return None;
        }
        if connection.is_fresh() {
            return Some(Emptiness::Fresh(-share, connection.id));
        }
        let since = self.quiet.since();
        if let (Some(since), Some(time)) = (since, limits.initial_idle_time)
            && now.duration_since(since) >= time
        {
            return Some(Emptiness::Idle(since));
        }
        let active = since.is_none();
        (share > own? + 1).then_some(Emptiness::Share(-share, active, connection.id))
    }
}
