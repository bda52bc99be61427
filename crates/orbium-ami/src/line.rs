// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection for asynchronous invocations, with any number in flight.
//!
//! A caller sends at once, as far as the peer accepts; the reader thread sends the rest. Only
//! [`Line::open`] blocks.

pub(super) mod end;
mod ending;
mod receiving;
mod sending;

use std::collections::VecDeque;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use orbium_cdr::Format;
use orbium_channel::batch::{Batch, Message, Spares};
use orbium_channel::connection::{CodeSets, Connection, Requests};
use orbium_giop::{SystemException, Version};
use orbium_invocation::story::{self, Note, Phase as CallPhase};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{ByteStream, Connector, Deadline, Stamp};

use super::pending_call::PendingCall;
use super::reader::Reader;
use super::request::{Introduced, written};
use end::End;
use orbium_client::band_operation::BIND_PRIORITY_BAND;
use orbium_client::candidate::Candidate;
use orbium_client::request_path::RequestPath;
use orbium_connection::ClientConfig;
use orbium_connection::PrivateConnections;
use orbium_connection::connecting;
use orbium_connection::counts::Counted;
use orbium_connection::introduction::{Introduction, PriorityContext};
use orbium_connection::pool::Pool;
use orbium_connection::pool_key::PoolKey;
use orbium_invocation::timing::Timing;

/// A request that follows the last send within this time is left to the reader, if others are
/// pending. About the duration of a send: less frequent requests gain nothing.
const MAX_SEND_GAP: Duration = Duration::from_micros(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The stream is not open yet.
    Opening,
    /// The band is being bound; no request is sent before the server has replied.
    Binding,
    Open,
    Over(End),
}

/// The owner of a pending request id.
enum Awaiting {
    Call(Arc<dyn PendingCall>),
    /// The line itself, for the binding of the band.
    Band,
}

/// A request that was not answered yet.
pub(super) struct Pending {
    awaiting: Awaiting,
    /// Its number in the order of sending.
    number: u64,
    /// The format of the server's replies.
    format: Format,
    /// The version for a CancelRequest, if the server accepts one.
    cancelled: Option<Version>,
}

impl Pending {
    pub(super) fn call(call: Arc<dyn PendingCall>, candidate: &Candidate) -> Self {
        Self::new(Awaiting::Call(call), candidate)
    }

    fn new(awaiting: Awaiting, candidate: &Candidate) -> Self {
        Self {
            awaiting,
            number: u64::MAX,
            format: candidate.format(),
            cancelled: candidate.is_cancelled.then_some(candidate.version),
        }
    }
}

struct State {
    phase: Phase,
    /// The request that binds the band.
    first: Option<Message>,
    /// Messages not yet passed to the stream, and their bytes.
    queue: VecDeque<Message>,
    queued: usize,
    /// The messages that the stream has not sent completely.
    batch: Option<Batch>,
    /// Buffers for reuse.
    spares: Spares,
    /// Whether a thread is sending; it continues until the queue is empty.
    is_sending: bool,
    /// Whether the reader is to send.
    is_deferred: bool,
    /// The end of the last send, and the duration of a pause, in units of the processor's counter,
    /// as each request compares them.
    sent_at: u64,
    pause: u64,
    /// The numbers of the last message that was queued and of the last that was sent.
    last_number: u64,
    last_sent: u64,
    pending: Requests<Pending>,
    /// The errors of the connection, under the lock of the senders.
    code_sets: CodeSets,
    /// Records the reply to the dedication request, until it has arrived.
    asking: Option<Arc<PrivateConnections>>,
    /// Whether the reader waits for room to send, and on which descriptor if not the source.
    wants_room: bool,
    sending: Option<Arc<OwnedFd>>,
    used: Instant,
    counted: Option<Counted>,
    /// Notes of its events, for the stories of calls.
    notes: Vec<Note>,
}

/// A connection that is open or being opened.
pub(super) struct Line {
    key: PoolKey,
    number: u64,
    config: Arc<ClientConfig>,
    /// The pool of connections with its key.
    pool: Weak<Pool>,
    stream: OnceLock<Box<dyn ByteStream>>,
    state: Mutex<State>,
    giop: Mutex<Connection>,
}

