// SPDX-License-Identifier: MIT OR Apache-2.0
//! LocateRequest and LocateReply messages (CORBA 3.3 Part 2, clauses 9.4.5 and
//! 9.4.6).

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Encode};

use crate::encapsulation::write_octets;
use crate::message::body::{BodyStart, finish_message};
use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, Version};
use crate::message::request::{AddressingDisposition, Target};

/// A received LocateRequest: it has no body.
#[derive(Clone, Debug)]
pub struct LocateRequest<'a> {
    /// Chosen by the requester.
    pub request_id: u32,
    /// The requested object.
    pub target: Target<'a>,
}

impl<'a> LocateRequest<'a> {
    /// Reads the part after the message header of GIOP 1.`minor`.
    ///
    /// # Errors
    /// [`CdrError`] for malformed data.
    pub fn read(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        let request_id = reader.read_u32()?;
        let form = if minor >= 2 { reader.read_u16()? } else { 0 };
        let first = reader.read_u32()?;
        Ok(Self {
            request_id,
            target: Target::read_rest(reader, form, first)?,
        })
    }
}

/// Writes a whole LocateRequest into an empty writer. GIOP 1.0 and 1.1 only support addressing by
/// key: another target is [`CdrErrorKind::NotSupported`] there.
pub fn write_locate_request<'a>(
    writer: &mut CdrWriter<'a>,
    version: Version,
    request_id: u32,
    target: &'a Target<'_>,
) {
    write_header(writer, version, MessageKind::LocateRequest);
    writer.write_u32(request_id);
    let disposition = target.disposition();
    if version.minor >= 2 {
        writer.write_u16(disposition as u16);
    } else if disposition != AddressingDisposition::Key {
        writer.fail(CdrErrorKind::NotSupported);
    }
    match target {
        Target::Key(key) => write_octets(writer, key),
        Target::Profile { tag, data } => {
            writer.write_u32(*tag);
            write_octets(writer, data);
        }
        Target::Reference { index, ior } => {
            writer.write_u32(*index);
            ior.encode(writer);
        }
    }
    let end = BodyStart::unpadded(writer.len());
    finish_message(writer, end);
}

/// Location of an object (`LocateStatusType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum LocateStatus {
    /// The object does not exist.
    UnknownObject = 0,
    /// This server serves it.
    ObjectHere = 1,
    /// A reference follows, to be tried instead.
    ObjectForward = 2,
    /// As `ObjectForward`, permanently (1.2 and later).
    ObjectForwardPerm = 3,
    /// A [`SystemExceptionBody`](crate::SystemExceptionBody) follows (1.2 and
    /// later).
    SystemException = 4,
    /// The required [`AddressingDisposition`] follows as a short (1.2 and later).
    NeedsAddressingMode = 5,
}

impl LocateStatus {
    /// The status that a number names in GIOP 1.`minor`.
    #[must_use]
    pub const fn from_number(number: u32, minor: u8) -> Option<Self> {
        Some(match number {
            0 => Self::UnknownObject,
            1 => Self::ObjectHere,
            2 => Self::ObjectForward,
            3 if minor >= 2 => Self::ObjectForwardPerm,
            4 if minor >= 2 => Self::SystemException,
            5 if minor >= 2 => Self::NeedsAddressingMode,
            _ => return None,
        })
    }
}

/// The header of a received LocateReply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocateReplyHeader {
    /// Id of the request answered.
    pub request_id: u32,
    /// The result: whether this server has the object.
    pub status: LocateStatus,
}

impl LocateReplyHeader {
    /// Reads the header and leaves the reader at the body, which follows
    /// without padding in every version.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`]; [`CdrErrorKind::BadEnumerator`] for a status that does not
    /// exist in the version.
    pub fn read(reader: &mut CdrReader<'_>, minor: u8) -> Result<Self, CdrError> {
        let request_id = reader.read_u32()?;
        let status = reader.read_u32()?;
        match LocateStatus::from_number(status, minor) {
            Some(status) => Ok(Self { request_id, status }),
            None => Err(reader.error(CdrErrorKind::BadEnumerator)),
        }
    }
}

/// Writes the headers of a LocateReply into an empty writer, ready for the
/// body; end the message with [`finish_message`](crate::finish_message).
pub fn begin_locate_reply(
    writer: &mut CdrWriter<'_>,
    version: Version,
    request_id: u32,
    status: LocateStatus,
) -> BodyStart {
    write_header(writer, version, MessageKind::LocateReply);
    writer.write_u32(request_id);
    writer.write_u32(status as u32);
    BodyStart::unpadded(HEADER_LEN + 8)
}

fn write_header(writer: &mut CdrWriter<'_>, version: Version, kind: MessageKind) {
    debug_assert!(writer.is_empty());
    let header = MessageHeader {
        version,
        order: writer.order(),
        more_fragments: false,
        kind,
        size: 0,
    };
    writer.write_raw(&header.encode());
}
