// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of an ORB, client and server: which are open, how many were opened
//! and closed and why, and, once metrics are on, what went over each.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use orbium_sys::fork::Origin;
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::Channel;
use crate::log::{Recurrences, Recurring};
use crate::server::ServerConnection;

/// Which side opened a connection: a client, or the server's peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// This ORB called.
    Client,
    /// This ORB was called.
    Server,
}

impl Role {
    /// As metrics label it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// By the peer, or the network.
    Peer,
    /// Nothing came for too long.
    Idle,
    /// What was sent or received failed, or was no message.
    Error,
    /// The ORB or its lane ends.
    Shutdown,
    /// There were too many.
    Limit,
}

impl Closing {
    pub(super) const NAMES: [&'static str; 5] = ["peer", "idle", "error", "shutdown", "limit"];
}

/// What went over one connection. Written by one thread at a time for each direction,
/// as messages are: no read-modify-write is needed.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
}

fn add(counter: &AtomicU64, octets: usize) {
    counter.store(counter.load(Relaxed) + octets as u64, Relaxed);
}

/// The connections of one role over one transport.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) role: Role,
    pub(super) transport: String,
    pub(super) opened: AtomicU64,
    pub(super) closed: [AtomicU64; Closing::NAMES.len()],
    /// Octets of those that are closed.
    received: AtomicU64,
    sent: AtomicU64,
}

/// A connection in the book.
struct Entry {
    id: u64,
    /// Its index among the open ones, guarded by their lock.
    place: AtomicUsize,
    page: Arc<Page>,
    /// Where a client connected to.
    address: String,
    /// The peer of a server's connection, as far as it was known at the end.
    peer: OnceLock<String>,
    opened: Instant,
    traffic: Option<Arc<Traffic>>,
    requests: AtomicU64,
    closing: AtomicU8,
    served: OnceLock<Weak<ServerConnection>>,
}

#[derive(Default)]
struct Book {
    counts_traffic: AtomicBool,
    next_id: AtomicU64,
    /// Idle connections of clients that turned out to have ended when a call was to use
    /// them.
    stale: AtomicU64,
    pages: Mutex<Vec<Arc<Page>>>,
    open: Mutex<Vec<Arc<Entry>>>,
    recurrences: Recurrences,
}

/// All connections of an ORB. Clones are the same book.
#[derive(Clone, Default)]
pub(crate) struct ConnectionBook(Arc<Book>);

impl fmt::Debug for ConnectionBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionBook").finish_non_exhaustive()
    }
}

/// An open connection; dropped, it is closed.
pub(crate) struct Tracked {
    begun_by: Origin,
    book: Arc<Book>,
    entry: Arc<Entry>,
}

impl fmt::Debug for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracked").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionBook {
    #[cold]
    pub(crate) fn note_stale(&self) {
        self.0.stale.fetch_add(1, Relaxed);
    }

    pub(super) fn stale(&self) -> u64 {
        self.0.stale.load(Relaxed)
    }

    /// From now on octets are counted, over connections that are opened.
    pub(crate) fn count_traffic(&self) {
        self.0.counts_traffic.store(true, Release);
    }

    /// Whether an event that peers can cause is to be logged: see [`Recurrences::admit`].
    pub(crate) fn admit(&self, event: Recurring) -> Option<u64> {
        self.0.recurrences.admit(event)
    }

    /// A client has connected.
    pub(crate) fn connected(&self, channel: &Channel) -> Tracked {
        let id = 1 + self.0.next_id.fetch_add(1, Relaxed);
        crate::log::debug!(target: "orbium::conn", conn = id, address = %channel, "connected");
        self.add(Role::Client, id, &channel.scheme, channel.address.clone())
    }

    /// A server has accepted a connection.
    pub(crate) fn accepted(&self, id: u64, transport: &str) -> Tracked {
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
        });
        let mut open = lock(&self.0.open);
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
        let mut pages = lock(&self.0.pages);
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

    /// Every role and transport, with the octets received and sent so far.
    pub(super) fn pages(&self) -> Vec<(Arc<Page>, u64, u64)> {
        // Connections that close in between are missed rather than counted twice.
        let open = lock(&self.0.open).clone();
        let pages = lock(&self.0.pages).clone();
        let octets = |page: &Arc<Page>| {
            let mut octets = (page.received.load(Relaxed), page.sent.load(Relaxed));
            for entry in open.iter().filter(|it| Arc::ptr_eq(&it.page, page)) {
                if let Some(traffic) = &entry.traffic {
                    octets.0 += traffic.received.load(Relaxed);
                    octets.1 += traffic.sent.load(Relaxed);
                }
            }
            octets
        };
        let with_octets = pages.into_iter().map(|page| {
            let (received, sent) = octets(&page);
            (page, received, sent)
        });
        with_octets.collect()
    }

    /// The open connections, the first ones up to `most`, and whether there are more.
    pub(crate) fn open(&self, most: usize) -> (Vec<ConnectionSnapshot>, bool) {
        let (entries, more) = {
            let open = lock(&self.0.open);
            let first: Vec<_> = open.iter().take(most).cloned().collect();
            (first, open.len() > most)
        };
        let mut all: Vec<_> = entries.iter().map(|entry| entry.snapshot()).collect();
        all.sort_by_key(|it| (it.role.name(), it.id));
        (all, more)
    }
}

