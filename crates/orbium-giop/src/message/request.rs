// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests read (CORBA 3.3 Part 2, clause 9.4.2).

use std::borrow::Cow;
use std::ops::Range;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader};

use crate::context::service_context::ServiceContexts;
use crate::message::body::skip_to_body;
use crate::message::header::{HEADER_LEN, u32_from};
use crate::{Ior, TaggedProfile};

/// Response that the requester expects (`response_flags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ResponseFlags {
    /// No reply: a oneway, SYNC_NONE or SYNC_WITH_TRANSPORT.
    None = 0x00,
    /// On receipt by the server: SYNC_WITH_SERVER.
    SyncWithServer = 0x01,
    /// After the servant has completed: twoway calls and SYNC_WITH_TARGET.
    Full = 0x03,
}

impl ResponseFlags {
    /// Whether a reply is to be sent.
    #[must_use]
    #[inline]
    pub const fn expects_reply(self) -> bool {
        !matches!(self, Self::None)
    }

    /// From the octet of GIOP 1.2; the undefined value 2 is read as 3.
    #[inline]
    pub(crate) const fn from_octet(octet: u8) -> Self {
        const FLAGS: [ResponseFlags; 4] = [
            ResponseFlags::None,
            ResponseFlags::SyncWithServer,
            ResponseFlags::Full,
            ResponseFlags::Full,
        ];
        FLAGS[(octet & 3) as usize]
    }

    /// From `response_expected` of GIOP 1.0 and 1.1.
    const fn from_boolean(octet: u8) -> Self {
        if octet == 0 { Self::None } else { Self::Full }
    }
}

/// Form of addressing of a request's target (`AddressingDisposition`).
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
        /// The index of the chosen profile.
        index: u32,
        /// The reference.
        ior: Box<Ior>,
    },
}

impl<'a> Target<'a> {
    /// The object key, in any addressing mode; `None` if the profile is unknown or has none.
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

    /// The form of addressing.
    #[must_use]
    pub const fn disposition(&self) -> AddressingDisposition {
        match self {
            Self::Key(_) => AddressingDisposition::Key,
            Self::Profile { .. } => AddressingDisposition::Profile,
            Self::Reference { .. } => AddressingDisposition::Reference,
        }
    }

    /// Reads the rest of a target address after the discriminator `form` and the first
    /// unsigned long (count, tag or index).
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
    /// The time at which a reply is expected, if any.
    pub response: ResponseFlags,
    /// The target object.
    pub target: Target<'a>,
    /// Operation name without the NUL; not checked to be UTF-8.
    pub operation: &'a [u8],
    /// Service contexts.
    pub contexts: ServiceContexts<'a>,
}

impl<'a> RequestHeader<'a> {
    /// Reads a request header of GIOP 1.`minor` from a reader at octet 12 of the message, and
    /// leaves it at the body.
    ///
    /// # Errors
    /// [`CdrError`] for a malformed header.
    pub fn read(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        if minor < 2 {
            return Self::read_1_0(reader, minor);
        }
        debug_assert_eq!(reader.position(), HEADER_LEN);
        let (format, owner) = (reader.format(), reader.owner());
        // All octets are taken and those of the body returned: one pass over the header with few
        // checks, instead of one check for each item.
        let octets = reader.take(reader.remaining())?;
        let Some(plain) = PlainRequest::find(octets, format.order) else {
            *reader = CdrReader::at(octets, HEADER_LEN, format).with_owner(owner);
            return Self::read_1_2(reader);
        };
        let (header, body) = octets.split_at_mut(plain.body);
        *reader = CdrReader::at(body, HEADER_LEN + plain.body, format).with_owner(owner);
        let header: &[u8] = header;
        Ok(Self {
            request_id: plain.request_id,
            response: plain.response,
            target: Target::Key(&header[plain.key]),
            operation: &header[plain.operation],
            contexts: ServiceContexts::EMPTY,
        })
    }

