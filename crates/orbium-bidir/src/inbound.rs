// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving direction of a bidirectional connection: its GIOP connection extracts the
//! messages, and each half has a queue of them.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use orbium_channel::connection::{Connection, Delivery, Event, Violation};
use orbium_channel::peer_memory::Budget;
use orbium_channel::request_id;
use orbium_giop::{GiopRequests, HEADER_LEN, MessageHeader, MessageKind};
use orbium_sys::Waker;

use crate::delivery_queue::DeliveryQueue;
use crate::outgoing::octets;
use crate::pending_requests::{Calls, HalfId};

/// Maximum bytes of requests that calling halves read for the server engine while it serves others;
/// beyond that they stop reading.
const MAX_READ_AHEAD: usize = 1 << 20;

/// A half of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Serving,
    Calling(HalfId),
}

/// The receiving direction.
#[derive(Debug)]
pub(crate) struct Inbound {
    /// Taken out by the receiving thread, one at a time, which uses it without the lock.
    giop: Option<Box<Connection>>,
    pub(crate) calls: Calls,
    requests: DeliveryQueue,
    replies: BTreeMap<HalfId, DeliveryQueue>,
    last_half: u64,
    end: Option<Option<io::ErrorKind>>,
    /// Whether no further calls may begin.
    is_closing: bool,
    /// Whether part of a request has arrived.
    is_midway: bool,
    /// Number of the newest announcement with a reply to its request.
    answered: u32,
    budget: Budget,
}

impl Inbound {
    pub(crate) fn new(is_opener: bool, budget: &Budget) -> Self {
        Self {
            giop: None,
            calls: Calls::new(is_opener),
            requests: DeliveryQueue::new(budget),
            replies: BTreeMap::new(),
            last_half: 0,
            end: None,
            is_closing: false,
            is_midway: false,
            answered: 0,
            budget: budget.clone(),
        }
    }

    /// Begins the bidirectional use, with that connection.
    pub(crate) fn begin(&mut self, giop: Connection) {
        self.put_back(Box::new(giop));
    }

    /// A new calling half; `None` if the connection has ended, or one side has closed it.
    pub(crate) fn add_half(&mut self) -> Option<HalfId> {
        if self.end.is_some() || self.is_closing {
            return None;
        }
        self.last_half += 1;
        let half = HalfId(self.last_half);
        self.replies.insert(half, DeliveryQueue::new(&self.budget));
        Some(half)
    }

    /// Removes a calling half.
    pub(crate) fn remove_half(&mut self, half: HalfId) {
        self.replies.remove(&half);
        self.calls.forget(half);
    }

    /// Whether there are calling halves.
    pub(crate) fn has_halves(&self) -> bool {
        !self.replies.is_empty()
    }

    fn queue(&mut self, half: Half) -> Option<&mut DeliveryQueue> {
        match half {
            Half::Serving => Some(&mut self.requests),
            Half::Calling(half) => self.replies.get_mut(&half),
        }
    }

    /// The bytes of the next delivery to a half, 0 at the end; `None` if nothing has arrived yet.
    ///
    /// # Errors
    /// The error with which the stream ended.
    pub(crate) fn next(&mut self, half: Half) -> Option<io::Result<usize>> {
        let end = self.end;
        let Some(queue) = self.queue(half) else {
            return Some(Ok(0));
        };
        if let Some(octets) = queue.next() {
            return Some(Ok(octets));
        }
        match end {
            Some(Some(kind)) => Some(Err(kind.into())),
            Some(None) => Some(Ok(0)),
            None => queue.has_ended().then_some(Ok(0)),
        }
    }

    /// Takes that delivery; `room` is a buffer for a later one.
    pub(crate) fn take(&mut self, half: Half, room: Vec<u8>) -> Option<Delivery> {
        self.queue(half)?.take(room)
    }

    /// Whether a half has a delivery, or the end.
    pub(crate) fn has_some(&self, half: Half) -> bool {
        let queue = match half {
            Half::Serving => Some(&self.requests),
            Half::Calling(half) => self.replies.get(&half),
        };
        self.end.is_some() || queue.is_none_or(|it| it.octets() > 0 || it.has_ended())
    }