impl Line {
    /// A line that is to be opened.
    ///
    /// # Errors
    ///
    /// The request that binds the band cannot be written.
    pub(super) fn new(
        config: &Arc<ClientConfig>,
        pool: &Arc<Pool>,
        number: u64,
        way: &RequestPath<'_>,
    ) -> Result<Arc<Self>, SystemException> {
        let key = pool.key().clone();
        let mut state = State {
            phase: Phase::Opening,
            first: None,
            queue: VecDeque::new(),
            queued: 0,
            batch: None,
            spares: Spares::default(),
            is_sending: false,
            is_deferred: false,
            sent_at: 0,
            pause: Stamp::counts_in(MAX_SEND_GAP),
            last_number: 0,
            last_sent: 0,
            pending: Requests::of_opener(),
            code_sets: CodeSets::of_client(key.negotiated),
            asking: way.own.filter(|own| own.request().is_some()).cloned(),
            wants_room: false,
            sending: None,
            used: Instant::now(),
            counted: None,
            notes: Vec::new(),
        };
        if let Some(band) = way.band {
            let introduced = state.introduce(PriorityContext::Range(band));
            let id = introduced.id;
            let timing = Timing::NEVER;
            let bind = &BIND_PRIORITY_BAND;
            let octets = written(config, way.candidate, bind, introduced, &timing, &[], None)?;
            let mut pending = Pending::new(Awaiting::Band, way.candidate);
            pending.number = state.next_number();
            state.first = Some(Message::new(id, pending.number, octets));
            state.pending.insert(id, pending);
        }
        Ok(Arc::new(Self {
            pool: Arc::downgrade(pool),
            key,
            number,
            config: Arc::clone(config),
            stream: OnceLock::new(),
            state: Mutex::new(state),
            giop: Mutex::new(
                config
                    .giop_connection()
                    .with_headers(config.protocols.headers(pool.channel())),
            ),
        }))
    }

    /// Whether it has the key of that pool.
    pub(super) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        ptr::eq(self.pool.as_ptr(), Arc::as_ptr(pool)) || self.key == *pool.key()
    }

    pub(super) fn key(&self) -> &PoolKey {
        &self.key
    }

    /// Unique among the lines of its reader.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Connects. Blocks, on a thread of its own.
    pub(super) fn open(self: &Arc<Self>, reader: &Arc<Reader>, connector: &dyn Connector) {
        let deadline = Deadline::after(Some(self.config.connect_timeout.0));
        let channel = &self.key.channel;
        let begun = story::start_connecting();
        match connecting::nonblocking(connector, deadline) {
            Ok(stream) => {
                self.lock().notes = story::connecting(channel, begun, None);
                self.opened(reader, stream);
            }
            Err(error) => {
                self.lock().notes = story::connecting(channel, begun, Some(&error));
                // The calls check their own deadlines.
                let refused = connecting::refused(
                    &error,
                    Deadline::NEVER,
                    &self.key.channel,
                    reader.counts(),
                );
                self.end(reader, End::Unreachable(refused));
            }
        }
    }

    fn opened(self: &Arc<Self>, reader: &Arc<Reader>, stream: Box<dyn ByteStream>) {
        self.giop.lock().attach(&*stream);
        {
            let mut state = self.lock();
            if state.is_over() {
                return;
            }
            let counted = reader.counted(&self.key.channel);
            let _ = self.stream.set(counted.metered(stream));
            state.counted = Some(counted);
        }
        let Some(stream) = self.stream.get() else {
            return;
        };
        if reader.watch(self, stream.source()).is_err() {
            return self.end(reader, End::Lost);
        }
        {
            // Registered first: a sender may have to wait for room.
            let mut state = self.lock();
            if state.is_over() {
                return;
            }
            state.phase = match state.first {
                Some(_) => Phase::Binding,
                None => Phase::Open,
            };
        }
        self.flush(reader);
        // The source does not show data received with the handshake.
        if stream.has_buffered() {
            reader.look_at(self);
        }
        if self.is_orphaned() {
            self.end(reader, End::Idle);
        }
    }

    /// Notes the reason of its coming end.
    fn note(&self, phase: CallPhase, cause: &dyn fmt::Display) {
        let note = Note::new(phase, Some(&self.key.channel), cause);
        self.lock().notes.push(note);
    }

    /// The notes of its events.
    pub(super) fn notes(&self) -> Vec<Note> {
        self.lock().notes.clone()
    }

    /// The parts of the next request that depend on its connection.
    pub(super) fn introduce(&self, said: PriorityContext) -> Introduced {
        self.lock().introduce(said)
    }

    /// Whether that request was sent completely.
    pub(super) fn has_sent(&self, id: u32) -> bool {
        let state = self.lock();
        let pending = state.pending.get(id);
        pending.is_some_and(|pending| state.is_sent(pending))
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    /// Whether the reader waits for room to send.
    pub(super) fn wants_room(&self) -> bool {
        self.lock().wants_room
    }

    pub(super) fn source(&self) -> Option<&dyn AsFd> {
        self.stream.get().map(|stream| stream.source())
    }

    /// Whether no reply was pending for that time, or none is and the reference that owned it is
    /// gone.
    pub(super) fn is_idle(&self, time: Duration) -> bool {
        let state = self.lock();
        let idle = state.phase == Phase::Open && state.pending.is_empty();
        idle && (self.is_orphaned() || state.used.elapsed() >= time)
    }

    /// Whether the reference that owned it privately was dropped.
    fn is_orphaned(&self) -> bool {
        self.key.partition.is_private() && self.pool.strong_count() == 0
    }
}

impl State {
    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_))
    }

    fn introduce(&mut self, said: PriorityContext) -> Introduced {
        let id = self.pending.next_id();
        let marker = self.asking.as_ref().and_then(|own| own.request());
        let said = marker.map_or(said, |marker| said.with(marker));
        Introduced {
            id,
            contexts: Introduction::new(self.code_sets.announcement(), said),
            storage: self.spares.take(),
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} to {}", self.number, self.key.channel)
    }
}
