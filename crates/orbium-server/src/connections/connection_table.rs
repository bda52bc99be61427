// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of a lane, and the choice of those that are closed for a new one when the limit
//! is reached.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::ServerConnection;
use crate::connections::idle::{self, Quiet};
use crate::connections::origin::Origin;
use orbium_config::Limits;

/// Maximum number of connections tried in turn to make room.
const MAX_EVICTION_ATTEMPTS: usize = 8;

struct Entry {
    connection: Arc<ServerConnection>,
    quiet: Quiet,
}

/// Connections, each with its index in the table.
pub(crate) struct ConnectionTable {
    entries: Vec<Entry>,
    /// The number of connections that do not count against the limit.
    uncounted: usize,
    /// The descriptors that the process may have: they may allow fewer connections.
    descriptors: usize,
    /// The time of the last check of the connections.
    looked: Option<Instant>,
}

/// The eviction order of connections: the lowest is closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EvictionRank {
    /// No byte was ever received; peers with many connections first (negative), then by age.
    Fresh(isize, u64),
    /// Idle for long, with the beginning of that time.
    Idle(Instant),
    /// Its peer has too many connections (negative number of them), idle ones first.
    Share(isize, bool, u64),
}

impl ConnectionTable {
    /// An empty table, in a process that may have that many descriptors.
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

    /// Adds a connection; `false` if the limit is reached.
    pub(crate) fn enter(&mut self, connection: &Arc<ServerConnection>, limits: &Limits) -> bool {
        let is_counted = connection.is_counted();
        if is_counted && self.entries.len() - self.uncounted >= limits.connections {
            return false;
        }
        self.uncounted += usize::from(!is_counted);
        // With capacity for twice as many, no connection will have to be closed soon.
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

    /// Removes a connection, if it is in the table.
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

    /// Records which connections have been idle since the last check, from time to time.
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
            if entry.connection.take_activity() {
                entry.quiet.disturb();
            }
            entry.quiet.lasts(now, time);
        }
    }

    /// The connections that may be closed for a new one, the first candidate first. For a
    /// connection that is not accepted yet, no peer counts as having too many.
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
    /// The eviction rank of the connection, if its peer has `share` connections, compared with a
    /// new one of a peer with `own`, if known; `None` if it is not closed.
    fn emptiness(
        &self,
        share: isize,
        own: Option<isize>,
        now: Instant,
        limits: &Limits,
    ) -> Option<EvictionRank> {
        let connection = &self.connection;
        if !connection.may_make_room() {
            return None;
        }
        if connection.is_fresh() {
            return Some(EvictionRank::Fresh(-share, connection.id));
        }
        let since = self.quiet.since();
        if let (Some(since), Some(time)) = (since, limits.initial_idle_time)
            && now.duration_since(since) >= time
        {
            return Some(EvictionRank::Idle(since));
        }
        let active = since.is_none();
        (share > own? + 1).then_some(EvictionRank::Share(-share, active, connection.id))
    }
}
