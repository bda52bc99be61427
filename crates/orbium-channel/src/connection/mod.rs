// SPDX-License-Identifier: MIT OR Apache-2.0
//! A GIOP connection without socket, clock or thread.
//!
//! [`Connection`] receives octets and returns events: whole messages, reassembled if fragmented,
//! cancelled requests, the end, requests that were discarded because they are too large or there is
//! no memory for them, and violations of the protocol. [`CodeSets`] has the negotiated code sets
//! for text. [`Requests`] has the pending requests of its own side. The drivers use them:
//! connections of clients with one call at a time, shared by all callers, or with asynchronous
//! invocations, and those of servers.
//!
//! Both sides of a connection in one process, with time under the test's control:
//!
//! ```
//! use std::time::Instant;
//!
//! use orbium_channel::connection::{Bounds, Connection, Event, Role};
//! use orbium_channel::peer_memory::Budget;
//! use orbium_giop::{Version, close_connection};
//!
//! let start = Instant::now();
//! let mut client = Connection::new(Role::Client, Bounds::default(), &Budget::NONE);
//! client.push(&close_connection(Version::V1_2))?;
//! assert_eq!(client.next(&|| start), Ok(Some(Event::Close)));
//! # Ok::<(), std::io::Error>(())
//! ```

mod agreement;
mod assembly;
mod code_sets;
mod current;
mod delivered;
mod delivery;
mod event;
mod naming;
mod parts;
mod refusal;
mod requests;
mod role;

use std::io;
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::numbers::Names;
use orbium_giop::{
    CancelRequest, HEADER_LEN, Headers, MessageHeader, MessageKind, PlainReply, RequestForm,
    UsualForm,
};
use orbium_transport::ByteStream;

use crate::framing::{Framing, FramingError};
use crate::peer_memory::Budget;
use assembly::{Added, header_of};
pub use assembly::{Assembly, Whole};
pub use code_sets::CodeSets;
pub use delivery::Delivery;
pub use event::{Cause, Event, Refused, Violation};
pub use parts::{Continuation, Parts};
pub use requests::Requests;
pub use role::{Bounds, Role};

/// One side of a GIOP connection.
#[derive(Debug)]
pub struct Connection {
    role: Role,
    framing: Framing,
    continuation: Continuation,
    /// A message that was fragmented, or that has its names restored, until it is consumed.
    whole: Option<Whole>,
    /// The names for the numbers in requests, if the connection has any.
    names: Option<Arc<Names>>,
    /// Buffer for the next request that needs its names restored.
    spare: Vec<u8>,
    /// A delivered event that is not a message.
    delivered: Option<Box<Result<Event, Violation>>>,
}

impl Connection {
    /// A connection that has received nothing yet.
    #[must_use]
    pub fn new(role: Role, bounds: Bounds, budget: &Budget) -> Self {
        Self {
            role,
            framing: Framing::new(bounds.message, budget),
            continuation: Continuation {
                assembly: Assembly::new(bounds.reassembly, bounds.message_time, budget),
                code_sets: CodeSets::DEFAULT,
                is_delivered: false,
            },
            whole: None,
            names: None,
            spare: Vec::new(),
            delivered: None,
        }
    }

    /// The same connection, continued by another thread: with the bytes received after the message
    /// being served, and the state that continues beyond it.
    #[must_use]
    pub fn continued(
        role: Role,
        limit: usize,
        rest: &[u8],
        continuation: Continuation,
        budget: &Budget,
    ) -> Self {
        let framing = Framing::with_octets(limit, rest.to_vec(), budget);
        Self {
            role,
            framing: framing.with_deliveries(continuation.is_delivered),
            continuation,
            whole: None,
            names: None,
            spare: Vec::new(),
            delivered: None,
        }
    }

    /// The same; messages may have these headers besides GIOP's.
    #[must_use]
    pub fn with_headers(self, headers: Headers) -> Self {
        Self {
            framing: self.framing.with_headers(headers),
            ..self
        }
    }

    /// The same; requests may have these numbers.
    #[must_use]
    pub fn with_names(self, names: Option<Arc<Names>>) -> Self {
        Self { names, ..self }
    }

