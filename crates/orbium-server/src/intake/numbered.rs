// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with numbers in place of names: see [`orbium_giop::numbers`].

use orbium_channel::connection::{CodeSets, Parts, Violation};
use orbium_giop::messaging::MessagingError;
use orbium_giop::numbers::Names;
use orbium_giop::{HEADER_LEN, MessageHeader, PlainRequest};

use super::refusing::violated;
use super::source::Source;
use super::state::State;
use crate::ServerConnection;
use crate::outcome::Outcome;

impl ServerConnection {
    /// A request with its names, from one with numbers.
    #[cold]
    pub(super) fn named(&self, message: &[u8]) -> Result<(MessageHeader, Vec<u8>), MessagingError> {
        let names = self.names.as_deref();
        let names = names.ok_or(MessagingError::Refused("numbers where there are none"))?;
        let mut octets = Vec::new();
        names.named(message, &mut octets)?;
        let head = octets.first_chunk().and_then(MessageHeader::parse_short);
        Ok((head.ok_or(MessagingError::Truncated)?, octets))
    }
}

impl State {
    /// As `serve_plain`, with numbers in the byte order of this machine.
    #[inline]
    pub(super) fn serve_numbered(
        &mut self,
        source: &Source<'_>,
        header: MessageHeader,
        parts: Parts<'_>,
    ) -> Outcome {
        let names: Option<&Names> = source.connection.names.as_deref();
        let found = match names.and_then(|names| names.find_native(parts.message)) {
            Some(found) if !source.context.observes_requests() => found,
            _ => return self.serve_with_names(source, parts),
        };
        let plain = PlainRequest {
            request_id: found.request_id,
            response: found.response,
            key: 0..0,
            operation: 0..0,
            body: found.body - HEADER_LEN,
        };
        let names = (found.key, found.operation);
        self.serve_plain(source, header, plain, parts, Some(names))
    }

    /// As `serve`, for a request that needs its names.
    #[cold]
    #[inline(never)]
    fn serve_with_names(&mut self, source: &Source<'_>, parts: Parts<'_>) -> Outcome {
        match source.connection.named(parts.message) {
            Err(error) => violated(source, Violation::Numbers(error)),
            Ok((header, mut octets)) => {
                let message = &mut octets[..];
                self.serve(source, &header, Parts { message, ..parts })
            }
        }
    }

    /// As `move_on`, for a request that needs its names.
    #[cold]
    #[inline(never)]
    pub(super) fn move_numbered_on(
        &mut self,
        source: &Source<'_>,
        message: &[u8],
        code_sets: &mut CodeSets,
    ) -> Outcome {
        match source.connection.named(message) {
            Err(error) => violated(source, Violation::Numbers(error)),
            Ok((header, octets)) => self.move_on(source, header, (&octets, &[]), code_sets),
        }
    }
}
