// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply messages (CORBA 3.3 Part 2, clause 9.4.3).

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter};

use crate::context::service_context::{self, ServiceContext, ServiceContexts};
use crate::message::body::{BodyStart, skip_to_body};
use crate::message::header::{
    HEADER_LEN, MessageHeader, MessageKind, Version, u32_from, u32_octets,
};
use crate::short::{begin_short_reply, short_reply};
use crate::{Completion, SystemException};

/// Outcome of a request (`ReplyStatusType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ReplyStatus {
    /// The results follow.
    NoException = 0,
    /// A user exception follows: its repository id, then its members.
    UserException = 1,
    /// A [`SystemExceptionBody`] follows.
    SystemException = 2,
    /// A reference follows, to be called instead.
    LocationForward = 3,
    /// As `LocationForward`, permanently (1.2 and later).
    LocationForwardPerm = 4,
    /// The required [`AddressingDisposition`](crate::AddressingDisposition) follows as a short (1.2
    /// and later).
    NeedsAddressingMode = 5,
}

impl ReplyStatus {
    /// The status that a number names in GIOP 1.`minor`.
    #[must_use]
    #[inline]
    pub const fn from_number(number: u32, minor: u8) -> Option<Self> {
        Some(match number {
            0 => Self::NoException,
            1 => Self::UserException,
            2 => Self::SystemException,
            3 => Self::LocationForward,
            4 if minor >= 2 => Self::LocationForwardPerm,
            5 if minor >= 2 => Self::NeedsAddressingMode,
            _ => return None,
        })
    }
}

/// Inserts a service context into a finished reply without contexts in native byte order. Returns
/// `false` for any other message, and for data of a length that is not a multiple of eight, which
/// would change the alignment of the body.
pub fn add_reply_context(message: &mut Vec<u8>, id: u32, data: &[u8]) -> bool {
    let header = message
        .first_chunk()
        .and_then(|it| MessageHeader::parse(it).ok());
    let Some(header) = header else { return false };
    // The count is last in 1.2, and first before.
    let count_at = match header.version.minor {
        0 | 1 => HEADER_LEN,
        _ => HEADER_LEN + 8,
    };
    let fits = header.kind == MessageKind::Reply
        && header.order == ByteOrder::NATIVE
        && !header.more_fragments
        && data.len().is_multiple_of(8)
        && message.get(count_at..count_at + 4) == Some(&[0; 4]);
    let (Ok(len), true) = (u32::try_from(data.len()), fits) else {
        return false;
    };
    let added = len + 8;
    let Some(size) = header.size.checked_add(added) else {
        return false;
    };
    message[count_at..count_at + 4].copy_from_slice(&1_u32.to_ne_bytes());
    let (at, end) = (count_at + 4, message.len());
    message.resize(end + 8 + data.len(), 0);
    message.copy_within(at..end, at + 8 + data.len());
    message[at..at + 4].copy_from_slice(&id.to_ne_bytes());
    message[at + 4..at + 8].copy_from_slice(&len.to_ne_bytes());
    message[at + 8..at + 8 + data.len()].copy_from_slice(data);
    message[HEADER_LEN - 4..HEADER_LEN].copy_from_slice(&size.to_ne_bytes());
    true
}

/// The header of a received reply, borrowed from the message.
#[derive(Clone, Copy, Debug)]
pub struct ReplyHeader<'a> {
    /// Id of the request answered.
    pub request_id: u32,
    /// The outcome of the request.
    pub status: ReplyStatus,
    /// Service contexts.
    pub contexts: ServiceContexts<'a>,
}

/// Header of most replies: see [`ReplyHeader::plain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainReply {
    /// Id of the request answered.
    pub request_id: u32,
    /// The outcome of the request.
    pub status: ReplyStatus,
    /// Offset of the body in the message.
    pub body: usize,
}

impl PlainReply {
    /// Offset of the body of a reply without service contexts, in all versions of GIOP. With
    /// service contexts the body starts later.
    pub const BODY: usize = HEAD_LEN;