    /// The header of the next message, if it is an unfragmented reply of the usual form, and its
    /// fields: the fast path of `peek`.
    #[must_use]
    #[inline(always)]
    pub fn next_plain_reply(&self) -> Option<(MessageHeader, PlainReply)> {
        self.framing.next_plain_reply()
    }

    /// The budget to which its memory is charged.
    #[must_use]
    #[inline]
    pub fn budget(&self) -> &Budget {
        self.framing.budget()
    }

    /// Receives once, directly into its buffer.
    ///
    /// # Errors
    /// The errors of the stream.
    #[inline]
    pub fn receive(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        match self.framing.receive_little(stream) {
            Some(received) => received,
            None => self.receive_more(stream),
        }
    }

    /// Takes octets that were received elsewhere, and returns their number: 0 if `next` has an
    /// event to return first.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn push(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.framing.push(octets)
    }

    /// The next message, if it has arrived whole and begins as a usual request of that form: the
    /// fast path of `next`.
    #[must_use]
    #[inline(always)]
    pub fn next_request<F: RequestForm>(&mut self) -> Option<Parts<'_>> {
        let (message, rest) = self.framing.next_request::<F>()?;
        Some(Parts {
            message,
            seams: &[],
            rest,
            continuation: &mut self.continuation,
        })
    }

    /// The form of nearly all requests.
    #[must_use]
    #[inline]
    pub fn usual_form(&self) -> UsualForm {
        self.framing.headers().usual_form()
    }

    /// The header of the next message or fragment, if it has arrived whole. Only for an
    /// unfragmented reply is this the event; for others the caller calls `next`.
    ///
    /// # Errors
    /// `next` returns the resulting event.
    #[inline]
    pub fn peek(&self) -> Result<Option<MessageHeader>, FramingError> {
        self.framing.next()
    }

    /// The next event, if one has arrived whole. `now` is called only for fragments.
    ///
    /// # Errors
    /// [`Violation::answer`] is to be sent to the peer, and the connection closed.
    pub fn next(&mut self, now: &dyn Fn() -> Instant) -> Result<Option<Event>, Violation> {
        if let Some(header) = self.whole.as_ref().and_then(header_of) {
            return Ok(Some(Event::Message(header)));
        }
        if let Some(event) = self.delivered.take() {
            return event.map(Some);
        }
        match self.framing.next() {
            Ok(None) => Ok(None),
            Ok(Some(header)) => self.found(&header, now).map(Some),
            Err(FramingError::NoMemory) => self.without_memory(now).map(Some),
            Err(error) => self.unframed(error),
        }
    }

    fn found(
        &mut self,
        header: &MessageHeader,
        now: &dyn Fn() -> Instant,
    ) -> Result<Event, Violation> {
        if !self.role.receives(header.kind) {
            return Err(Violation::Unexpected(header.kind));
        }
        if header.more_fragments || header.kind == MessageKind::Fragment {
            return self.fragment(header, now);
        }
        if header.is_short() && Names::concern(self.framing.received()) {
            return self.named(header);
        }
        let event = match header.kind {
            MessageKind::CancelRequest => {
                let message = self.framing.message(header);
                let mut reader = header.reader(&mut message[HEADER_LEN..]);
                let cancelled = CancelRequest::read(&mut reader).map_err(Violation::Malformed)?;
                self.continuation.assembly.cancel(cancelled.request_id, now);
                Event::Cancel(cancelled.request_id)
            }
            // It is the peer's last message, and remains in the buffer.
            MessageKind::CloseConnection => {
                return match self.continuation.assembly.interrupted()? {
                    Some(failure) => self.added(Added::Whole(failure)),
                    None => Ok(Event::Close),
                };
            }
            MessageKind::MessageError => return Ok(Event::MessageError),
            _ => return Ok(Event::Message(*header)),
        };
        self.framing.consume(header);
        Ok(event)
    }

    #[cold]
    fn fragment(
        &mut self,
        header: &MessageHeader,
        now: &dyn Fn() -> Instant,
    ) -> Result<Event, Violation> {
        let assembly = &mut self.continuation.assembly;
        let added = assembly.accept(header, &mut self.framing, now);
        if assembly.deadline().is_some() && assembly.is_late(now()) {
            return Err(Violation::Late);
        }
        self.added(added.map_err(Violation::Fragment)?)
    }

    fn added(&mut self, added: Added) -> Result<Event, Violation> {
        Ok(match added {
            Added::Partial => Event::Fragment,
            Added::Refused(refused) => Event::Refused(refused),
            Added::Whole(whole) => {
                let header = header_of(&whole).ok_or(Violation::Framing(FramingError::NoMemory))?;
                self.whole = Some(whole);
                Event::Message(header)
            }
        })
    }

    /// The framing has no memory for a message of which the beginning has arrived. A reply was
    /// replaced by the framing itself.
    #[cold]
    fn without_memory(&mut self, now: &dyn Fn() -> Instant) -> Result<Event, Violation> {
        let no_memory = Violation::Framing(FramingError::NoMemory);
        let Ok(Some(header)) = self.framing.header() else {
            return Err(no_memory);
        };
        if header.kind == MessageKind::Fragment {
            let assembly = &mut self.continuation.assembly;
            let added = assembly.skip(&header, &mut self.framing, now);
            return self.added(added.map_err(Violation::Fragment)?);
        }
        let begun = self.framing.received();
        if !self.define_all(begun) {
            return Err(no_memory);
        }
        let refused = refusal::refused(&header, begun, Cause::NoMemory).ok_or(no_memory)?;
        self.framing.skip();
        Ok(Event::Refused(refused))
    }

    /// A message that cannot be accepted. A request that is too large is skipped once enough of it
    /// has arrived for its reply.
    #[cold]
    fn unframed(&mut self, error: FramingError) -> Result<Option<Event>, Violation> {
        let violation = Violation::Framing(error);
        let too_large = matches!(
            error,
            FramingError::TooLarge {
                kind: MessageKind::Request,
                ..
            }
        );
        if !too_large || !self.role.receives(MessageKind::Request) {
            return Err(violation);
        }
        let Some((header, received)) = self.framing.oversized() else {
            return Err(violation);
        };
        let received = &*received;
        let read = refusal::read_header(&header, received).filter(|_| match &self.names {
            Some(names) => names.define(received).is_ok(),
            None => true,
        });
        let Some((request_id, expects_reply)) = read else {
            // The rest of its header is outstanding.
            return if received.len() < refusal::HEAD {
                Ok(None)
            } else {
                Err(violation)
            };
        };
        self.framing.skip_oversized(&header);
        Ok(Some(Event::Refused(Refused {
            version: header.version,
            request_id,
            expects_reply,
            octets: header.size as usize,
            cause: Cause::TooLarge(Some(error)),
        })))
    }

    /// The bytes received and not yet consumed, without a fragmented message.
    #[must_use]
    #[inline]
    pub fn received(&self) -> &[u8] {
        self.framing.received()
    }

    /// Whether part of a message has arrived.
    #[must_use]
    #[inline]
    pub fn is_partial(&self) -> bool {
        self.framing.is_partial()
    }

    /// Whether part of a message, or some of its fragments, has arrived.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.framing.is_partial() || !self.continuation.assembly.is_empty()
    }

    /// Whether part of a request, or some of its fragments, has arrived. Replies are subject to the
    /// deadlines of their callers.
    #[must_use]
    pub fn is_request_unfinished(&self) -> bool {
        self.continuation.assembly.deadline().is_some() || self.begins_with_request()
    }

    /// Whether part of a request, or of a message of unknown kind, has arrived.
    fn begins_with_request(&self) -> bool {
        let begun = self.framing.received();
        let header = begun.first_chunk().and_then(MessageHeader::parse_any);
        let assembly = &self.continuation.assembly;
        let kind = header.map(|header| assembly.kind_of(&header, &begun[HEADER_LEN..]));
        match kind.flatten() {
            Some(kind) => !matches!(kind, MessageKind::Reply | MessageKind::LocateReply),
            None => self.framing.is_partial(),
        }
    }

    /// The messages in assembly.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.continuation.assembly
    }

    /// Whether CloseConnection is the next message received.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        let next = self.framing.next().ok().flatten();
        next.is_some_and(|header| header.kind == MessageKind::CloseConnection)
            || matches!(self.delivered.as_deref(), Some(Ok(Event::Close)))
    }
}
