// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection to a client, shared by its threads.

mod both_ways;
mod closing;
mod collected;
mod collecting;
mod kept;
mod peer_connection;
mod reply_sending;
mod snapshot;
mod watched;

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicI16, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_channel::connection::{Bounds, CodeSets, Connection, Role};
use orbium_channel::outgoing::Patience;
use orbium_channel::peer_memory::Charge;
use orbium_channel::{Bidirectional, BidirectionalHalf};
use orbium_giop::numbers::Names;
use orbium_giop::{Headers, Version, message_error};
use orbium_sync::ObjectCache;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::connections::cancelled::Cancelled;
use crate::connections::flusher::Flusher;
use crate::connections::origin::Origin;
use crate::dedication::dedication_state::DedicationState;
use crate::intake::Intake;
use crate::strategy::notifier::Notifier;
use collected::Collected;
use kept::Kept;
use orbium_invocation::{Priority, priority};
use orbium_metrics::{Closing, Tracked};
use orbium_request::ServerContext;
use watched::Watched;

/// State of `activity`: bytes received since the last check, none since then, or none at all.
const SPOKE: u8 = 0;
const QUIET: u8 = 1;
const FRESH: u8 = 2;

/// Flags of the work after serving a request: sending has failed, replies were collected.
const BROKEN: u8 = 1;
const COLLECTED: u8 = 2;

/// Unsent data of a connection that must not block.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) octets: Kept,
    /// The charge for the data, if they are large.
    charge: Charge,
    since: Deadline,
    /// Collected replies, once there were any.
    collected: Option<Box<Collected>>,
    /// The polled descriptor, if it is not the source of the stream.
    pub(crate) source: Option<Arc<OwnedFd>>,
    /// Whether the source of the stream is polled too, to receive while data are queued.
    pub(crate) reads_ahead: bool,
}

#[derive(Debug)]
/// A connection to a client.
pub(crate) struct ServerConnection {
    pub(crate) id: u64,
    /// Its index in the table of its lane, guarded by its lock.
    pub(crate) place: AtomicUsize,
    /// The number of its lane, and the priority of that lane or of the dedicated thread.
    pub(crate) lane: AtomicU32,
    pub(crate) priority: AtomicI16,
    pub(crate) stream: Box<dyn ByteStream>,
    peer: OnceLock<Peer>,
    /// The peer that it counts against; determined when a lane is full.
    origin: OnceLock<Origin>,
    /// The deadline of the first octet.
    opening: Deadline,
    activity: AtomicU8,
    /// Its entry in the ORB's connection book.
    pub(crate) tracked: Tracked,
    /// The intake of a shared connection: the thread that has served a message stores it here
    /// without a lock.
    pub(crate) left: ObjectCache<Intake, 1>,
    /// The lock of the sending direction. A thread that is the only sender skips it.
    sending: Mutex<Pending>,
    /// The number of threads that still serve a request after handing off the reading.
    late: AtomicUsize,
    /// Whether reading is suspended until a request of the connection has a place in a queue.
    waits_for_room: AtomicBool,
    attention: AtomicU8,
    /// Whether replies to pipelined requests are batched.
    collects: bool,
    flusher: Arc<Flusher>,
    ended: AtomicBool,
    closed: AtomicBool,
    watched: Watched,
    pub(crate) has_pending: AtomicBool,
    pub(crate) cancelled: Cancelled,
    /// The state of its dedicated thread.
    pub(crate) dedication_state: DedicationState,
    pub(crate) send_time: Duration,
    fragment_size: Option<usize>,
    /// The headers that requests may have besides GIOP's.
    pub(crate) headers: Headers,
    /// The names for the numbers in its requests, if they use numbers.
    pub(crate) names: Option<Arc<Names>>,
    /// Set if one thread serves many connections: sends must not block it.
    notifier: Option<Arc<Notifier>>,
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        self.tracked.note_peer(&self.peer_so_far());
    }
}

