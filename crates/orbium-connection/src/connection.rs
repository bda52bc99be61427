// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection to a server, used by one call at a time.

mod buffering;
pub mod connecting;
pub(crate) mod reacting;
mod receiving;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_cdr::{ByteOrder, CdrWriter};
use orbium_channel::BidirectionalHalf;
use orbium_channel::connection::{CodeSets, Connection as GiopConnection};
use orbium_channel::dedication::DedicationReply;
use orbium_channel::outgoing::{self, Patience};
use orbium_channel::receive_buffer::SMALL;
use orbium_giop::Headers;
use orbium_giop::codeset::Negotiated;
use orbium_giop::numbers::Numbers;
use orbium_giop::{CancelRequest, MessageHeader, Version, close_connection};
use orbium_invocation::CancellationToken;
use orbium_invocation::reactor::wait_on_reactor;
use orbium_invocation::served_queue::is_served_by_this_thread;
use orbium_metrics::Closing;
use orbium_sync::role;
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline, Stamp};

use crate::client_config::ClientConfig;
use crate::counts::Counted;
use crate::introduction::{Introduction, PriorityContext};
use crate::pools::private_connections::PrivateConnections;
use crate::shared::CallSlot;
use orbium_channel::ended::has_peer_ended;
use orbium_transport::ticks;
pub use receiving::Received;

/// A larger write buffer is released after the call.
const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// Maximum time of a check of an idle connection.
const MAX_IDLE_CHECK: Duration = Duration::from_millis(1);

/// The kind of a shared connection.
#[derive(Debug)]
enum Shared {
    /// One that all callers share.
    Slot(Arc<CallSlot>),
    /// A half of a bidirectional connection.
    Half,
}

/// A connection owned by its caller for one exchange.
#[derive(Debug)]
pub struct Connection {
    stream: Box<dyn ByteStream>,
    giop: GiopConnection,
    /// Replies are delivered whole if the connection is shared with other users.
    shared: Option<Box<Shared>>,
    storage: Vec<u8>,
    next_id: u32,
    /// The step between ids.
    id_distance: u32,
    /// The last id at the last check whether the connection is in use.
    seen_id: u32,
    /// Time at which a use was last noticed.
    used: Instant,
    /// The tick in which the last call over it began.
    tick: u32,
    /// Time of the last oneway, or of the creation of the connection.
    last_oneway: Stamp,
    counted: Option<Counted>,
    timeout: Option<Duration>,
    message_limit: usize,
    fragment_size: Option<usize>,
    /// Whether callers wait on a reactor and dispatch upcalls; then no call blocks here.
    reacts: bool,
    /// The introduction of the next request: code sets until the first reply of the server, and
    /// priorities.
    pub introduction: Option<Introduction>,
    /// The numbers of objects and operations, if requests have them.
    numbers: Option<Box<Numbers>>,
    /// Records the reply to the dedication request, until it has arrived.
    asking: Option<Arc<PrivateConnections>>,
    /// The cause of the end of the connection, if known.
    cause: Option<String>,
    /// Cancels the waiting call.
    cancellation: Option<CancellationToken>,
}

impl Connection {
    pub(crate) fn new(
        stream: Box<dyn ByteStream>,
        config: &ClientConfig,
        negotiated: Negotiated,
        counted: Option<Counted>,
    ) -> Self {
        let code_sets = CodeSets::of_client(negotiated);
        let mut giop = config.giop_connection().with_code_sets(code_sets);
        giop.attach(&*stream);
        Self {
            shared: BidirectionalHalf::of(&*stream).map(|_| Box::new(Shared::Half)),
            // Fragments as separate datagrams could be lost, or mixed with those of other clients.
            fragment_size: config.fragment_size.filter(|_| !stream.sends_one_message()),
            stream,
            giop,
            storage: Vec::new(),
            next_id: 0,
            id_distance: 2,
            seen_id: 0,
            used: Instant::now(),
            tick: 0,
            last_oneway: Stamp::now(),
            counted,
            timeout: None,
            message_limit: config.limits.message_size,
            reacts: false,
            introduction: Introduction::new(code_sets.announcement(), PriorityContext::None),
            numbers: None,
            asking: None,
            cause: None,
            cancellation: None,
        }
    }

    /// The same; replies may have these headers.
    pub fn with_headers(self, headers: Headers) -> Self {
        Self {
            giop: self.giop.with_headers(headers),
            ..self
        }
    }

    /// The same; objects and operations are assigned numbers if `headers` have them. Not with
    /// fragmentation: fragmented messages have GIOP headers, which need all names.
    pub(super) fn numbering(self, headers: Headers) -> Self {
        let numbers = headers.are_numbered() && self.fragment_size.is_none();
        Self {
            numbers: numbers.then(Box::default),
            ..self
        }
    }