    /// Whether no more is read ahead for the server engine.
    pub(crate) fn is_full(&self) -> bool {
        self.requests.octets() >= MAX_READ_AHEAD
    }

    /// Indicates at `waker` whether a calling half has deliveries.
    pub(crate) fn show(&mut self, half: HalfId, waker: &Arc<Waker>) {
        let has_some = self.has_some(Half::Calling(half));
        if let Some(queue) = self.replies.get_mut(&half) {
            queue.show(waker);
        }
        if has_some {
            waker.wake();
        }
    }

    /// Ends the deliveries to a calling half.
    pub(crate) fn end_half(&mut self, half: HalfId) {
        if let Some(queue) = self.replies.get_mut(&half) {
            queue.end();
        }
    }

    /// Ends all deliveries.
    pub(crate) fn end(&mut self, error: Option<io::ErrorKind>) {
        if self.end.is_none() {
            self.end = Some(error);
            self.requests.wake();
            self.replies.values().for_each(DeliveryQueue::wake);
        }
    }

    /// Closes the connection from this side: no further calls begin.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// With which error the stream ended, if with one.
    pub(crate) fn failure(&self) -> Option<io::ErrorKind> {
        self.end.flatten()
    }

    /// Whether part of a request has arrived.
    pub(crate) fn is_midway(&self) -> bool {
        self.is_midway
    }

    /// Number of the newest announcement that the peer has received, as it has replied to a request
    /// that carried it.
    pub(crate) fn answered(&self) -> u32 {
        self.answered
    }

    /// Whether a thread receives.
    pub(crate) fn is_read(&self) -> bool {
        self.giop.is_none()
    }

    /// Begins to receive, unless another thread is receiving.
    pub(crate) fn begin_to_read(&mut self) -> Option<Box<Connection>> {
        self.giop.take()
    }