    /// Reads a whole reply of GIOP 1.2 at constant offsets. `None` if it has service contexts, or
    /// is another message.
    #[must_use]
    #[inline(always)]
    pub fn find(message: &[u8], order: ByteOrder) -> Option<Self> {
        let (_, head) = message.split_first_chunk::<HEADER_LEN>()?;
        let [i0, i1, i2, i3, s0, s1, s2, s3, c0, c1, c2, c3] = *head.first_chunk::<12>()?;
        if u32::from_ne_bytes([c0, c1, c2, c3]) != 0 {
            return None;
        }
        Some(Self {
            request_id: u32_from([i0, i1, i2, i3], order),
            status: ReplyStatus::from_number(u32_from([s0, s1, s2, s3], order), 2)?,
            body: HEAD_LEN,
        })
    }
}

impl<'a> ReplyHeader<'a> {
    /// Reads, at constant offsets, the header of a GIOP 1.2 reply without service contexts, or a
    /// short header; `None` for any other reply, which is left to [`ReplyHeader::read`].
    #[must_use]
    #[inline]
    pub fn plain(header: &MessageHeader, message: &[u8]) -> Option<PlainReply> {
        if header.version != Version::V1_2 {
            return Self::plain_other(header, message);
        }
        if header.kind as u8 != MessageKind::Reply as u8 {
            return None;
        }
        PlainReply::find(message, header.order)
    }

    /// As `plain`, in versions other than 1.2.
    #[inline]
    fn plain_other(header: &MessageHeader, message: &[u8]) -> Option<PlainReply> {
        if header.is_short() {
            let (request_id, status, body) = short_reply(message)?;
            return Some(PlainReply {
                request_id,
                status: ReplyStatus::from_number(u32::from(status), 2)?,
                body,
            });
        }
        // 1.3, which is read elsewhere; 1.0 and 1.1 have other offsets.
        None
    }

    /// Reads a reply header of GIOP 1.`minor` from a reader at octet 12 of the message, and leaves
    /// it at the body.
    ///
    /// # Errors
    /// [`CdrError`] for a malformed header; [`CdrErrorKind::BadEnumerator`] for a status that does
    /// not exist in the version.
    pub fn read(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        debug_assert_eq!(reader.position(), HEADER_LEN);
        if minor < 2 {
            return Self::read_1_0(reader, minor);
        }
        let order = reader.format().order;
        let octets: &[u8] = reader.take(HEAD_LEN - HEADER_LEN)?;
        let &[i0, i1, i2, i3, s0, s1, s2, s3, c0, c1, c2, c3] = octets else {
            return Err(reader.error(CdrErrorKind::Truncated));
        };
        let status = u32_from([s0, s1, s2, s3], order);
        let Some(status) = ReplyStatus::from_number(status, minor) else {
            return Err(reader.error(CdrErrorKind::BadEnumerator));
        };
        let count = u32_from([c0, c1, c2, c3], order);
        let mut contexts = ServiceContexts::EMPTY;
        // Without contexts the body begins here: 24 is a multiple of eight.
        if count != 0 {
            contexts = ServiceContexts::read_some(reader, count)?;
            skip_to_body(reader);
        }
        Ok(Self {
            request_id: u32_from([i0, i1, i2, i3], order),
            status,
            contexts,
        })
    }

    fn read_1_0(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        let contexts = ServiceContexts::read(reader)?;
        let request_id = reader.read_u32()?;
        let status = reader.read_u32()?;
        match ReplyStatus::from_number(status, minor) {
            Some(status) => Ok(Self {
                request_id,
                status,
                contexts,
            }),
            None => Err(reader.error(CdrErrorKind::BadEnumerator)),
        }
    }
}

/// Octets of message header and reply header without service contexts.
const HEAD_LEN: usize = HEADER_LEN + 12;

