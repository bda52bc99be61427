// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of an ORB, client and server: the open ones, the numbers opened and closed with
//! the cause, and, once metrics are on, the traffic of each.

use std::fmt;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use orbium_sync::lock::Mutex;
use orbium_sys::fork::Origin;
use orbium_trace::log::{Recurrences, Recurring};
use orbium_transport::ByteStream;

use crate::connection_snapshot::{ConnectionSnapshot, OpenConnection};
use crate::counted::{ConnectionMetrics, NamedCount, TrafficMetrics, named};
use crate::quality::Quality;
use crate::role::Role;
use crate::traffic::{Metered, Traffic};

/// Reason for which a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By the peer, or the network.
    Peer,
    /// No data were received for too long.
    Idle,
    /// Sending or receiving failed, or an invalid message was received.
    Error,
    /// The ORB or its lane ends.
    Shutdown,
    /// The limit was exceeded.
    Limit,
}

impl Closing {
    const NAMES: [&'static str; 5] = ["peer", "idle", "error", "shutdown", "limit"];
}

/// The connections of one role over one transport.
#[derive(Debug)]
struct Page {
    role: Role,
    transport: String,
    opened: AtomicU64,
    closed: [AtomicU64; Closing::NAMES.len()],
    /// Bytes of closed connections.
    received: AtomicU64,
    sent: AtomicU64,
}

impl Page {
    /// Bytes received and sent by closed connections.
    fn closed_octets(&self) -> (u64, u64) {
        (self.received.load(Relaxed), self.sent.load(Relaxed))
    }
}

/// A connection in the book.
struct Entry {
    id: u64,
    /// Its index among the open ones, guarded by their lock.
    place: AtomicUsize,
    page: Arc<Page>,
    /// The address to which a client connected.
    address: String,
    /// The peer of a server's connection, as far as known at the end.
    peer: OnceLock<String>,
    opened: Instant,
    traffic: Option<Arc<Traffic>>,
    requests: AtomicU64,
    closing: AtomicU8,
    served: OnceLock<Weak<dyn OpenConnection>>,
    quality: Mutex<Option<Box<Quality>>>,
    /// The settings of a client's connection.
    in_force: OnceLock<Box<str>>,
}

#[derive(Default)]
struct Book {
    counts_traffic: AtomicBool,
    next_id: AtomicU64,
    /// The number of idle client connections that had ended when a call was about to use them.
    stale: AtomicU64,
    /// The number of connections that stopped accepting buffered oneways, and of those that
    /// accepted them again.
    flow_control_begun: AtomicU64,
    flow_control_ended: AtomicU64,
    /// The number of buffered oneways that were not sent.
    lost_oneways: AtomicU64,
    pages: Mutex<Vec<Arc<Page>>>,
    open: Mutex<Vec<Arc<Entry>>>,
    recurrences: Recurrences,
}

/// All connections of an ORB. Clones are the same book.
#[derive(Clone, Default)]
pub struct ConnectionBook(Arc<Book>);

impl fmt::Debug for ConnectionBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionBook").finish_non_exhaustive()
    }
}

/// An open connection; dropping it records the end.
pub struct Tracked {
    begun_by: Origin,
    book: Arc<Book>,
    entry: Arc<Entry>,
}

impl fmt::Debug for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracked").finish_non_exhaustive()
    }
}

impl ConnectionBook {
    /// Counts an idle client connection that had ended.
    #[cold]
    pub fn note_stale(&self) {
        self.0.stale.fetch_add(1, Relaxed);
    }

    /// Counts the begin or end of flow control of buffered oneways.
    #[cold]
    pub fn note_flow_control(&self, begins: bool) {
        let count = if begins {
            &self.0.flow_control_begun
        } else {
            &self.0.flow_control_ended
        };
        count.fetch_add(1, Relaxed);
    }

    /// Counts buffered oneways that will not be sent.
    #[cold]
    pub fn note_lost_oneways(&self, count: u64) {
        self.0.lost_oneways.fetch_add(count, Relaxed);
    }

    /// The counts of buffered oneways, by outcome.
    #[must_use]
    pub fn buffered(&self) -> Vec<NamedCount> {
        let named = |name, count: &AtomicU64| NamedCount {
            name,
            count: count.load(Relaxed),
        };
        vec![
            named("flow_control_begun", &self.0.flow_control_begun),
            named("flow_control_ended", &self.0.flow_control_ended),
            named("lost", &self.0.lost_oneways),
        ]
    }

    /// The number of idle client connections that had ended.
    #[must_use]
    pub fn stale(&self) -> u64 {
        self.0.stale.load(Relaxed)
    }

    /// Counts bytes of connections opened from now on.
    pub fn count_traffic(&self) {
        self.0.counts_traffic.store(true, Release);
    }

    /// Whether an event that peers can cause has to be logged: see [`Recurrences::admit`].
    pub fn admit(&self, event: Recurring) -> Option<u64> {
        self.0.recurrences.admit(event)
    }

