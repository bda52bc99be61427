// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with numbers in place of names: see [`orbium_giop::numbers`].

use orbium_channel::connection::Violation;
use orbium_giop::MessageHeader;
use orbium_giop::messaging::MessagingError;

use super::contexts::Following;
use super::refusing::violated;
use super::source::Source;
use super::state::State;
use crate::ServerConnection;
use crate::message_outcome::Outcome;

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
    /// As `move_on`, for a request that needs its names.
    #[cold]
    pub(super) fn move_numbered_on(
        &mut self,
        source: &Source<'_>,
        message: &[u8],
        following: Following<'_>,
    ) -> Outcome {
        match source.connection.named(message) {
            Err(error) => violated(source, Violation::Numbers(error)),
            Ok((header, octets)) => self.move_on(source, header, (&octets, &[]), following),
        }
    }
}