/// Writes the message and reply header into an empty writer, ready for the
/// body; end the message with [`finish_message`](crate::finish_message).
///
/// The status must exist in that version: 1.0 and 1.1 have the first four. For [`Version::SHORT`]
/// and [`Version::NATIVE`] a short header is written unless there are contexts.
// Inlined: the byte order is known to the caller, and so nearly all of the header.
#[inline(always)]
pub fn begin_reply(
    writer: &mut CdrWriter<'_>,
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    contexts: &[ServiceContext<'_>],
) -> BodyStart {
    debug_assert!(writer.is_empty());
    if !contexts.is_empty() {
        return begin_long(writer, version, request_id, status, contexts);
    }
    if version == Version::V1_2 {
        let head = plain_head(writer.order(), version, request_id, status);
        writer.write_raw(&head);
        return BodyStart::unpadded(HEAD_LEN);
    }
    if version.major == Version::SHORT.major {
        return begin_short_reply(writer, request_id, status as u8);
    }
    begin_old(writer, version, request_id, status);
    BodyStart::unpadded(HEAD_LEN)
}

/// As `begin_reply` without contexts, in a version other than 1.2.
#[cold]
fn begin_old(writer: &mut CdrWriter<'_>, version: Version, request_id: u32, status: ReplyStatus) {
    let head = plain_head(writer.order(), version, request_id, status);
    writer.write_raw(&head);
}

/// Message and reply header without contexts. All versions have 24 octets: the three
/// unsigned longs are id, status, no contexts; or, before 1.2, no contexts, id, status.
#[inline(always)]
fn plain_head(
    order: ByteOrder,
    version: Version,
    request_id: u32,
    status: ReplyStatus,
) -> [u8; HEAD_LEN] {
    let id = u32_octets(request_id, order);
    let status = u32_octets(status as u32, order);
    let header = MessageHeader {
        version,
        order,
        more_fragments: false,
        kind: MessageKind::Reply,
        size: 0,
    };
    let mut head = [0; HEAD_LEN];
    head[..HEADER_LEN].copy_from_slice(&header.encode());
    let id_at = if version.minor >= 2 { 12 } else { 16 };
    head[id_at..id_at + 4].copy_from_slice(&id);
    head[id_at + 4..id_at + 8].copy_from_slice(&status);
    head
}

#[inline]
fn message_header(writer: &CdrWriter<'_>, version: Version) -> MessageHeader {
    MessageHeader {
        version,
        order: writer.order(),
        more_fragments: false,
        kind: MessageKind::Reply,
        size: 0,
    }
}

fn begin_long(
    writer: &mut CdrWriter<'_>,
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    contexts: &[ServiceContext<'_>],
) -> BodyStart {
    let version = match version {
        Version::SHORT | Version::NATIVE => {
            writer.set_minor(Version::V1_2.minor);
            Version::V1_2
        }
        other => other,
    };
    let header = message_header(writer, version);
    writer.write_raw(&header.encode());
    if version.minor < 2 {
        service_context::write_list(writer, contexts);
    }
    writer.write_u32(request_id);
    writer.write_u32(status as u32);
    if version.minor >= 2 {
        service_context::write_list(writer, contexts);
    }
    BodyStart::after_header(writer, version.minor)
}

/// The body of a reply with a system exception (`SystemExceptionReplyBody`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemExceptionBody<'a> {
    /// Repository id.
    pub id: &'a str,
    /// Minor code.
    pub minor: u32,
    /// Whether the operation was completed.
    pub completed: Completion,
}

impl<'a> SystemExceptionBody<'a> {
    /// Reads a body. An invalid completion status is read as MAYBE, so that the exception is not
    /// lost.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadString`], [`CdrErrorKind::Truncated`].
    pub fn read(reader: &mut CdrReader<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            id: reader.read_name()?,
            minor: reader.read_u32()?,
            completed: Completion::from_number(reader.read_u32()?).unwrap_or(Completion::Maybe),
        })
    }

    /// Writes the body.
    pub fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_name(self.id);
        writer.write_u32(self.minor);
        writer.write_u32(self.completed as u32);
    }

    /// The exception; UNKNOWN if its id is not a standard one.
    #[must_use]
    pub fn exception(&self) -> SystemException {
        SystemException::from_body(self.id, self.minor, self.completed)
    }
}

impl From<SystemException> for SystemExceptionBody<'static> {
    fn from(exception: SystemException) -> Self {
        Self {
            id: exception.repository_id(),
            minor: exception.minor,
            completed: exception.completed,
        }
    }
}
