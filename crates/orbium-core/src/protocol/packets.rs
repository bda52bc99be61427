// SPDX-License-Identifier: MIT OR Apache-2.0
//! How messages are put into datagrams.

use std::io::{self, IoSlice};

use orbium_giop::messaging::{
    Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side,
};
use orbium_giop::{HEADER_LEN, MessageHeader};
use orbium_transport::Datagrams;

/// How messages are put into datagrams.
#[derive(Debug)]
pub(super) enum Packets {
    /// One each (DIOP).
    Whole,
}

impl Packets {
    /// As a transport has it, for messages up to that many octets.
    pub(super) fn of(_scheme: &str, _limit: usize) -> Self {
        Self::Whole
    }

    /// Sends one message.
    pub(super) fn send(&self, socket: &dyn Datagrams, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        match self {
            Self::Whole => socket.send(pieces),
        }
    }

    /// Takes what was received; appends the message that is whole by it, if
    /// there is one.
    pub(super) fn unpack(
        &self,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<(), MessagingError> {
        match self {
            Self::Whole => message.extend_from_slice(datagram),
        }
        Ok(())
    }
}

/// GIOP as it is, where something has to know where a message ends.
#[derive(Debug)]
pub(super) struct Giop;

impl Messaging for Giop {
    fn name(&self) -> &'static str {
        "giop"
    }

    fn input(&self) -> Input {
        Input::Giop
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        Session::new(AsItIs { limit }, AsItIs { limit })
    }
}

#[derive(Debug)]
struct AsItIs {
    limit: usize,
}

impl Encoder for AsItIs {
    fn encode(
        &mut self,
        message: Message<'_>,
        _head: &mut Vec<u8>,
        _tail: &mut Vec<u8>,
    ) -> Result<std::ops::Range<usize>, MessagingError> {
        Ok(0..message.len())
    }
}

impl Decoder for AsItIs {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some(head) = wire.first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let len = HEADER_LEN + MessageHeader::parse(head)?.size as usize;
        if len > self.limit {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(len))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        message.extend_from_slice(frame);
        Ok(())
    }
}
