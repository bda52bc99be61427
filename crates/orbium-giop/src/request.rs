// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request messages (CORBA 3.3 Part 2, clause 9.4.2).

use std::borrow::Cow;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Encode, Format};

use crate::header::{HEADER_LEN, MessageHeader, MessageKind, Version, u32_from, u32_octets};
use crate::service_context::{self, ServiceContext, ServiceContexts};
use crate::{Ior, TaggedProfile};

/// Which answer the requester wants (`response_flags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ResponseFlags {
    /// None: a oneway that is at most handed to the transport.
    None = 0x00,
    /// When the server has the request: SYNC_WITH_SERVER.
    SyncWithServer = 0x01,
    /// When the servant is done: twoway calls and SYNC_WITH_TARGET.
    Full = 0x03,
}

impl ResponseFlags {
    /// Whether a reply is to be sent.
    #[must_use]
    #[inline]
    pub const fn expects_reply(self) -> bool {
        !matches!(self, Self::None)
    }

    /// From the octet of GIOP 1.2; the undefined value 2 counts as 3.
    #[inline]
    const fn from_octet(octet: u8) -> Self {
        match octet & 3 {
            0 => Self::None,
            1 => Self::SyncWithServer,
            _ => Self::Full,
        }
    }

    /// From `response_expected` of GIOP 1.0 and 1.1.
    const fn from_boolean(octet: u8) -> Self {
        if octet == 0 { Self::None } else { Self::Full }
    }
}

/// How a request names its target (`AddressingDisposition`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum AddressingDisposition {
    /// By object key.
    Key = 0,
    /// By profile.
    Profile = 1,
    /// By whole reference and the index of the profile chosen.
    Reference = 2,
}

impl AddressingDisposition {
    /// The disposition that a number names.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Key),
            1 => Some(Self::Profile),
            2 => Some(Self::Reference),
            _ => None,
        }
    }
}

/// The target of a request (`TargetAddress`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// The object key.
    Key(&'a [u8]),
    /// A profile of the reference.
    Profile {
        /// Tag of the profile.
        tag: u32,
        /// Its octets.
        data: &'a [u8],
    },
    /// The whole reference.
    Reference {
        /// Which profile of it was chosen.
        index: u32,
        /// The reference.
        ior: Box<Ior>,
    },
}

impl<'a> Target<'a> {
    /// The object key, wherever it is; `None` if the profile has none that is
    /// understood.
    #[must_use]
    #[inline]
    pub fn object_key(&self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Key(key) => Some(Cow::Borrowed(key)),
            _ => self.object_key_in_profile(),
        }
    }

    #[cold]
    fn object_key_in_profile(&self) -> Option<Cow<'a, [u8]>> {
        let key = match self {
            Self::Key(key) => return Some(Cow::Borrowed(key)),
            Self::Profile { tag, data } => TaggedProfile {
                tag: *tag,
                data: data.to_vec(),
            }
            .object_key(),
            Self::Reference { index, ior } => ior.profiles.get(*index as usize)?.object_key(),
        };
        key.map(Cow::Owned)
    }

    /// Which form this is.
    #[must_use]
    pub const fn disposition(&self) -> AddressingDisposition {
        match self {
            Self::Key(_) => AddressingDisposition::Key,
            Self::Profile { .. } => AddressingDisposition::Profile,
            Self::Reference { .. } => AddressingDisposition::Reference,
        }
    }

    /// Reads what follows the discriminator `form`, whose first unsigned long
    /// (count, tag or index) was already read.
    #[inline]
    pub(crate) fn read_rest(
        reader: &mut CdrReader<'a>,
        form: u16,
        first: u32,
    ) -> Result<Self, CdrError> {
        if form == 0 {
            if first as usize > reader.remaining() {
                return Err(reader.error(CdrErrorKind::CountTooLarge));
            }
            return Ok(Self::Key(reader.take(first as usize)?));
        }
        Self::read_long_form(reader, form, first)
    }

    #[cold]
    fn read_long_form(reader: &mut CdrReader<'a>, form: u16, first: u32) -> Result<Self, CdrError> {
        match form {
            1 => Ok(Self::Profile {
                tag: first,
                data: reader.read_octets()?,
            }),
            2 => Ok(Self::Reference {
                index: first,
                ior: Box::new(orbium_cdr::Decode::decode(reader)?),
            }),
            _ => Err(reader.error(CdrErrorKind::BadDiscriminator)),
        }
    }
}

