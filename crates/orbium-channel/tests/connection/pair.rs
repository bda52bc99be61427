// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two connections, what is on its way between them, and a clock that the test moves.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::connection::{Bounds, Connection, Event, Requests, Role, Violation};
use orbium_channel::outgoing::fragments_into;
use orbium_channel::peer_memory::Budget;
use orbium_giop::{
    HEADER_LEN, Headers, MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestTemplate,
    ResponseFlags, Target, Version, begin_reply, finish_message, split_header,
};

/// One end of a pair.
pub(crate) struct End {
    pub(crate) connection: Connection,
    /// What is done about each reply.
    pub(crate) requests: Requests<&'static str>,
    /// What it has sent and the other end has not received.
    sent: Vec<u8>,
}

/// The end that opened the connection, and the one that accepted it.
pub(crate) struct Pair {
    pub(crate) opener: End,
    pub(crate) acceptor: End,
    start: Instant,
    passed: Cell<Duration>,
}

/// What an end found in what it received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A request: its id, and its body.
    Request(u32, Vec<u8>),
    /// A reply, to the request that waited for it: `None` if none did.
    Reply(Option<&'static str>, Vec<u8>),
    /// Anything else.
    Event(Event),
}

impl End {
    fn new(role: Role, bounds: Bounds, budget: &Budget, requests: Requests<&'static str>) -> Self {
        Self {
            connection: Connection::new(role, bounds, budget),
            requests,
            sent: Vec::new(),
        }
    }

    /// Sends octets as they are.
    pub(crate) fn send(&mut self, octets: &[u8]) {
        self.sent.extend_from_slice(octets);
    }

    /// Sends a request for which `name` waits; returns its id.
    pub(crate) fn request(&mut self, name: &'static str, body: &[u8]) -> u32 {
        let id = self.requests.next_id();
        self.requests.insert(id, name);
        self.send(&request(Version::V1_2, id, body));
        id
    }
}

impl Pair {
    /// A client and a server, with ample bounds.
    pub(crate) fn new() -> Self {
        Self::with(
            (Role::Client, Role::Server),
            Bounds::default(),
            &Budget::NONE,
        )
    }

    pub(crate) fn with((opener, acceptor): (Role, Role), bounds: Bounds, budget: &Budget) -> Self {
        Self {
            opener: End::new(opener, bounds, budget, Requests::of_opener()),
            acceptor: End::new(acceptor, bounds, budget, Requests::of_acceptor()),
            start: Instant::now(),
            passed: Cell::default(),
        }
    }

    /// The same pair; requests may have these headers.
    pub(crate) fn with_headers(mut self, headers: Headers) -> Self {
        let names = headers.are_numbered().then(Arc::default);
        let connection = self.acceptor.connection;
        self.acceptor.connection = connection.with_headers(headers).with_names(names);
        self
    }

    /// Time passes.
    pub(crate) fn pass(&self, time: Duration) {
        self.passed.set(self.passed.get() + time);
    }

    pub(crate) fn now(&self) -> Instant {
        self.start + self.passed.get()
    }

    /// What the acceptor finds in all that the opener has sent, `step` bytes at a time.
    pub(crate) fn acceptor_finds(&mut self, step: usize) -> Result<Vec<Found>, Violation> {
        let now = self.now();
        transmit(&mut self.opener, &mut self.acceptor, now, step)
    }

    /// What the opener finds in all that the acceptor has sent.
    pub(crate) fn opener_finds(&mut self, step: usize) -> Result<Vec<Found>, Violation> {
        let now = self.now();
        transmit(&mut self.acceptor, &mut self.opener, now, step)
    }
}

fn transmit(
    from: &mut End,
    to: &mut End,
    now: Instant,
    step: usize,
) -> Result<Vec<Found>, Violation> {
    let sent = std::mem::take(&mut from.sent);
    let mut found = Vec::new();
    let mut rest = sent.as_slice();
    loop {
        found.append(&mut take_all(to, now)?);
        let is_over = matches!(
            found.last(),
            Some(Found::Event(Event::Close | Event::MessageError))
        );
        if rest.is_empty() || is_over {
            return Ok(found);
        }
        let taken = to.connection.push(&rest[..step.min(rest.len())]).unwrap();
        rest = &rest[taken..];
    }
}

