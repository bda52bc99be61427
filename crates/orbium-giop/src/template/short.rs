// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constant part of requests with short headers.

use orbium_cdr::{ByteOrder, CdrWriter};

use super::operation::{OperationTail, SHORT_OPERATION};
use crate::body::BodyStart;
use crate::header::HEADER_LEN;
use crate::numbers::{self, DEFINITION, Naming, Numbers};
use crate::request::ResponseFlags;
use crate::short::{
    DEFINES, Headers, NUMBERED, NumberedTarget as Target, request_form, request_prefix,
};

/// Longest short header with its key: copied in one piece of constant size as well.
pub(super) const SHORT_HEADER: usize = 64;
/// Octets of an operation's name that are copied behind it, with zeros up to the body.
pub(super) const SHORT_NAME: usize = SHORT_OPERATION + 8;

/// The constant part of requests with short headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Short {
    prefix: [u8; SHORT_HEADER],
    len: usize,
    native: bool,
    /// Identifies the template where names may have numbers; 0 elsewhere.
    id: u64,
}

impl Short {
    /// `None` for a key that is too long, which goes with a header of GIOP.
    pub(super) fn new(order: ByteOrder, key: &[u8], headers: Headers) -> Option<Self> {
        let given = request_prefix(order, key)?;
        let mut prefix = [0; SHORT_HEADER];
        prefix.get_mut(..given.len())?.copy_from_slice(&given);
        Some(Self {
            prefix,
            len: given.len(),
            native: headers.are_native(),
            id: match headers.are_numbered() {
                true => numbers::next_template(),
                false => 0,
            },
        })
    }

    /// As [`RequestTemplate::begin_with`].
    #[inline(always)]
    pub(super) fn begin(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
    ) -> BodyStart {
        let room = writer.append(SHORT_HEADER + SHORT_NAME);
        let (header, _) = room.split_at_mut(SHORT_HEADER);
        header.copy_from_slice(&self.prefix);
        header[0] = request_form(ByteOrder::NATIVE, response as u8, self.native);
        header[1] = operation.name_len;
        header[4..8].copy_from_slice(&request_id.to_ne_bytes());
        let len = self.len.min(SHORT_HEADER);
        room[len..len + SHORT_NAME].copy_from_slice(&operation.octets[4..4 + SHORT_NAME]);
        let header_end = len + usize::from(operation.name_len);
        let body = (header_end + 7) & !7;
        writer.truncate(body);
        writer.set_natural(self.native);
        BodyStart { header_end, body }
    }

    /// The same over a connection on which names have these numbers.
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
        let form = request_form(ByteOrder::NATIVE, response as u8, self.native) | NUMBERED;
        let [o0, o1] = target.object.to_ne_bytes();
        let [i0, i1, i2, i3] = request_id.to_ne_bytes();
        let operation = target.operation;
        // Size, and four octets up to the body.
        let head = [
            form, operation, o0, o1, i0, i1, i2, i3, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        writer.append(head.len()).copy_from_slice(&head);
        writer.set_natural(self.native);
        BodyStart {
            header_end: HEADER_LEN,
            body: head.len(),
        }
    }

    /// A request of which it is not known yet whether its names have numbers.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_bound(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &'static OperationTail,
        numbers: &mut Numbers,
    ) -> BodyStart {
        let key = &self.prefix[HEADER_LEN..self.len];
        let name = operation.name();
        let target = match numbers.bind(key, name) {
            Naming::Names => return self.begin(writer, request_id, response, operation),
            Naming::Numbers(target) => {
                numbers.note(self.id, operation.address(), target);
                return self.begin_at(writer, request_id, response, target);
            }
            Naming::Definition(target) => target,
        };
        let mut head = self.prefix;
        head[0] = request_form(ByteOrder::NATIVE, response as u8, self.native) | DEFINES;
        head[1] = operation.name_len;
        head[4..8].copy_from_slice(&request_id.to_ne_bytes());
        let [o0, o1] = target.object.to_ne_bytes();
        let definition: [u8; DEFINITION] = [o0, o1, target.operation, 0];
        writer.write_raw(&head[..HEADER_LEN]);
        writer.write_raw(&definition);
        writer.write_raw(key);
        writer.write_raw(name);
        let header_end = writer.len();
        writer.align(8);
        writer.set_natural(self.native);
        BodyStart {
            header_end,
            body: writer.len(),
        }
    }
}
