// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes short headers.

use orbium_cdr::ByteOrder;

use super::REPLY_BODY;
use super::form::{DEFINES, NUMBERED, REPLY, RESPONSE_SHIFT, request_form, u16_octets};
use crate::message::header::{HEADER_LEN, u32_octets};

/// The numbers of an object and an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) object: u16,
    pub(crate) operation: u8,
}

/// The beginning of a short request: header and key; `None` if the key is too long.
pub(crate) fn request_prefix(order: ByteOrder, key: &[u8]) -> Option<Vec<u8>> {
    let len = u16::try_from(key.len()).ok()?;
    let mut prefix = vec![0; HEADER_LEN];
    prefix[2..4].copy_from_slice(&u16_octets(len, order));
    prefix.extend_from_slice(key);
    Some(prefix)
}

/// The fields of a short header to be written, without the body.
pub(crate) struct Short<'a> {
    pub(crate) order: ByteOrder,
    pub(crate) id: u32,
    pub(crate) says: Asked<'a>,
    /// Whether the body is in the `native` data representation.
    pub(crate) native: bool,
    /// Octets of the body.
    pub(crate) body: usize,
}

/// The fields that differ by kind of message.
pub(crate) enum Asked<'a> {
    Request {
        response: u8,
        key: &'a [u8],
        key_len: u16,
        operation: &'a [u8],
        operation_len: u8,
        defines: Option<Target>,
    },
    /// A request with numbers.
    Numbered { response: u8, target: Target },
    /// A reply, with its status.
    Answer(u8),
}

impl<'a> Asked<'a> {
    /// `None` if a name is too long.
    pub(crate) fn new(response: u8, key: &'a [u8], operation: &'a [u8]) -> Option<Self> {
        Some(Self::Request {
            response,
            key,
            key_len: u16::try_from(key.len()).ok()?,
            operation,
            operation_len: u8::try_from(operation.len()).ok()?,
            defines: None,
        })
    }

    /// Defines the numbers of the names.
    pub(crate) fn defining(mut self, target: Target) -> Self {
        if let Self::Request { defines, .. } = &mut self {
            *defines = Some(target);
        }
        self
    }
}

impl Short<'_> {
    /// Appends the header, ready for the body.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        let definition;
        let (kind, second, third, names) = match self.says {
            Asked::Request {
                response,
                key,
                key_len,
                operation,
                operation_len,
                defines,
            } => {
                let (defining, numbers) = match defines {
                    None => (0, &[][..]),
                    Some(target) => {
                        let [o0, o1] = u16_octets(target.object, self.order);
                        definition = [o0, o1, target.operation, 0];
                        (DEFINES, &definition[..])
                    }
                };
                let kind = response << RESPONSE_SHIFT | defining;
                (kind, operation_len, key_len, [numbers, key, operation])
            }
            Asked::Numbered { response, target } => {
                let kind = response << RESPONSE_SHIFT | NUMBERED;
                (kind, target.operation, target.object, [&[][..]; 3])
            }
            Asked::Answer(status) => (REPLY, status, 0, [&[][..]; 3]),
        };
        let named: usize = names.iter().map(|name| name.len()).sum();
        let padding = if matches!(self.says, Asked::Answer(_)) {
            REPLY_BODY - HEADER_LEN
        } else if self.body == 0 {
            0
        } else {
            (HEADER_LEN + named).wrapping_neg() & 7
        };
        // Within 32 bits, as the header of GIOP is longer.
        let size = (named + padding + self.body) as u32;
        let form = request_form(self.order, 0, self.native) | kind;
        out.extend_from_slice(&[form, second]);
        out.extend_from_slice(&u16_octets(third, self.order));
        out.extend_from_slice(&u32_octets(self.id, self.order));
        out.extend_from_slice(&u32_octets(size, self.order));
        names.iter().for_each(|name| out.extend_from_slice(name));
        out.extend_from_slice(&[0; 8][..padding]);
    }
}