/// The header of a received request, borrowed from the message.
#[derive(Clone, Debug)]
pub struct RequestHeader<'a> {
    /// Chosen by the requester; the reply carries it.
    pub request_id: u32,
    /// Which answer is wanted.
    pub response: ResponseFlags,
    /// The object called.
    pub target: Target<'a>,
    /// Operation name without its NUL; not checked to be UTF-8.
    pub operation: &'a [u8],
    /// Service contexts.
    pub contexts: ServiceContexts<'a>,
}

impl<'a> RequestHeader<'a> {
    /// Reads a request header of GIOP 1.`minor` from a reader that stands at
    /// octet 12 of the message, and leaves it at the body.
    ///
    /// # Errors
    /// [`CdrError`] for whatever is wrong with the header.
    #[inline]
    pub fn read(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        if minor < 2 {
            return Self::read_1_0(reader);
        }
        debug_assert_eq!(reader.position(), HEADER_LEN);
        let order = reader.format().order;
        // Request id, flags, discriminator, and the first unsigned long of any
        // of the three addresses: sixteen octets, checked once.
        let head: &[u8] = reader.take(16)?;
        let [i0, i1, i2, i3, flags, _, _, _, d0, d1, _, _, k0, k1, k2, k3] = *head else {
            return Err(reader.error(CdrErrorKind::Truncated));
        };
        let form = match order {
            ByteOrder::Big => u16::from_be_bytes([d0, d1]),
            ByteOrder::Little => u16::from_le_bytes([d0, d1]),
        };
        let first = u32_from([k0, k1, k2, k3], order);
        let target = Target::read_rest(reader, form, first)?;
        let operation = read_operation(reader)?;
        let contexts = ServiceContexts::read(reader)?;
        skip_to_body(reader);
        Ok(Self {
            request_id: u32_from([i0, i1, i2, i3], order),
            response: ResponseFlags::from_octet(flags),
            target,
            operation,
            contexts,
        })
    }

    fn read_1_0(reader: &mut CdrReader<'a>) -> Result<Self, CdrError> {
        let contexts = ServiceContexts::read(reader)?;
        let request_id = reader.read_u32()?;
        // In 1.1 three reserved octets follow; in 1.0 they are the gap before
        // the count of the key.
        let response = ResponseFlags::from_boolean(reader.read_u8()?);
        let target = Target::Key(reader.read_octets()?);
        let operation = read_operation(reader)?;
        // The principal means nothing any more.
        reader.read_octets()?;
        Ok(Self {
            request_id,
            response,
            target,
            operation,
            contexts,
        })
    }
}

#[inline]
fn read_operation<'a>(reader: &mut CdrReader<'a>) -> Result<&'a [u8], CdrError> {
    let octets: &[u8] = reader.read_octets()?;
    match octets {
        [operation @ .., 0] => Ok(operation),
        _ => Err(reader.error(CdrErrorKind::BadString)),
    }
}

/// Skips the padding before the body of GIOP 1.2: to a multiple of eight, or to
/// the end, for some ORBs pad even when no body follows and some do not.
#[inline]
pub(crate) fn skip_to_body(reader: &mut CdrReader<'_>) {
    let gap = reader.position().wrapping_neg() & 7;
    // Cannot fail: no more is taken than there is.
    let _ = reader.take(gap.min(reader.remaining()));
}