/// An open connection as it was when somebody looked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// Unique among the connections of its role; never used again.
    pub id: u64,
    /// Which side opened it.
    pub role: Role,
    /// The scheme of its transport, such as `iiop`.
    pub transport: String,
    /// The peer of a server; the address that a client has connected to.
    pub peer: String,
    /// Number of the lane that serves it; `None` for a client's.
    pub lane: Option<u32>,
    /// Time since it was opened.
    pub age: Duration,
    /// Octets received; `None` if metrics were off when it was opened.
    pub received: Option<u64>,
    /// Octets sent, likewise.
    pub sent: Option<u64>,
    /// Requests begun; counted for servers, while metrics are on.
    pub requests: u64,
    /// Requests that other threads than the reader serve, or that wait.
    pub in_flight: usize,
    /// Whether replies wait for the peer to take them.
    pub is_held_up: bool,
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
                Some(connection) => connection.peer_so_far().to_string(),
                None => self.address.clone(),
            },
            lane: served.as_ref().map(|it| it.lane()),
            age: self.opened.elapsed(),
            received: traffic.map(|it| it.received.load(Relaxed)),
            sent: traffic.map(|it| it.sent.load(Relaxed)),
            requests: self.requests.load(Relaxed),
            in_flight: served.as_ref().map_or(0, |it| it.in_flight()),
            is_held_up: served.is_some_and(|it| it.has_pending()),
        }
    }
}

impl Entry {
    /// Logs that the connection was closed: INFO, but for one that was idle.
    fn log_end(&self, cause: usize) {
        macro_rules! closed {
            ($event:ident, $by:expr, $cause:expr) => {
                crate::log::$event!(
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
    /// Notes why the connection ends; the first cause counts.
    pub(crate) fn note_closing(&self, cause: Closing) {
        let _ = self
            .entry
            .closing
            .compare_exchange(u8::MAX, cause as u8, Relaxed, Relaxed);
    }

    /// Whether an event that this peer can cause is to be logged.
    pub(crate) fn admit(&self, event: Recurring) -> Option<u64> {
        self.book.recurrences.admit(event)
    }

    /// The scheme of its transport.
    pub(crate) fn transport(&self) -> &str {
        &self.entry.page.transport
    }

    /// A server's connection to that peer ends.
    pub(crate) fn note_peer(&self, peer: &dyn fmt::Display) {
        if tracing::enabled!(target: "orbium::conn", tracing::Level::INFO) {
            let _ = self.entry.peer.set(peer.to_string());
        }
    }

    /// A request has begun.
    pub(crate) fn count_request(&self) {
        self.entry.requests.fetch_add(1, Relaxed);
    }

    /// Where the book asks for a server's peer.
    pub(crate) fn is_served_by(&self, connection: &Arc<ServerConnection>) {
        let _ = self.entry.served.set(Arc::downgrade(connection));
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if !self.begun_by.is_here() {
            // The parent's book: its threads may have held the lock.
            return;
        }
        let page = &self.entry.page;
        let cause = usize::from(self.entry.closing.load(Relaxed));
        let counter = page
            .closed
            .get(cause)
            .unwrap_or(&page.closed[Closing::Peer as usize]);
        counter.fetch_add(1, Relaxed);
        let mut open = lock(&self.book.open);
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

/// The stream of a connection, counted if metrics are on.
pub(crate) fn metered(stream: Box<dyn ByteStream>, tracked: &Tracked) -> Box<dyn ByteStream> {
    match &tracked.entry.traffic {
        None => stream,
        Some(traffic) => Box::new(Metered {
            stream,
            traffic: Arc::clone(traffic),
        }),
    }
}

/// A stream that counts its bytes. Every method of the trait is forwarded.
#[derive(Debug)]
struct Metered {
    stream: Box<dyn ByteStream>,
    traffic: Arc<Traffic>,
}

impl ByteStream for Metered {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let received = self.stream.receive(room);
        if let Ok(octets) = &received {
            add(&self.traffic.received, *octets);
        }
        received
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        let sent = self.stream.send(octets);
        if let Ok(octets) = &sent {
            add(&self.traffic.sent, *octets);
        }
        sent
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let sent = self.stream.send_vectored(pieces);
        if let Ok(octets) = &sent {
            add(&self.traffic.sent, *octets);
        }
        sent
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.stream.set_timeouts(receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.stream.shutdown(how);
    }

    fn peer(&self) -> Peer {
        self.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.stream.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.stream.sending_source()
    }

    fn has_buffered(&self) -> bool {
        self.stream.has_buffered()
    }

    fn counts_in_ticks(&self) -> bool {
        self.stream.counts_in_ticks()
    }

    fn has_many_peers(&self) -> bool {
        self.stream.has_many_peers()
    }

    fn sends_one_message(&self) -> bool {
        self.stream.sends_one_message()
    }

    fn opening_deadline(&self) -> Option<Deadline> {
        self.stream.opening_deadline()
    }

    fn is_midway(&self) -> bool {
        self.stream.is_midway()
    }
}