fn take_all(end: &mut End, now: Instant) -> Result<Vec<Found>, Violation> {
    let mut found = Vec::new();
    while let Some(event) = end.connection.next(&|| now)? {
        let Event::Message(header) = event else {
            found.push(Found::Event(event));
            if matches!(event, Event::Close | Event::MessageError) {
                break;
            }
            continue;
        };
        let (message, seams) = end.connection.message(&header);
        let read = read(&header, message, seams);
        end.connection.consume(&header);
        found.push(match read {
            Some(Read::Request(id, body)) => Found::Request(id, body),
            Some(Read::Reply(id, body)) => Found::Reply(end.requests.take(id), body),
            None => Found::Event(event),
        });
    }
    Ok(found)
}

enum Read {
    Request(u32, Vec<u8>),
    Reply(u32, Vec<u8>),
}

fn read(header: &MessageHeader, message: &mut [u8], seams: &[u32]) -> Option<Read> {
    let (head, after) = split_header(message);
    let mut reader = header.reader(after);
    reader.set_fragment_boundaries(seams);
    let minor = header.format().minor;
    if header.kind == MessageKind::Request {
        let request = header.read_request(&head, &mut reader).ok()?;
        let id = request.request_id;
        let names = (&request.target, request.operation);
        if names != (&Target::Key(b"key"), b"work") {
            return None;
        }
        return Some(Read::Request(id, reader.read_octets().ok()?.to_vec()));
    }
    let id = ReplyHeader::read(&mut reader, minor).ok()?.request_id;
    Some(Read::Reply(id, reader.read_octets().ok()?.to_vec()))
}

/// A request for `work` with octets as its argument.
pub(crate) fn request(version: Version, id: u32, body: &[u8]) -> Vec<u8> {
    written(|out| out.extend_from_slice(&request_writer(version, id, body).finish().unwrap()))
}

/// The same in fragments of `size` bytes.
pub(crate) fn request_in_fragments(id: u32, body: &[u8], size: usize) -> Vec<Vec<u8>> {
    let octets = written(|out| fragments_into(out, &request_writer(Version::V1_2, id, body), size));
    cut(&octets)
}

/// A request of GIOP 1.1 in fragments, which have no ids: orbium itself sends none.
pub(crate) fn old_request_in_fragments(id: u32, body: &[u8], size: usize) -> Vec<Vec<u8>> {
    let octets = request(Version::V1_1, id, body);
    let (head, data) = octets.split_first_chunk().unwrap();
    let whole = MessageHeader::parse(head).unwrap();
    let parts = data.chunks(size).enumerate().map(|(at, part)| {
        let header = MessageHeader {
            kind: match at {
                0 => whole.kind,
                _ => MessageKind::Fragment,
            },
            more_fragments: (at + 1) * size < data.len(),
            size: part.len() as u32,
            ..whole
        };
        [&header.encode()[..], part].concat()
    });
    parts.collect()
}

/// A reply with octets as its result.
pub(crate) fn reply(id: u32, body: &[u8]) -> Vec<u8> {
    written(|out| out.extend_from_slice(&reply_writer(id, body).finish().unwrap()))
}

/// The same in fragments of `size` bytes.
pub(crate) fn reply_in_fragments(id: u32, body: &[u8], size: usize) -> Vec<Vec<u8>> {
    cut(&written(|out| {
        fragments_into(out, &reply_writer(id, body), size);
    }))
}

fn request_writer(version: Version, id: u32, body: &[u8]) -> CdrWriter<'static> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let template = RequestTemplate::new(version, b"key");
    let start = template.begin(&mut writer, id, ResponseFlags::Full, "work", &[]);
    writer.write_octets(body);
    finish_message(&mut writer, start);
    writer
}

fn reply_writer(id: u32, body: &[u8]) -> CdrWriter<'static> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let start = begin_reply(
        &mut writer,
        Version::V1_2,
        id,
        ReplyStatus::NoException,
        &[],
    );
    writer.write_octets(body);
    finish_message(&mut writer, start);
    writer
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut octets = Vec::new();
    write(&mut octets);
    octets
}

/// The messages that octets are made of.
fn cut(mut octets: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some(head) = octets.first_chunk() {
        let header = MessageHeader::parse(head).unwrap();
        let (message, rest) = octets.split_at(HEADER_LEN + header.size as usize);
        messages.push(message.to_vec());
        octets = rest;
    }
    messages
}