    /// The numbers of objects and operations, if requests have them.
    #[inline(always)]
    pub fn numbers(&mut self) -> Option<&mut Numbers> {
        self.numbers.as_deref_mut()
    }

    /// The same, for callers that serve others while they wait.
    pub(super) fn reacting(self) -> Self {
        Self {
            reacts: true,
            ..self
        }
    }

    /// The same, over a call slot: its ids are those of the slot. Only the first slot of a new
    /// connection counts as new.
    pub(super) fn over(self, slot: Arc<CallSlot>) -> Self {
        let (last, distance) = slot.ids();
        Self {
            next_id: last,
            seen_id: last,
            id_distance: distance,
            shared: Some(Box::new(Shared::Slot(slot))),
            ..self
        }
    }

    /// Announces that the thread is about to wait for this connection; returns whether it serves a
    /// queue of its own while it waits.
    #[inline]
    pub fn about_to_wait(&self) -> bool {
        role::about_to_wait(|| self.reacts) && is_served_by_this_thread()
    }

    /// The buffer for the next request.
    #[inline]
    pub fn take_storage(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.storage)
    }

    /// As `put_storage`, unless that was called before.
    pub fn put_back(&mut self, storage: Vec<u8>) {
        if self.storage.is_empty() {
            self.put_storage(storage);
            if let Some(numbers) = &mut self.numbers {
                numbers.forget_unsent();
            }
        }
    }

    /// Keeps a write buffer for the next call, unless it is large.
    #[inline]
    pub fn put_storage(&mut self, storage: Vec<u8>) {
        if storage.len() <= SMALL || !self.gives_back(&storage) {
            self.storage = storage;
        }
    }

    /// Whether a write buffer is released, and not retained for the next call.
    #[cold]
    fn gives_back(&self, storage: &[u8]) -> bool {
        storage.len() > MAX_RETAINED_BUFFER || self.giop.budget().is_tight()
    }

    /// Sets the priorities of the next request.
    pub fn say(&mut self, said: PriorityContext) {
        // The introduction is complete: the server has replied.
        if self.introduction.is_none() && !self.is_new() {
            self.giop.code_sets_mut().confirm();
            self.asking = None;
        }
        let code_sets = self.giop.code_sets().announcement();
        let marker = self.asking.as_ref().and_then(|own| own.request());
        let said = marker.map_or(said, |marker| said.with(marker));
        self.introduction = Introduction::new(code_sets, said);
    }

    /// Has the next request ask the server for the dedicated thread that `own` requests, if any.
    pub fn ask(&mut self, own: &Arc<PrivateConnections>) {
        self.asking = own.request().is_some().then(|| Arc::clone(own));
    }

    /// Records the server's reply to the dedication request.
    #[cold]
    pub fn note(&mut self, reply: DedicationReply) {
        if let Some(own) = self.asking.take() {
            own.record_reply(reply);
        }
    }

    /// Whether no request has been assigned an id.
    pub fn is_new(&self) -> bool {
        self.next_id == 0
    }

    /// An id for the next request: even, for we opened the connection.
    #[inline]
    pub fn next_id(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(self.id_distance);
        self.next_id
    }

    /// Time at which the connection was last noticed to be used. Calls do not read the clock for
    /// this.
    pub(super) fn last_used(&mut self, now: Instant) -> Instant {
        if self.seen_id != self.next_id {
            self.seen_id = self.next_id;
            self.used = now;
        }
        self.used
    }

    /// As `last_used`, without a check for new uses.
    pub fn used(&self) -> Instant {
        self.used
    }

    /// Whether its last use was no later than that.
    pub(super) fn used_before(&self, since: Instant) -> bool {
        self.seen_id == self.next_id && self.used <= since
    }

    /// The limit of received messages.
    #[inline]
    pub fn message_limit(&self) -> usize {
        self.message_limit
    }

    /// Bounds the next receive and send. Costs a system call only when the
    /// bound differs from the last one.
    #[inline]
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if self.timeout != timeout {
            self.change_timeout(timeout)?;
        }
        Ok(())
    }

    fn change_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if !self.reacts {
            let given = ticks::given(&*self.stream, timeout);
            self.stream.set_timeouts(Some(given), Some(given))?;
        } else if timeout == Some(Duration::ZERO) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.timeout = timeout;
        Ok(())
    }

    /// Sends a finished message whole.
    #[inline]
    pub fn send(&mut self, message: &CdrWriter<'_>, deadline: Deadline) -> io::Result<()> {
        let patience = || Patience::Until(deadline, wait_on_reactor);
        outgoing::send(&*self.stream, message, self.fragment_size, patience)
    }

    /// Whether the rest of the last message was left to later callers of a shared connection, as it
    /// could not be sent before the deadline.
    #[cold]
    pub fn has_left_rest(&self) -> bool {
        matches!(self.shared.as_deref(), Some(Shared::Slot(slot)) if slot.has_left_rest())
    }

    /// Sends a CancelRequest, as the caller no longer waits for the reply.
    pub fn cancel(&self, version: Version, request_id: u32) {
        let message = CancelRequest { request_id }.message(version, ByteOrder::NATIVE);
        self.say_last(&message);
    }

    /// Sends a last message without blocking: a peer that does not receive must not delay the end
    /// of the connection.
    fn say_last(&self, message: &[u8]) {
        // A shared one makes its callers wait by other means.
        let _ = self.stream.set_nonblocking(true);
        let _ = self.stream.send(message);
    }

    /// The cause of the end of the connection, if known.
    #[cold]
    pub fn take_cause(&mut self) -> Option<String> {
        self.cause.take()
    }

    /// The octets of a message that was received.
    #[inline]
    pub fn message(&mut self, header: &MessageHeader) -> &mut [u8] {
        self.message_with_seams(header).0
    }

    /// The same, and the fragment boundaries in it.
    #[inline]
    pub fn message_with_seams(&mut self, header: &MessageHeader) -> (&mut [u8], &[u32]) {
        self.giop.message(header)
    }

    /// Drops a message that was received.
    #[inline]
    pub fn consume(&mut self, header: &MessageHeader) {
        if self.giop.came_in_fragments() {
            self.drop_whole();
        } else {
            self.giop.consume(header);
        }
    }

    #[cold]
    fn drop_whole(&mut self) {
        let whole = self.giop.take_whole();
        if let (Some(whole), Some(Shared::Slot(slot))) = (whole, self.shared.as_deref()) {
            slot.recycle(whole);
        }
    }

    /// Whether an idle connection is readable: its end, or unexpected data.
    pub fn has_unexpected_input(&self) -> bool {
        let source = self.stream.source();
        self.stream.has_buffered()
            || !matches!(
                wait_for([(&source, Interest::Read)], Some(Duration::ZERO)).ok(),
                Some([false])
            )
    }

    /// Whether the last call over it began in that tick.
    #[inline(always)]
    pub fn was_used_in(&self, tick: u32) -> bool {
        self.tick == tick
    }

    /// Notes its use by a call that began at that time; returns whether it was idle for long.
    pub fn note_use(&mut self, begun: Stamp) -> bool {
        let long = begun.is_long_after(self.tick);
        self.tick = begun.tick();
        long
    }

    /// Whether the server has ended an idle connection, or has sent unexpected data. One system
    /// call if nothing has arrived. Data are received, as they may be a TLS ticket, a wake-up of
    /// shared memory, or the late reply of a call that shared the connection.
    #[cold]
    pub fn has_ended(&mut self) -> bool {
        if !self.has_unexpected_input() {
            return false;
        }
        if self.set_timeout(Some(MAX_IDLE_CHECK)).is_err() {
            return true;
        }
        match self.giop.receive(&*self.stream) {
            Ok(_) => true,
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
            ),
        }
    }

    /// Whether a oneway should check the connection, as no reply would show its end: not shortly
    /// after the previous oneway.
    #[inline]
    pub fn needs_check(&mut self, now: Stamp) -> bool {
        let before = std::mem::replace(&mut self.last_oneway, now);
        now.is_moments_after(before)
    }

    /// Whether an idle connection can no longer be used for sending, or has received unexpected
    /// data. A shared one is not checked further, since data may be for other callers.
    #[inline]
    pub fn is_known_stale(&mut self) -> bool {
        match self.id_distance {
            2 => self.has_ended(),
            _ => self.stream.has_buffered(),
        }
    }

    /// Records an error, not the peer, as the cause of the end.
    #[cold]
    pub fn note_error(&self) {
        if let Some(counted) = &self.counted {
            counted.note_cause(Closing::Error);
        }
    }

    /// Ends the connection in order, as a client of GIOP 1.2 may.
    pub fn close(&self) {
        if let Some(counted) = &self.counted {
            if has_peer_ended(self.giop.is_closing(), &*self.stream) {
                counted.note_cause(Closing::Peer);
            } else {
                counted.note_closing();
            }
        }
        self.say_last(&close_connection(Version::V1_2));
    }
}