    /// Returns the connection after a receive; the result is whether messages arrived.
    pub(crate) fn received(&mut self, giop: Box<Connection>, received: io::Result<usize>) -> bool {
        self.put_back(giop);
        match received {
            Ok(0) => self.end(None),
            Ok(_) => {}
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => return false,
                kind => self.end(Some(kind)),
            },
        }
        true
    }

    /// Distributes the received messages and events.
    fn put_back(&mut self, mut giop: Box<Connection>) {
        while self.end.is_none() && giop.is_partial() {
            if let Some(parts) = giop.next_request::<GiopRequests>() {
                let octets = parts.message.len();
                if self.requests.append(parts.message) {
                    giop.consume_plain(octets);
                    continue;
                }
            }
            match giop.next(&Instant::now) {
                Ok(None) => break,
                Ok(Some(Event::Message(header))) => self.message(&mut giop, &header),
                Ok(Some(Event::Fragment)) => {}
                Ok(Some(event @ (Event::Cancel(_) | Event::Refused(_)))) => {
                    self.requests.add_event(Ok(event));
                    self.end_if_refused();
                }
                last @ (Ok(Some(Event::Close | Event::MessageError)) | Err(_)) => {
                    self.end_with(last.map(|event| event.unwrap_or(Event::Close)));
                }
            }
        }
        self.is_midway = giop.is_request_unfinished();
        self.giop = Some(giop);
    }

    /// Delivers the end of the connection to all halves.
    fn end_with(&mut self, last: Result<Event, Violation>) {
        self.requests.add_event(last);
        for queue in self.replies.values_mut() {
            queue.add_event(last);
        }
        self.end(None);
    }

    fn message(&mut self, giop: &mut Connection, header: &MessageHeader) {
        match header.kind {
            MessageKind::Reply | MessageKind::LocateReply => self.answer(giop, header),
            _ => {
                self.requests.add(giop, header);
                self.end_if_refused();
            }
        }
    }

    /// The queue of the server engine ends alone if there is no memory for what is read ahead.
    fn end_if_refused(&mut self) {
        if self.requests.has_ended() {
            self.end(Some(io::ErrorKind::OutOfMemory));
        }
    }

    /// Delivers a reply to its calling half, with the half's own id. Late replies are discarded.
    fn answer(&mut self, giop: &mut Connection, header: &MessageHeader) {
        // Replies of older versions belong to no request.
        if header.version.minor < 2 {
            return self.end_with(Err(Violation::Unexpected(header.kind)));
        }
        let (message, _) = giop.message(header);
        let Some(id) = request_id(header, message) else {
            return self.end_with(Err(Violation::NoRequestId));
        };
        let Some(call) = self.calls.end(id) else {
            return giop.consume(header);
        };
        self.answered = self.answered.max(call.announced);
        let local = octets(header.order, call.local);
        message[HEADER_LEN..HEADER_LEN + local.len()].copy_from_slice(&local);
        match self.replies.get_mut(&call.half) {
            Some(queue) => queue.add(giop, header),
            None => giop.consume(header),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending_requests::Call;
    use orbium_cdr::ByteOrder;
    use orbium_channel::connection::{Bounds, Role};
    use orbium_giop::{Version, close_connection, message_error};

    fn message(kind: MessageKind, order: ByteOrder, id: u32, more: bool) -> Vec<u8> {
        let mut body = octets(order, id).to_vec();
        body.extend_from_slice(b"0123456789ab");
        let header = MessageHeader {
            version: Version::V1_2,
            order,
            more_fragments: more,
            kind,
            size: body.len() as u32,
        };
        [&header.encode()[..], &body].concat()
    }

    /// A connection that this side opened, with two halves and one call each, with the same id.
    fn calling() -> (Inbound, [Half; 2]) {
        let mut inbound = Inbound::new(true, &Budget::NONE);
        inbound.begin(Connection::new(
            Role::Both,
            Bounds::default(),
            &Budget::NONE,
        ));
        let halves = [7, 8].map(|announced| {
            let half = inbound.add_half().unwrap();
            inbound.calls.begin(Call {
                half,
                local: 2,
                is_answered: true,
                announced,
            });
            Half::Calling(half)
        });
        (inbound, halves)
    }

    fn receive(inbound: &mut Inbound, mut bytes: &[u8]) {
        while !bytes.is_empty() && !inbound.has_ended() {
            let mut giop = inbound.begin_to_read().unwrap();
            let taken = giop.push(bytes);
            bytes = &bytes[*taken.as_ref().unwrap()..];
            assert!(inbound.received(giop, taken));
        }
    }

    /// All deliveries to a half: the bytes of messages, and events.
    fn delivered(inbound: &mut Inbound, half: Half) -> (Vec<u8>, Vec<Result<Event, Violation>>) {
        let (mut messages, mut events) = (Vec::new(), Vec::new());
        while let Some(delivery) = inbound.take(half, Vec::new()) {
            match delivery {
                Delivery::Messages(octets) => messages.extend(octets),
                Delivery::Whole(whole) => messages.extend(whole.message.octets),
                Delivery::Event(event) => events.push(event),
            }
        }
        (messages, events)
    }

    #[test]
    fn messages_go_their_ways_however_they_are_cut() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let of = |kind, id, more| message(kind, order, id, more);
            let stream = [
                of(MessageKind::Request, 1, false),
                of(MessageKind::Reply, 4, true),
                of(MessageKind::Reply, 2, false),
                of(MessageKind::CancelRequest, 1, false),
                of(MessageKind::Fragment, 4, false),
                // Late.
                of(MessageKind::Reply, 2, false),
                of(MessageKind::LocateRequest, 3, false),
                close_connection(Version::V1_2).to_vec(),
            ];
            let close = Ok(Event::Close);
            for piece in [1, 5, 12, 16, 17, 1000] {
                let (mut inbound, [first, second]) = calling();
                stream
                    .concat()
                    .chunks(piece)
                    .for_each(|bytes| receive(&mut inbound, bytes));
                let served = [&stream[0][..], &stream[6]].concat();
                let events = vec![Ok(Event::Cancel(1)), close];
                assert_eq!(delivered(&mut inbound, Half::Serving), (served, events));
                let answered = (stream[2].clone(), vec![close]);
                assert_eq!(delivered(&mut inbound, first), answered, "{piece}");
                let (assembled, events) = delivered(&mut inbound, second);
                // With the id that the half has assigned.
                assert_eq!(assembled[HEADER_LEN..HEADER_LEN + 4], octets(order, 2));
                assert_eq!((assembled.len(), events), (HEADER_LEN + 28, vec![close]));
                assert_eq!(inbound.answered(), 8);
                assert_eq!(inbound.next(first).unwrap().unwrap(), 0, "the end");
            }
        }
    }

    #[test]
    fn the_end_of_the_connection_is_delivered_to_all_halves() {
        let bad = b"GIOQ is no message, and what follows is none".to_vec();
        let reply = message(MessageKind::Reply, ByteOrder::NATIVE, 2, false);
        let old = [&b"GIOP\x01\0"[..], &reply[6..]].concat();
        for last in [bad, old, message_error(Version::V1_2).to_vec()] {
            let (mut inbound, [first, second]) = calling();
            let good = message(MessageKind::Request, ByteOrder::NATIVE, 1, false);
            receive(&mut inbound, &[&good[..], &last, &good].concat());
            let (served, events) = delivered(&mut inbound, Half::Serving);
            assert_eq!((&served, events.len()), (&good, 1));
            for half in [first, second] {
                assert_eq!(delivered(&mut inbound, half), (Vec::new(), events.clone()));
            }
            assert!(inbound.has_ended() && inbound.add_half().is_none());
        }
    }

    #[test]
    fn messages_are_delivered_together_but_none_is_added_to_what_was_said() {
        let (mut inbound, _) = calling();
        let one = message(MessageKind::Request, ByteOrder::NATIVE, 1, false);
        receive(&mut inbound, &one.repeat(3));
        let said = inbound.next(Half::Serving).unwrap().unwrap();
        assert_eq!(said, 3 * one.len());
        receive(&mut inbound, &one);
        let Some(Delivery::Messages(first)) = inbound.take(Half::Serving, Vec::new()) else {
            panic!("no messages");
        };
        assert_eq!(first, one.repeat(3));
        assert_eq!(delivered(&mut inbound, Half::Serving).0, one);
    }

    #[test]
    fn a_request_of_which_more_is_to_come_is_noted_and_a_reply_is_not() {
        for (kind, is_midway) in [(MessageKind::Request, true), (MessageKind::Reply, false)] {
            let begun = message(kind, ByteOrder::NATIVE, 2, true);
            let (mut inbound, _) = calling();
            receive(&mut inbound, &begun[..20]);
            assert_eq!(inbound.is_midway(), is_midway);
        }
    }

    /// Regression: each counted as one byte, independently of the memory of an event.
    #[test]
    fn cancels_that_are_read_ahead_are_bounded_as_requests_are() {
        let cancel = message(MessageKind::CancelRequest, ByteOrder::NATIVE, 1, false);
        let most = MAX_READ_AHEAD.div_ceil(size_of::<Delivery>() + HEADER_LEN + 4);
        let (mut inbound, _) = calling();
        receive(&mut inbound, &cancel.repeat(most - 1));
        assert!(!inbound.is_full());
        receive(&mut inbound, &cancel);
        assert!(inbound.is_full());
    }

    /// Events, and small messages in fragments, which have no charge of their own, were queued
    /// without a charge.
    #[test]
    fn all_that_is_read_ahead_is_charged_to_the_budget() {
        let of = |kind, more| message(kind, ByteOrder::NATIVE, 1, more);
        let cancel = of(MessageKind::CancelRequest, false);
        let in_fragments = [
            of(MessageKind::Request, true),
            of(MessageKind::Fragment, false),
        ]
        .concat();
        for flood in [cancel, in_fragments] {
            let budget = Budget::new(Some(1 << 20), 100);
            let mut inbound = Inbound::new(false, &budget);
            inbound.begin(Connection::new(Role::Both, Bounds::default(), &budget));
            receive(&mut inbound, &flood.repeat(10_000));
            assert_eq!(inbound.failure(), Some(io::ErrorKind::OutOfMemory));
            assert!(budget.figures().held > 400_000);
            while inbound.take(Half::Serving, Vec::new()).is_some() {}
            assert_eq!(inbound.requests.octets(), 0);
            drop(inbound);
            assert_eq!(budget.figures().held, 0);
        }
    }
}
