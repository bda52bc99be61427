// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection to a client, as all its threads see it.

mod both_ways;
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
use orbium_channel::outgoing::{self, Patience};
use orbium_channel::peer_memory::Charge;
use orbium_channel::{Bidirectional, BidirectionalHalf};
use orbium_giop::numbers::Names;
use orbium_giop::{Headers, Version, close_connection, message_error};
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

/// Octets came since the last look at the connection, none did, or none ever did.
const SPOKE: u8 = 0;
const QUIET: u8 = 1;
const FRESH: u8 = 2;

/// What a thread that has served a request has to see to: sending has failed, replies were
/// collected.
const BROKEN: u8 = 1;
const COLLECTED: u8 = 2;

/// What could not be sent yet on a connection that must not block.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) octets: Kept,
    /// For the octets, if they are many.
    charge: Charge,
    since: Deadline,
    /// Replies that wait to be sent with others, once there were any.
    collected: Option<Box<Collected>>,
    /// What is waited on, if it is not the source of the stream.
    pub(crate) source: Option<Arc<OwnedFd>>,
    /// Whether the source of the stream is waited on too, to receive while octets are kept.
    pub(crate) reads_ahead: bool,
}

#[derive(Debug)]
/// A connection to a client.
pub(crate) struct ServerConnection {
    pub(crate) id: u64,
    /// Its index in the table of its lane, guarded by its lock.
    pub(crate) place: AtomicUsize,
    /// The number of its lane, and the priority of that, or of its own thread.
    pub(crate) lane: AtomicU32,
    pub(crate) priority: AtomicI16,
    pub(crate) stream: Box<dyn ByteStream>,
    peer: OnceLock<Peer>,
    /// The peer that it counts against; determined when a lane is full.
    origin: OnceLock<Origin>,
    /// Until when the first octet has to be here.
    opening: Deadline,
    activity: AtomicU8,
    /// Its place in the ORB's book.
    pub(crate) tracked: Tracked,
    /// The intake of a shared connection: the thread that has served a message leaves
    /// it here without a lock.
    pub(crate) left: ObjectCache<Intake, 1>,
    /// Guards the sending direction. A thread that alone can send skips it.
    sending: Mutex<Pending>,
    /// Threads that still serve a request after they handed the reading over.
    late: AtomicUsize,
    /// Whether nothing more is read until a request of it has a place in a queue.
    waits_for_room: AtomicBool,
    attention: AtomicU8,
    /// Whether replies to pipelined requests are sent together.
    collects: bool,
    flusher: Arc<Flusher>,
    ended: AtomicBool,
    closed: AtomicBool,
    watched: Watched,
    pub(crate) has_pending: AtomicBool,
    pub(crate) cancelled: Cancelled,
    /// Whether it has a thread of its own.
    pub(crate) dedication_state: DedicationState,
    pub(crate) send_time: Duration,
    fragment_size: Option<usize>,
    /// Which headers requests may have besides GIOP's.
    pub(crate) headers: Headers,
    /// What the numbers of its requests mean, where they have any.
    pub(crate) names: Option<Arc<Names>>,
    /// Set where one thread serves many connections: sends must not block it.
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
            // Over one that this side has opened its own requests may be all for long.
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

