// SPDX-License-Identifier: MIT OR Apache-2.0
//! Message sizes of a load.

use super::Load;

/// The header of every GIOP message.
const MESSAGE_HEADER: usize = 12;

/// Rounds an offset up to a multiple of `to`.
const fn aligned(offset: usize, to: usize) -> usize {
    offset.next_multiple_of(to)
}

impl Load {
    /// Sizes of the request and of the reply as GIOP 1.2 messages without service contexts, to an
    /// object with a key of that length; a oneway has no reply. For a peer that moves the same
    /// octets without reading them.
    #[must_use]
    pub const fn message_sizes(self, size: usize, key_len: usize) -> (usize, usize) {
        let request = with_body(request_header(key_len, self.name().len()), self.body(size));
        if self.is_oneway() {
            return (request, 0);
        }
        // After the message header: request id, reply status, no contexts.
        let results = if matches!(self, Self::Noop) {
            0
        } else {
            self.body(size)
        };
        (request, with_body(MESSAGE_HEADER + 12, results))
    }

    /// Octets of the arguments, of which there are as many as of the results.
    const fn body(self, size: usize) -> usize {
        match self {
            Self::Noop => 0,
            Self::CubeOctet => 1,
            Self::CubeShort => 2,
            Self::Post | Self::CubeLong => 4,
            // An octet, three of padding, a long, a short.
            Self::CubeMany => 10,
            Self::EchoOctets | Self::SendChars | Self::SendOctets => 4 + size,
            Self::SendShorts => 4 + 2 * size,
            Self::EchoLongs | Self::SendLongs => 4 + 4 * size,
            _ if size == 0 => 4,
            // Each element continues where the previous one ended: 10, then 8 each.
            Self::EchoManys => 4 + 10 + 8 * (size - 1),
            // Eight octets in front of the first double, then no gaps.
            Self::SendDoubles => 8 + 8 * size,
            // The first struct starts at offset 4 and takes 20, the others 24.
            Self::EchoStructs | Self::SendStructs => 4 + 20 + 24 * (size - 1),
        }
    }
}

/// The end of a request header without service contexts.
const fn request_header(key_len: usize, name_len: usize) -> usize {
    // Request id, response flags and three reserved octets, the kind of target
    // address, padding, and the length of the key.
    let key = MESSAGE_HEADER + 4 + 4 + 4 + 4;
    // A string ends in a zero octet.
    let name = aligned(key + key_len, 4) + 4 + name_len + 1;
    aligned(name, 4) + 4
}

/// A body, if there is any, starts at a multiple of eight.
const fn with_body(header: usize, body: usize) -> usize {
    if body == 0 {
        return header;
    }
    aligned(header, 8) + body
}
