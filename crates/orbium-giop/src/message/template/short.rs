// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constant part of requests with short headers.

use orbium_cdr::{ByteOrder, CdrWriter};

use super::operation::{OperationTail, SHORT_OPERATION};
use crate::message::body::BodyStart;
use crate::message::header::{HEADER_LEN, Version};
use crate::message::request::ResponseFlags;
use crate::numbers::{self, DEFINITION, Naming, Numbers};
use crate::short::{
    DEFINES, Headers, NUMBERED, NumberedTarget as Target, RESPONSE_SHIFT, request_form,
    request_prefix,
};

/// Maximum length of a short header with its key: also copied in one piece of constant size.
pub(super) const SHORT_HEADER: usize = 64;
/// Octets copied for the name of an operation, with zeros up to the body.
pub(super) const SHORT_NAME: usize = SHORT_OPERATION + 8;

/// The constant part of requests with short headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Short {
    /// The constant part of the header, and the key.
    prefix: Vec<u8>,
    /// A copy of the prefix, padded with zeros, unless it is too long.
    short_prefix: [u8; SHORT_HEADER],
    /// The form of a request without a reply.
    form: u8,
    /// The minor version of the body's format.
    minor: u8,
    /// Identifies the template if names may have numbers; otherwise 0.
    id: u64,
}

impl Short {
    /// `None` for a key of 2¹⁶ octets or more, which requires a GIOP header.
    pub(super) fn new(order: ByteOrder, key: &[u8], headers: Headers) -> Option<Self> {
        let prefix = request_prefix(order, key)?;
        let mut short_prefix = [0; SHORT_HEADER];
        if let Some(start) = short_prefix.get_mut(..prefix.len()) {
            start.copy_from_slice(&prefix);
        }
        Some(Self {
            prefix,
            short_prefix,
            form: request_form(order, 0, headers.are_native()),
            minor: Version::of_short(headers.are_native()).minor,
            id: if headers.are_numbered() {
                numbers::next_template()
            } else {
                0
            },
        })
    }

    /// Whether names may have numbers.
    #[inline(always)]
    pub(super) const fn has_numbers(&self) -> bool {
        self.id != 0
    }

    /// The form of a request.
    #[inline(always)]
    const fn form(&self, response: ResponseFlags) -> u8 {
        self.form | (response as u8) << RESPONSE_SHIFT
    }

    /// A request with the names themselves.
    #[inline(always)]
    pub(super) fn begin(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
    ) -> BodyStart {
        let len = self.prefix.len();
        if len > SHORT_HEADER {
            return self.begin_with_long_key(writer, request_id, response, operation);
        }
        let room = writer.append(SHORT_HEADER + SHORT_NAME);
        let (header, _) = room.split_at_mut(SHORT_HEADER);
        header.copy_from_slice(&self.short_prefix);
        header[0] = self.form(response);
        header[1] = operation.name_len;
        header[4..8].copy_from_slice(&request_id.to_ne_bytes());
        room[len..len + SHORT_NAME].copy_from_slice(&operation.octets[4..4 + SHORT_NAME]);
        let header_end = len + usize::from(operation.name_len);
        let body = (header_end + 7) & !7;
        writer.shorten(body);
        writer.set_minor(self.minor);
        BodyStart { header_end, body }
    }

    /// As `begin`, for a key that is too long for a copy of constant size.
    #[cold]
    fn begin_with_long_key(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
    ) -> BodyStart {
        let (head, key) = self.prefix.split_at(HEADER_LEN);
        self.write_header(writer, request_id, self.form(response), operation, head);
        self.write_names(writer, key, operation.name())
    }

    /// Writes a header but its size.
    fn write_header(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        form: u8,
        operation: &OperationTail,
        head: &[u8],
    ) {
        writer.write_raw(&[form, operation.name_len]);
        writer.write_raw(&head[2..4]);
        writer.write_raw(&request_id.to_ne_bytes());
        writer.write_raw(&head[8..]);
    }

    /// Writes the names after a header, and the padding up to the body.
    fn write_names(&self, writer: &mut CdrWriter<'_>, key: &[u8], operation: &[u8]) -> BodyStart {
        writer.write_raw(key);
        writer.write_raw(operation);
        writer.set_minor(self.minor);
        BodyStart::after_header(writer, Version::V1_2.minor)
    }

    /// The same over a connection with these numbers of names.
    #[inline(always)]
    pub(super) fn begin_numbered(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &'static OperationTail,
        numbers: &mut Numbers,
    ) -> BodyStart {
        match numbers.recent(self.id, operation.address()) {
            Some(target) => self.begin_at(writer, request_id, response, target),
            None => self.begin_bound(writer, request_id, response, operation, numbers),
        }
    }

    /// A request with those numbers: a header of constant size.
    #[inline(always)]
    pub(super) fn begin_at(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        target: Target,
    ) -> BodyStart {
        let form = self.form(response) | NUMBERED;
        let [o0, o1] = target.object.to_ne_bytes();
        let [i0, i1, i2, i3] = request_id.to_ne_bytes();
        let operation = target.operation;
        // Size, and four octets up to the body.
        let head = [
            form, operation, o0, o1, i0, i1, i2, i3, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        writer.append(head.len()).copy_from_slice(&head);
        writer.set_minor(self.minor);
        BodyStart {
            header_end: HEADER_LEN,
            body: head.len(),
        }
    }

    /// Begins a request after a lookup of the numbers of its names.
    #[cold]
    pub(super) fn begin_bound(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &'static OperationTail,
        numbers: &mut Numbers,
    ) -> BodyStart {
        let (head, key) = self.prefix.split_at(HEADER_LEN);
        let name = operation.name();
        let target = match numbers.bind(key, name) {
            Naming::Names => return self.begin(writer, request_id, response, operation),
            Naming::Numbers(target) => {
                numbers.note(self.id, operation.address(), target);
                return self.begin_at(writer, request_id, response, target);
            }
            Naming::Definition(target) => target,
        };
        let [o0, o1] = target.object.to_ne_bytes();
        let definition: [u8; DEFINITION] = [o0, o1, target.operation, 0];
        let form = self.form(response) | DEFINES;
        self.write_header(writer, request_id, form, operation, head);
        writer.write_raw(&definition);
        self.write_names(writer, key, name)
    }
}