    /// The same; its requests may have these headers.
    pub(crate) fn with_headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self.names = headers.are_numbered().then(Arc::default);
        self
    }

    /// Its receiving side.
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

    /// The GIOP connection over it, with its headers and what their numbers mean.
    pub(crate) fn with_its_headers(&self, giop: Connection) -> Connection {
        giop.with_headers(self.headers)
            .with_names(self.names.clone())
    }

    /// The peer that the connection counts against.
    pub(crate) fn origin(&self) -> &Origin {
        self.origin.get_or_init(|| Origin::of(&self.stream.peer()))
    }

    /// Octets were received.
    #[inline(always)]
    pub(crate) fn note_octets(&self) {
        self.activity.store(SPOKE, Ordering::Relaxed);
    }

    /// Whether the stream holds a part of a message back; its bytes count as received,
    /// but not those of its handshake.
    pub(crate) fn note_midway(&self) -> bool {
        let midway = self.stream.is_midway();
        if midway {
            self.note_octets();
        }
        midway
    }

    /// Whether no octet ever came.
    pub(crate) fn is_fresh(&self) -> bool {
        self.activity.load(Ordering::Relaxed) == FRESH
    }

    /// Whether octets came since this was asked before.
    pub(crate) fn has_spoken(&self) -> bool {
        let order = Ordering::Relaxed;
        let spoke = self.activity.compare_exchange(SPOKE, QUIET, order, order);
        spoke.is_ok()
    }

    /// Until when the first octet has to be here: that of the handshake, if the
    /// stream has one of its own.
    pub(crate) fn opening(&self) -> Deadline {
        let own = self.stream.opening_deadline();
        own.map_or(self.opening, |own| own.earlier(self.opening))
    }

    /// Whether it counts against the limit of connections: the socket of an endpoint of datagrams,
    /// which all clients share, does not.
    pub(crate) fn is_counted(&self) -> bool {
        !self.stream.has_many_peers()
    }

    /// Whether nothing is lost if the connection ends now: no reply is to come, no thread is set
    /// aside for it, and it is not all that an endpoint of datagrams has.
    pub(crate) fn may_make_room(&self) -> bool {
        self.is_counted()
            && !(self.may_be_silent()
                || self.has_pending()
                || self.is_due()
                || self.has_dedicated_thread())
    }

    /// The peer. Called only when it must be known: a peer that authenticates itself
    /// has not done so when it is accepted.
    pub(crate) fn peer(&self) -> &Peer {
        self.peer.get_or_init(|| self.stream.peer())
    }

    /// Unique among the connections of the ORB.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The peer, as far as it is known by now.
    pub(crate) fn peer_so_far(&self) -> Peer {
        let peer = self.peer.get().cloned();
        peer.unwrap_or_else(|| self.stream.peer())
    }

    /// Requests that threads serve which do not read it, or that wait.
    pub(crate) fn in_flight(&self) -> usize {
        self.late.load(Ordering::Relaxed)
    }

    /// Number of the lane with the threads that serve it, or
    /// [`SETTLED`](orbium_lane::SETTLED).
    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.lane.load(Ordering::Relaxed)
    }

    /// The priority that threads which read it have.
    #[inline]
    pub(crate) fn priority(&self) -> i16 {
        self.priority.load(Ordering::Relaxed)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Pending> {
        self.sending.lock()
    }

    /// A thread that serves a request hands the reading over: from now on its
    /// reply and those of the new reader can meet.
    pub(crate) fn begin_late(&self) {
        self.late.fetch_add(1, Ordering::AcqRel);
    }

    /// That thread is done.
    pub(crate) fn end_late(&self) {
        if self.late.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancelled.clear();
            if self.ended.load(Ordering::SeqCst) {
                self.close(Patience::For(self.send_time));
            }
        }
    }

    /// Nothing more will be read. The connection is closed once the last reply
    /// was sent, for CloseConnection says that what was not answered was not
    /// begun.
    pub(crate) fn end(&self) {
        if !self.ended.load(Ordering::SeqCst) {
            // Under the lock: `close` sees what was queued before; later senders block
            // for the peer themselves, as no reactor sends for them.
            let _pending = self.lock();
            self.ended.store(true, Ordering::SeqCst);
        }
        self.watched.end();
        // Dekker's protocol: this thread stores `ended`, then reads `late`; `end_late`
        // decrements `late`, then reads `ended`. Both are SeqCst, so one of the two
        // closes.
        if self.late.load(Ordering::SeqCst) == 0 {
            self.close(Patience::Begun(Deadline::after(Some(Duration::ZERO))));
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst) || self.is_broken()
    }

    /// Whether `end` would cut nothing off: then nothing more is kept either.
    /// Otherwise what is kept for the peer goes first.
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

    /// Whether other threads may send replies of their own.
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

    /// Whether sending failed: nothing more can be done here.
    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.attention.load(Ordering::Acquire) & BROKEN != 0
    }

    /// Whether sending failed, or replies were collected.
    #[inline]
    pub(crate) fn needs_attention(&self) -> bool {
        self.attention.load(Ordering::Acquire) != 0
    }

    /// Whether earlier replies wait for the peer to take them.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        // Stored under the send lock. Acquire: a thread that reads false sends after the
        // flush that stored it.
        self.has_pending.load(Ordering::Acquire)
    }

    /// Whether a request of it waits for a place in a queue. Changed under the lock of
    /// that queue.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.waits_for_room.load(Ordering::Acquire)
    }

    /// A request of it is to wait for a place: nothing more is read.
    #[cold]
    pub(crate) fn begin_to_wait_for_room(&self) {
        self.waits_for_room.store(true, Ordering::Release);
    }

    /// That request has a place, or needs none any more: the reactor goes on to read.
    #[cold]
    pub(crate) fn has_room(&self) {
        self.waits_for_room.store(false, Ordering::Release);
        if let Some(notifier) = &self.notifier {
            notifier.notify_deadline(self.id);
        }
    }

    /// Wakes a blocked receive, which sees the end.
    pub(crate) fn stop_receiving(&self) {
        self.stream.shutdown(Shutdown::Read);
    }

    /// Whether a request would better not be begun: its answer could not go out
    /// before others that the peer does not take.
    pub(crate) fn is_held_up(&self) -> bool {
        self.has_pending() && !self.is_broken() && !self.ended.load(Ordering::Acquire)
    }

    /// Whether its end waits for a peer that does not take what is kept for it.
    pub(crate) fn ends_slowly(&self) -> bool {
        self.has_pending() && self.ended.load(Ordering::Acquire)
    }

    /// Ends the connection at once, while a request of it may be served.
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
        // If nothing of it can be sent at once, the peer does not listen anyway.
        let sent = self.stream.send(&message).unwrap_or(0);
        if sent > 0 && sent < message.len() {
            self.break_off(io::ErrorKind::WriteZero.into());
        }
    }

    /// Ends the connection in order, once. The last word stands behind all that
    /// is kept for the peer, and is not said if that does not go out whole.
    fn close(&self, patience: Patience) {
        if self.is_broken() || self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut pending = self.lock();
        let kept = pending.octets.take();
        pending.give_back();
        // Held any longer it would keep the end from the peer.
        pending.source = None;
        self.has_pending.store(false, Ordering::Release);
        let sent = outgoing::send_octets(&*self.stream, &kept, patience);
        if sent.is_ok() {
            let _ = self.stream.send(&close_connection(Version::V1_2));
        }
        self.stream.shutdown(Shutdown::Write);
    }
}