impl ServerConnection {
    pub(crate) fn new(
        (lane, priority): (u32, Option<Priority>),
        id: u64,
        stream: Box<dyn ByteStream>,
        tracked: Tracked,
        context: &ServerContext,
        (flusher, notifier): (Arc<Flusher>, Option<Arc<Notifier>>),
    ) -> Self {
        let limits = context.limits();
        let collects = Self::may_collect(&*stream, context);
        Self {
            id,
            place: AtomicUsize::new(0),
            lane: AtomicU32::new(lane),
            priority: AtomicI16::new(priority::number_of(priority)),
            peer: OnceLock::new(),
            origin: OnceLock::new(),
            opening: Deadline::after(limits.initial_idle_time),
            // A connection opened by this side may carry only its own requests for long.
            activity: AtomicU8::new(
                if BidirectionalHalf::serving(&*stream).is_some_and(Bidirectional::is_both) {
                    QUIET
                } else {
                    FRESH
                },
            ),
            stream,
            tracked,
            left: ObjectCache::default(),
            sending: Mutex::new(Pending {
                charge: context.budget.charge(),
                ..Pending::default()
            }),
            late: AtomicUsize::new(0),
            waits_for_room: AtomicBool::new(false),
            attention: AtomicU8::new(0),
            collects,
            flusher,
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            watched: Watched::default(),
            has_pending: AtomicBool::new(false),
            cancelled: Cancelled::default(),
            dedication_state: DedicationState::default(),
            send_time: limits.send_time,
            fragment_size: context.fragment_size,
            headers: Headers::GIOP,
            names: None,
            notifier,
        }
    }