    /// Reads any request of 1.2, with the errors of malformed ones.
    fn read_1_2(reader: &mut CdrReader<'a>) -> Result<Self, CdrError> {
        let request_id = reader.read_u32()?;
        let response = ResponseFlags::from_octet(reader.read_u8()?);
        reader.take(3)?;
        let form = reader.read_u16()?;
        let first = reader.read_u32()?;
        let target = Target::read_rest(reader, form, first)?;
        let operation = read_operation(reader)?;
        let contexts = ServiceContexts::read(reader)?;
        skip_to_body(reader);
        Ok(Self {
            request_id,
            response,
            target,
            operation,
            contexts,
        })
    }

    fn read_1_0(reader: &mut CdrReader<'a>, minor: u8) -> Result<Self, CdrError> {
        let contexts = ServiceContexts::read(reader)?;
        let request_id = reader.read_u32()?;
        let response = ResponseFlags::from_boolean(reader.read_u8()?);
        // In 1.1 three reserved octets follow, which may be in the next fragment; in 1.0 they are
        // the gap before the count of the key.
        if minor == 1 {
            reader.take(3)?;
        }
        let target = Target::Key(reader.read_octets()?);
        let operation = read_operation(reader)?;
        // The principal is obsolete.
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

/// Offset of the key in a request of 1.2, counted from the end of the message header as in
/// [`PlainRequest`].
const KEY_AT: usize = 16;

/// Offsets of the parts of a plain request of GIOP 1.2, counted from the end of the message header:
/// one that is addressed by key and has no service contexts, the common case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainRequest {
    /// Chosen by the requester; the reply carries it.
    pub request_id: u32,
    /// The time at which a reply is expected, if any.
    pub response: ResponseFlags,
    /// The object key.
    pub key: Range<usize>,
    /// Operation name without the NUL.
    pub operation: Range<usize>,
    /// Offset of the body: the end of the message if there is none.
    pub body: usize,
}

impl PlainRequest {
    /// Parses the octets after the message header. `None` for any other or malformed request, which
    /// is left to [`RequestHeader::read`].
    #[must_use]
    #[inline]
    pub fn find(octets: &[u8], order: ByteOrder) -> Option<Self> {
        let none = |at: usize| -> Option<usize> {
            let count = octets.get(at..at.checked_add(4)?)?.first_chunk::<4>()?;
            (u32_from(*count, order) == 0).then_some(4)
        };
        Self::find_with(octets, order, none)
    }

    /// The same for a request with service contexts: `contexts` returns the length of the list that
    /// begins there, or `None` to reject it.
    #[inline(always)]
    pub(crate) fn find_with(
        octets: &[u8],
        order: ByteOrder,
        contexts: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<Self> {
        let long = |at: usize| -> Option<u32> {
            let octets = octets.get(at..at.checked_add(4)?)?.first_chunk::<4>()?;
            Some(u32_from(*octets, order))
        };
        let head = octets.first_chunk::<KEY_AT>()?;
        let [i0, i1, i2, i3, flags, _, _, _, d0, d1, _, _, k0, k1, k2, k3] = *head;
        if [d0, d1] != [0, 0] {
            return None;
        }
        let key_end = KEY_AT.checked_add(u32_from([k0, k1, k2, k3], order) as usize)?;
        let count_at = key_end.checked_add(3)? & !3;
        let operation = count_at.checked_add(4)?;
        let nul_after = operation.checked_add(long(count_at)? as usize)?;
        let list = nul_after.checked_add(3)? & !3;
        let operation_end = nul_after.checked_sub(1)?;
        let list_len = contexts(list)?;
        if operation_end < operation || octets[operation_end] != 0 {
            return None;
        }
        // To a multiple of eight of the message, which has twelve octets more.
        let body = ((list + list_len + HEADER_LEN + 7) & !7) - HEADER_LEN;
        Some(Self {
            request_id: u32_from([i0, i1, i2, i3], order),
            response: ResponseFlags::from_octet(flags),
            key: KEY_AT..key_end,
            operation: operation..operation_end,
            body: body.min(octets.len()),
        })
    }
}

fn read_operation<'a>(reader: &mut CdrReader<'a>) -> Result<&'a [u8], CdrError> {
    let octets: &[u8] = reader.read_octets()?;
    match octets {
        [operation @ .., 0] => Ok(operation),
        _ => Err(reader.error(CdrErrorKind::BadString)),
    }
}