/// Where the header of a message being written ends and its body begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "finish_message needs it"]
pub struct BodyStart {
    header_end: usize,
    body: usize,
}

impl BodyStart {
    /// Octets from the start of the message to its body.
    #[must_use]
    #[inline]
    pub const fn position(self) -> usize {
        self.body
    }

    /// Pads to the body where GIOP 1.`minor` says so.
    #[inline]
    pub(crate) fn after_header(writer: &mut CdrWriter<'_>, minor: u8) -> Self {
        let header_end = writer.len();
        if minor >= 2 {
            writer.align(8);
        }
        Self {
            header_end,
            body: writer.len(),
        }
    }

    /// A body that follows the header without padding.
    #[inline]
    pub(crate) const fn unpadded(at: usize) -> Self {
        Self {
            header_end: at,
            body: at,
        }
    }
}

/// Ends a message: sets its size, and takes the padding before the body back
/// if nothing follows it (some ORBs raise MARSHAL for padding without a body).
///
/// Errors stay in the writer; a message beyond 2³² octets is one.
#[inline]
pub fn finish_message(writer: &mut CdrWriter<'_>, start: BodyStart) {
    if writer.len() == start.body && start.body != start.header_end && writer.error().is_none() {
        writer.truncate(start.header_end);
    }
    match u32::try_from(writer.len() - HEADER_LEN) {
        Ok(size) => writer.patch_u32(8, size),
        Err(_) => writer.fail(CdrErrorKind::BoundExceeded),
    }
}

/// Longest operation name that is written by the short way.
const SHORT_OPERATION: usize = 44;
/// Count, longest short name, NUL, padding, count of contexts, padding.
const SHORT_TAIL: usize = 64;

/// The constant part of all requests to one target, marshalled once.
///
/// Without service contexts the three GIOP versions differ only in where the
/// request id and the response flags lie: at 12 and 16, or behind the empty
/// list of service contexts, at 16 and 20.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTemplate {
    /// Message header to target, padded to the count of the operation name.
    prefix: Vec<u8>,
    version: Version,
    order: ByteOrder,
}

impl RequestTemplate {
    /// A template that addresses by object key, in native byte order.
    #[must_use]
    pub fn new(version: Version, key: &[u8]) -> Self {
        Self::in_order(ByteOrder::NATIVE, version, key)
    }

    /// As [`RequestTemplate::new`], in a byte order of choice.
    #[must_use]
    pub fn in_order(order: ByteOrder, version: Version, key: &[u8]) -> Self {
        Self::build(order, version, |writer| {
            if version.minor >= 2 {
                writer.write_u16(AddressingDisposition::Key as u16);
            }
            writer.write_octets(key);
        })
    }

    /// A template that addresses by profile; only from GIOP 1.2 on.
    #[must_use]
    pub fn with_profile(version: Version, profile: &TaggedProfile) -> Option<Self> {
        (version.minor >= 2).then(|| {
            Self::build(ByteOrder::NATIVE, version, |writer| {
                writer.write_u16(AddressingDisposition::Profile as u16);
                writer.write_u32(profile.tag);
                writer.write_octets(&profile.data);
            })
        })
    }

    /// A template that addresses by whole reference and the index of the
    /// profile chosen; only from GIOP 1.2 on.
    #[must_use]
    pub fn with_reference(version: Version, index: u32, ior: &Ior) -> Option<Self> {
        (version.minor >= 2).then(|| {
            let mut writer = Self::start(ByteOrder::NATIVE, version);
            writer.write_u16(AddressingDisposition::Reference as u16);
            writer.write_u32(index);
            ior.encode(&mut writer);
            Self::end(writer, version)
        })
    }