    /// The same connection; its requests may have these headers.
    pub(crate) fn with_headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self.names = headers.are_numbered().then(Arc::default);
        self
    }

    /// The receiving side of the connection.
    pub(crate) fn new_intake(&self, context: &ServerContext) -> Intake {
        let limits = context.limits();
        let bounds = Bounds {
            message: limits.message_size,
            reassembly: limits.reassembly(),
            message_time: Some(limits.message_time),
        };
        let giop = Connection::new(Role::Server, bounds, &context.budget);
        let code_sets = CodeSets::of_server(self.stream.has_many_peers());
        let mut giop = self.with_its_headers(giop).with_code_sets(code_sets);
        giop.attach(&*self.stream);
        Intake::new(giop, limits)
    }

    /// The GIOP connection over it, with its headers and the names for their numbers.
    pub(crate) fn with_its_headers(&self, giop: Connection) -> Connection {
        giop.with_headers(self.headers)
            .with_names(self.names.clone())
    }

    /// The peer that the connection is counted for.
    pub(crate) fn origin(&self) -> &Origin {
        self.origin.get_or_init(|| Origin::of(&self.stream.peer()))
    }

    /// Records that bytes were received.
    #[inline(always)]
    pub(crate) fn note_octets(&self) {
        self.activity.store(SPOKE, Ordering::Relaxed);
    }

    /// Whether the stream buffers a part of a message; those bytes count as received, but not those
    /// of its handshake.
    pub(crate) fn note_partial_message(&self) -> bool {
        let midway = self.stream.is_midway();
        if midway {
            self.note_octets();
        }
        midway
    }

    /// Whether no byte was ever received.
    pub(crate) fn is_fresh(&self) -> bool {
        self.activity.load(Ordering::Relaxed) == FRESH
    }

    /// Whether bytes were received since the last call.
    pub(crate) fn take_activity(&self) -> bool {
        let order = Ordering::Relaxed;
        let spoke = self.activity.compare_exchange(SPOKE, QUIET, order, order);
        spoke.is_ok()
    }

    /// The deadline of the first octet: that of the handshake, if the stream has one.
    pub(crate) fn opening(&self) -> Deadline {
        let own = self.stream.opening_deadline();
        own.map_or(self.opening, |own| own.earlier(self.opening))
    }

    /// Whether it counts against the limit of connections: the socket of a datagram endpoint,
    /// shared by all clients, does not.
    pub(crate) fn is_counted(&self) -> bool {
        !self.stream.has_many_peers()
    }

    /// Whether the connection can be closed without loss: no reply is pending, it has no dedicated
    /// thread, and it is not the only socket of a datagram endpoint.
    pub(crate) fn may_make_room(&self) -> bool {
        self.is_counted()
            && !(self.may_be_silent()
                || self.has_pending()
                || self.is_due()
                || self.has_dedicated_thread())
    }

    /// The peer. Called only on demand: a peer with a handshake is not authenticated yet when it is
    /// accepted.
    pub(crate) fn peer(&self) -> &Peer {
        self.peer.get_or_init(|| self.stream.peer())
    }

    /// The unique number of the connection in the ORB.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The peer, as far as it is known yet.
    pub(crate) fn peer_so_far(&self) -> Peer {
        let peer = self.peer.get().cloned();
        peer.unwrap_or_else(|| self.stream.peer())
    }

    /// The number of requests that are queued, or served by threads that do not read the
    /// connection.
    pub(crate) fn in_flight(&self) -> usize {
        self.late.load(Ordering::Relaxed)
    }

    /// Number of the lane with the threads that serve it, or [`SETTLED`](orbium_lane::SETTLED).
    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.lane.load(Ordering::Relaxed)
    }

    /// The priority of the threads that read it.
    #[inline]
    pub(crate) fn priority(&self) -> i16 {
        self.priority.load(Ordering::Relaxed)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Pending> {
        self.sending.lock()
    }

    /// Records that a thread serving a request hands off the reading: its reply and those of the
    /// new reader may be concurrent.
    pub(crate) fn begin_late(&self) {
        self.late.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that this thread has finished.
    pub(crate) fn end_late(&self) {
        if self.late.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancelled.clear();
            if self.ended.load(Ordering::SeqCst) {
                self.close(Patience::For(self.send_time));
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst) || self.is_broken()
    }

    /// Whether `end` would lose no data: then no more are queued either. Otherwise the queued data
    /// have to be sent first.
    pub(crate) fn may_end(&self) -> bool {
        let pending = self.lock();
        let is_empty = pending.octets.is_empty();
        if is_empty {
            self.ended.store(true, Ordering::SeqCst);
        }
        is_empty
    }

    /// Records that the client has cancelled a request.
    pub(crate) fn cancel(&self, request_id: u32) {
        if self.is_shared() && !self.cancelled.reaches_open(request_id) {
            self.cancelled.insert(request_id);
        }
    }

    /// Whether other threads may send replies concurrently.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        // Acquire: synchronizes with the decrement in `end_late`. A thread that reads 0
        // sends after the replies of all late threads, without the lock.
        self.late.load(Ordering::Acquire) > 0
    }

    /// Whether requests are being served in addition to `waiting` ones in the queue.
    pub(crate) fn serves_more_than(&self, waiting: usize) -> bool {
        self.late.load(Ordering::Acquire) > waiting
    }

    pub(crate) fn was_cancelled(&self, request_id: u32) -> bool {
        self.cancelled.remove(request_id)
    }

    /// Whether sending has failed: the connection is unusable.
    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.attention.load(Ordering::Acquire) & BROKEN != 0
    }

    /// Whether sending has failed, or replies were collected.
    #[inline]
    pub(crate) fn needs_attention(&self) -> bool {
        self.attention.load(Ordering::Acquire) != 0
    }

    /// Whether replies are queued because the peer does not receive.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        // Stored under the send lock. Acquire: a thread that reads false sends after the
        // flush that stored it.
        self.has_pending.load(Ordering::Acquire)
    }

    /// Whether a request of it waits for a place in a queue. Changed under the lock of that queue.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.waits_for_room.load(Ordering::Acquire)
    }

    /// Suspends reading: a request of it waits for a place.
    #[cold]
    pub(crate) fn begin_to_wait_for_room(&self) {
        self.waits_for_room.store(true, Ordering::Release);
    }

    /// Resumes reading by the reactor: that request has a place, or needs none any more.
    #[cold]
    pub(crate) fn has_room(&self) {
        self.waits_for_room.store(false, Ordering::Release);
        if let Some(notifier) = &self.notifier {
            notifier.notify_deadline(self.id);
        }
    }

    /// Wakes a blocked receive, which returns the end of the stream.
    pub(crate) fn stop_receiving(&self) {
        self.stream.shutdown(Shutdown::Read);
    }

    /// Whether a request should not be begun: its reply could not be sent before others that the
    /// peer does not receive.
    pub(crate) fn is_held_up(&self) -> bool {
        self.has_pending() && !self.is_broken() && !self.ended.load(Ordering::Acquire)
    }

    /// Whether closing waits for a peer that does not receive the queued data.
    pub(crate) fn ends_slowly(&self) -> bool {
        self.has_pending() && self.ended.load(Ordering::Acquire)
    }

    /// Closes the connection at once, even while a request of it is served.
    #[cold]
    pub(crate) fn give_up(&self) {
        self.break_off(io::ErrorKind::TimedOut.into());
    }

    #[cold]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "dropped here, off the hot path"
    )]
    fn break_off(&self, error: io::Error) {
        self.tracked.note_closing(Closing::Error);
        crate::log::debug!(target: "orbium::conn", peer = %self.peer(), %error, "cannot send");
        self.attention.fetch_or(BROKEN, Ordering::Release);
        self.watched.end();
        self.stream.shutdown(Shutdown::Both);
    }

    /// Sends MessageError: after a reply that is not completely sent, never within it.
    pub(crate) fn send_message_error(&self) {
        self.tracked.note_closing(Closing::Error);
        self.send_collected();
        let message = message_error(Version::V1_2);
        let mut pending = self.lock();
        if !pending.octets.is_empty() {
            pending.octets.append(message.to_vec());
            return;
        }
        // If none of it can be sent at once, the peer is not receiving.
        let sent = self.stream.send(&message).unwrap_or(0);
        if sent > 0 && sent < message.len() {
            self.break_off(io::ErrorKind::WriteZero.into());
        }
    }
}