    /// Adds a connection of a client to that address.
    #[must_use]
    pub fn connected(&self, transport: &str, address: &str) -> Tracked {
        let id = 1 + self.0.next_id.fetch_add(1, Relaxed);
        self.add(Role::Client, id, transport, address.to_owned())
    }

    /// Adds a connection accepted by a server.
    #[must_use]
    pub fn accepted(&self, id: u64, transport: &str) -> Tracked {
        self.add(Role::Server, id, transport, String::new())
    }

    fn add(&self, role: Role, id: u64, transport: &str, address: String) -> Tracked {
        let page = self.page(role, transport);
        page.opened.fetch_add(1, Relaxed);
        let entry = Arc::new(Entry {
            id,
            place: AtomicUsize::new(0),
            page,
            address,
            peer: OnceLock::new(),
            opened: Instant::now(),
            traffic: self.0.counts_traffic.load(Acquire).then(Arc::default),
            requests: AtomicU64::new(0),
            closing: AtomicU8::new(u8::MAX),
            served: OnceLock::new(),
            quality: Mutex::new(None),
            in_force: OnceLock::new(),
        });
        let mut open = self.0.open.lock();
        entry.place.store(open.len(), Relaxed);
        open.push(Arc::clone(&entry));
        drop(open);
        Tracked {
            begun_by: Origin::here(),
            book: Arc::clone(&self.0),
            entry,
        }
    }

    fn page(&self, role: Role, transport: &str) -> Arc<Page> {
        let mut pages = self.0.pages.lock();
        let known = pages
            .iter()
            .find(|it| it.role == role && it.transport == transport);
        if let Some(page) = known {
            return Arc::clone(page);
        }
        let page = Arc::new(Page {
            role,
            transport: transport.to_owned(),
            opened: AtomicU64::new(0),
            closed: [const { AtomicU64::new(0) }; Closing::NAMES.len()],
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        });
        pages.push(Arc::clone(&page));
        page
    }

    /// All roles and transports, with the bytes received and sent so far. A connection that closes
    /// concurrently is counted once: its bytes are added to its page under the lock of the open
    /// ones.
    fn pages(&self) -> Vec<(Arc<Page>, u64, u64)> {
        let pages = self.0.pages.lock().clone();
        let (open, closed) = {
            let open = self.0.open.lock();
            let closed = pages.iter().map(|it| it.closed_octets());
            (open.clone(), closed.collect::<Vec<_>>())
        };
        let with_octets = pages.into_iter().zip(closed).map(|(page, mut octets)| {
            for entry in open.iter().filter(|it| Arc::ptr_eq(&it.page, &page)) {
                if let Some(traffic) = &entry.traffic {
                    octets.0 += traffic.received.load(Relaxed);
                    octets.1 += traffic.sent.load(Relaxed);
                }
            }
            (page, octets.0, octets.1)
        });
        with_octets.collect()
    }

    /// The counts, by role and transport.
    #[must_use]
    pub fn metrics(&self) -> Vec<ConnectionMetrics> {
        let metrics = self
            .pages()
            .into_iter()
            .map(|(page, received, sent)| ConnectionMetrics {
                role: page.role,
                transport: page.transport.clone(),
                opened: page.opened.load(Relaxed),
                closed: named(&Closing::NAMES, &page.closed),
                traffic: TrafficMetrics { received, sent },
            });
        metrics.collect()
    }

    /// The first open connections, up to `most`, and whether there are more.
    #[must_use]
    pub fn open(&self, most: usize) -> (Vec<ConnectionSnapshot>, bool) {
        let (entries, more) = {
            let open = self.0.open.lock();
            let first: Vec<_> = open.iter().take(most).cloned().collect();
            (first, open.len() > most)
        };
        let mut all: Vec<_> = entries.iter().map(|entry| entry.snapshot()).collect();
        all.sort_unstable_by_key(|it| (it.role.name(), it.id));
        (all, more)
    }
}

impl Entry {
    fn snapshot(&self) -> ConnectionSnapshot {
        let traffic = self.traffic.as_ref();
        let served = self.served.get().and_then(Weak::upgrade);
        ConnectionSnapshot {
            id: self.id,
            role: self.page.role,
            transport: self.page.transport.clone(),
            peer: match &served {
                Some(connection) => connection.peer(),
                None => self.address.clone(),
            },
            lane: served.as_ref().map(|it| it.lane()),
            age: self.opened.elapsed(),
            received: traffic.map(|it| it.received.load(Relaxed)),
            sent: traffic.map(|it| it.sent.load(Relaxed)),
            requests: self.requests.load(Relaxed),
            in_flight: served.as_ref().map_or(0, |it| it.in_flight()),
            is_held_up: served.as_ref().is_some_and(|it| it.is_held_up()),
            quality: self.quality.lock().as_deref().copied(),
            in_force: match served.as_ref().and_then(|it| it.own_thread()) {
                Some(own) => own,
                None => self
                    .in_force
                    .get()
                    .map_or_else(String::new, ToString::to_string),
            },
        }
    }
}