    fn build(order: ByteOrder, version: Version, target: impl FnOnce(&mut CdrWriter<'_>)) -> Self {
        let mut writer = Self::start(order, version);
        target(&mut writer);
        Self::end(writer, version)
    }

    fn start<'a>(order: ByteOrder, version: Version) -> CdrWriter<'a> {
        let header = MessageHeader {
            version,
            order,
            more_fragments: false,
            kind: MessageKind::Request,
            size: 0,
        };
        let mut writer = CdrWriter::new(Format::plain(order, version.minor));
        writer.write_raw(&header.encode());
        // Request id and flags, before them in 1.0 and 1.1 no service contexts.
        let fixed = if version.minor >= 2 { 8 } else { 12 };
        writer.write_raw(&[0; 12][..fixed]);
        writer
    }

    fn end(mut writer: CdrWriter<'_>, version: Version) -> Self {
        writer.align(4);
        let order = writer.order();
        Self {
            // Fails only for a key beyond 2³² octets.
            prefix: writer.finish().unwrap_or_default(),
            version,
            order,
        }
    }

    /// The GIOP version of the requests.
    #[must_use]
    #[inline]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The byte order of the requests, which the writer's must be.
    #[must_use]
    #[inline]
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Octets a request without service contexts has before its body, at most.
    #[must_use]
    pub const fn header_len(&self, operation: &str) -> usize {
        self.prefix.len() + operation.len() + 4 + 4 + 4 + 7
    }

    /// Writes the message and request header into an empty writer of the
    /// template's byte order, ready for the arguments; end the message with
    /// [`finish_message`].
    #[inline]
    pub fn begin(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext<'_>],
    ) -> BodyStart {
        debug_assert!(writer.is_empty() && writer.order() == self.order);
        if !contexts.is_empty() || operation.len() > SHORT_OPERATION {
            return self.begin_long(writer, request_id, response, operation, contexts);
        }
        self.write_prefix(writer, request_id, response);
        // The name and the empty list after it (service contexts in 1.2, the
        // principal before) are put together aside, so that all moves but one
        // have a constant size.
        let mut tail = [0; SHORT_TAIL];
        let name = operation.as_bytes();
        tail[..4].copy_from_slice(&u32_octets(name.len() as u32 + 1, self.order));
        tail[4..4 + name.len()].copy_from_slice(name);
        let header_end = self.prefix.len() + ((4 + name.len() + 1 + 3) & !3) + 4;
        writer.write_raw(&tail);
        let body = if self.version.minor >= 2 {
            (header_end + 7) & !7
        } else {
            header_end
        };
        writer.truncate(body);
        BodyStart { header_end, body }
    }

    /// Copies the prefix and puts the request id and flags in.
    #[inline]
    fn write_prefix(&self, writer: &mut CdrWriter<'_>, request_id: u32, response: ResponseFlags) {
        let id_at = if self.version.minor >= 2 { 12 } else { 16 };
        let flags = self.response_octets(response);
        writer.write_raw(&self.prefix);
        writer.patch_u32(id_at, request_id);
        writer.patch_u32(id_at + 4, u32_from(flags, self.order));
    }

    /// The response flags, or `response_expected`, and what is zero after it.
    #[inline]
    const fn response_octets(&self, response: ResponseFlags) -> [u8; 4] {
        let octet = if self.version.minor >= 2 {
            response as u8
        } else {
            response.expects_reply() as u8
        };
        [octet, 0, 0, 0]
    }

    #[inline(never)]
    fn begin_long(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext<'_>],
    ) -> BodyStart {
        if self.version.minor >= 2 {
            self.write_prefix(writer, request_id, response);
            writer.write_name(operation);
            service_context::write_list(writer, contexts);
        } else {
            writer.write_raw(self.prefix.get(..HEADER_LEN).unwrap_or_default());
            service_context::write_list(writer, contexts);
            writer.write_u32(request_id);
            writer.write_raw(&self.response_octets(response));
            // The count of the key onwards.
            writer.write_raw(self.prefix.get(24..).unwrap_or_default());
            writer.write_name(operation);
            writer.write_octets(&[]);
        }
        BodyStart::after_header(writer, self.version.minor)
    }
}
