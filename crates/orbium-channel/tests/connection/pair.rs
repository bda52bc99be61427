// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two connections, what is on its way between them, and a clock that the test moves.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Format};
use orbium_channel::connection::{Bounds, Connection, Event, Requests, Role, Violation};
use orbium_channel::outgoing::fragments_into;
use orbium_channel::peer_memory::Budget;
use orbium_giop::{
    CancelRequest, HEADER_LEN, Headers, LocateReplyHeader, LocateRequest, LocateStatus,
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestTemplate, ResponseFlags,
    SystemException, SystemExceptionBody, Target, Version, begin_locate_reply, begin_reply,
    finish_message, split_header, write_locate_request,
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
    /// A LocateRequest: its id, and the key of its object.
    Locate(u32, Vec<u8>),
    /// A LocateReply, to the request that waited for it.
    Located(Option<&'static str>, LocateStatus),
    /// An exception in place of a reply.
    Failed(Option<&'static str>, SystemException),
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

    /// Sends whole messages or fragments, one after the other.
    pub(crate) fn send_all(&mut self, messages: &[Vec<u8>]) {
        messages.iter().for_each(|it| self.send(it));
    }

    /// Sends a request for which `name` waits; returns its id.
    pub(crate) fn request(&mut self, name: &'static str, body: &[u8]) -> u32 {
        let id = self.requests.next_id();
        self.requests.insert(id, name);
        self.send(&request(Version::V1_2, id, body));
        id
    }

    /// Sends a LocateRequest for which `name` waits; returns its id.
    pub(crate) fn locate(&mut self, name: &'static str, key: &[u8]) -> u32 {
        let id = self.requests.next_id();
        self.requests.insert(id, name);
        self.send(&locate_request(Version::V1_2, id, key));
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

    /// Two sides that both send requests, with ample bounds.
    pub(crate) fn bidirectional() -> Self {
        Self::with((Role::Both, Role::Both), Bounds::default(), &Budget::NONE)
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
            Some(Read::Reply(id, Ok(body))) => Found::Reply(end.requests.take(id), body),
            Some(Read::Reply(id, Err(it))) => Found::Failed(end.requests.take(id), it),
            Some(Read::Locate(id, key)) => Found::Locate(id, key),
            Some(Read::Located(id, status)) => Found::Located(end.requests.take(id), status),
            None => Found::Event(event),
        });
    }
    Ok(found)
}

enum Read {
    Request(u32, Vec<u8>),
    Reply(u32, Result<Vec<u8>, SystemException>),
    Locate(u32, Vec<u8>),
    Located(u32, LocateStatus),
}

fn read(header: &MessageHeader, message: &mut [u8], seams: &[u32]) -> Option<Read> {
    let (head, after) = split_header(message);
    let mut reader = header.reader(after);
    reader.set_fragment_boundaries(seams);
    match header.kind {
        MessageKind::Request => {
            let request = header.read_request(&head, &mut reader).ok()?;
            let id = request.request_id;
            let names = (&request.target, request.operation);
            let is_work = names == (&Target::Key(b"key"), b"work");
            let body = is_work.then(|| reader.read_octets()).transpose().ok()??;
            Some(Read::Request(id, body.to_vec()))
        }
        MessageKind::Reply => read_reply(&mut reader, header.format().minor),
        MessageKind::LocateRequest => {
            let request = LocateRequest::read(&mut reader, header.format().minor).ok()?;
            match request.target {
                Target::Key(key) => Some(Read::Locate(request.request_id, key.to_vec())),
                _ => None,
            }
        }
        MessageKind::LocateReply => {
            let reply = LocateReplyHeader::read(&mut reader, header.format().minor).ok()?;
            Some(Read::Located(reply.request_id, reply.status))
        }
        _ => None,
    }
}

fn read_reply(reader: &mut CdrReader<'_>, minor: u8) -> Option<Read> {
    let reply = ReplyHeader::read(reader, minor).ok()?;
    let body = match reply.status {
        ReplyStatus::SystemException => Err(SystemExceptionBody::read(reader).ok()?.exception()),
        _ => Ok(reader.read_octets().ok()?.to_vec()),
    };
    Some(Read::Reply(reply.request_id, body))
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
    old_fragments(&request(Version::V1_1, id, body), size)
}

/// The same of a reply.
pub(crate) fn old_reply_in_fragments(id: u32, body: &[u8], size: usize) -> Vec<Vec<u8>> {
    let octets = reply_writer(Version::V1_1, id, body).finish().unwrap();
    old_fragments(&octets, size)
}

fn old_fragments(octets: &[u8], size: usize) -> Vec<Vec<u8>> {
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
    written(|out| out.extend_from_slice(&reply_writer(Version::V1_2, id, body).finish().unwrap()))
}

/// The same in fragments of `size` bytes.
pub(crate) fn reply_in_fragments(id: u32, body: &[u8], size: usize) -> Vec<Vec<u8>> {
    cut(&written(|out| {
        fragments_into(out, &reply_writer(Version::V1_2, id, body), size);
    }))
}

/// A CancelRequest.
pub(crate) fn cancel(version: Version, id: u32) -> Vec<u8> {
    let cancel = CancelRequest { request_id: id };
    cancel.message(version, ByteOrder::NATIVE).to_vec()
}

/// A LocateRequest for the object with that key.
pub(crate) fn locate_request(version: Version, id: u32, key: &[u8]) -> Vec<u8> {
    locate_messages(version, id, key, usize::MAX).concat()
}

/// The same in fragments of `size` bytes.
pub(crate) fn locate_messages(version: Version, id: u32, key: &[u8], size: usize) -> Vec<Vec<u8>> {
    let target = Target::Key(key);
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    write_locate_request(&mut writer, version, id, &target);
    cut(&written(|out| match size {
        usize::MAX => out.extend_from_slice(&writer.finish().unwrap()),
        _ => fragments_into(out, &writer, size),
    }))
}

/// A LocateReply with `more` octets behind its status.
pub(crate) fn locate_reply(
    version: Version,
    id: u32,
    status: LocateStatus,
    more: usize,
) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let start = begin_locate_reply(&mut writer, version, id, status);
    writer.write_raw(&vec![0; more]);
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

fn request_writer(version: Version, id: u32, body: &[u8]) -> CdrWriter<'static> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let template = RequestTemplate::new(version, b"key");
    let start = template.begin(&mut writer, id, ResponseFlags::Full, "work", &[]);
    writer.write_octets(body);
    finish_message(&mut writer, start);
    writer
}

fn reply_writer(version: Version, id: u32, body: &[u8]) -> CdrWriter<'static> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let status = ReplyStatus::NoException;
    let start = begin_reply(&mut writer, version, id, status, &[]);
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