impl Entry {
    /// Logs the end of the connection: INFO, except for an idle one.
    fn log_end(&self, cause: usize) {
        macro_rules! closed {
            ($event:ident, $by:expr, $cause:expr) => {
                orbium_trace::log::$event!(
                    target: "orbium::conn",
                    conn = self.id,
                    role = self.page.role.name(),
                    transport = self.page.transport.as_str(),
                    peer = self.peer.get().unwrap_or(&self.address).as_str(),
                    by = $by,
                    cause = $cause,
                    age_s = self.opened.elapsed().as_secs_f64(),
                    bytes_in = self.traffic.as_ref().map(|it| it.received.load(Relaxed)),
                    bytes_out = self.traffic.as_ref().map(|it| it.sent.load(Relaxed)),
                    "closed",
                )
            };
        }
        let name = Closing::NAMES.get(cause).copied();
        match name.unwrap_or(Closing::NAMES[Closing::Peer as usize]) {
            cause @ "peer" => closed!(info, "peer", cause),
            cause @ "idle" => closed!(debug, "us", cause),
            cause => closed!(info, "us", cause),
        }
    }
}

impl Tracked {
    /// The unique number among the connections of its role.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// Records the cause of the end of the connection; the first cause counts.
    pub fn note_closing(&self, cause: Closing) {
        let _ = self
            .entry
            .closing
            .compare_exchange(u8::MAX, cause as u8, Relaxed, Relaxed);
    }

    /// Whether an event that this peer can cause has to be logged.
    pub fn admit(&self, event: Recurring) -> Option<u64> {
        self.book.recurrences.admit(event)
    }

    /// The scheme of its transport.
    #[must_use]
    pub fn transport(&self) -> &str {
        &self.entry.page.transport
    }

    /// Records the peer at the end of a server's connection.
    pub fn note_peer(&self, peer: &dyn fmt::Display) {
        if tracing::enabled!(target: "orbium::conn", tracing::Level::INFO) {
            let _ = self.entry.peer.set(peer.to_string());
        }
    }

    /// Records the present quality of the requests of the connection.
    pub fn note_quality(&self, quality: Quality) {
        **self.entry.quality.lock().get_or_insert_default() = quality;
    }

    /// Records the settings of a client's connection, once.
    pub fn note_in_force(&self, text: String) {
        let _ = self.entry.in_force.set(text.into());
    }

    /// Counts a request.
    pub fn count_request(&self) {
        self.entry.requests.fetch_add(1, Relaxed);
    }

    /// Sets the served connection that the book queries.
    pub fn is_served_by(&self, connection: Weak<dyn OpenConnection>) {
        let _ = self.entry.served.set(connection);
    }

    /// The stream of the connection, with counters if metrics were on when it was opened.
    #[must_use]
    pub fn metered(&self, stream: Box<dyn ByteStream>) -> Box<dyn ByteStream> {
        match &self.entry.traffic {
            None => stream,
            Some(traffic) => Box::new(Metered {
                stream,
                traffic: Arc::clone(traffic),
            }),
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if !self.begun_by.is_here() {
            // The book of the parent: its threads may have held the lock.
            return;
        }
        let page = &self.entry.page;
        let cause = usize::from(self.entry.closing.load(Relaxed));
        let counter = page
            .closed
            .get(cause)
            .unwrap_or(&page.closed[Closing::Peer as usize]);
        counter.fetch_add(1, Relaxed);
        let mut open = self.book.open.lock();
        let place = self.entry.place.load(Relaxed);
        if open
            .get(place)
            .is_some_and(|it| Arc::ptr_eq(it, &self.entry))
        {
            open.swap_remove(place);
            if let Some(moved) = open.get(place) {
                moved.place.store(place, Relaxed);
            }
        }
        if let Some(traffic) = &self.entry.traffic {
            page.received
                .fetch_add(traffic.received.load(Relaxed), Relaxed);
            page.sent.fetch_add(traffic.sent.load(Relaxed), Relaxed);
        }
        drop(open);
        self.entry.log_end(cause);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Regression: a connection that closed between two reads was counted twice, so that the
    /// counter decreased afterwards: Prometheus interprets that as a restart, and adds all previous
    /// bytes to its rate.
    #[test]
    fn octets_of_connections_that_close_are_never_counted_twice() {
        let book = ConnectionBook::default();
        book.count_traffic();
        let closing = book.clone();
        let connections = thread::spawn(move || {
            for _ in 0..20_000 {
                let connection = closing.connected("iiop", "192.0.2.1:1");
                let traffic = connection.entry.traffic.as_ref().unwrap();
                traffic.received.store(1, Relaxed);
            }
        });
        let mut before = 0;
        while !connections.is_finished() {
            let received: u64 = book.metrics().iter().map(|it| it.traffic.received).sum();
            assert!(received >= before, "{before}, then {received}");
            before = received;
        }
        connections.join().unwrap();
        assert_eq!(book.metrics()[0].traffic.received, 20_000);
    }
}
