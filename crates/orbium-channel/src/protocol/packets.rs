// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet formats: messages in datagrams.

use std::fmt;
use std::io::{self, IoSlice};
use std::iter;
use std::num::NonZeroU8;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use orbium_giop::messaging::{
    Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side,
};
use orbium_giop::miop::{Accepted, Collector, CollectorLimits, ID_LEN, MiopError, PacketPlan};
use orbium_giop::{HEADER_LEN, MessageHeader, slices_within};
use orbium_sync::lock::Mutex;
use orbium_transport::{Datagrams, Peer};

use super::host;

/// The packetization of messages in datagrams.
#[derive(Debug)]
pub(super) enum Packets {
    /// One datagram for each message (DIOP).
    Whole,
    /// One or more datagrams for each message (MIOP).
    Miop(Box<Miop>),
}

#[derive(Debug)]
pub(super) struct Miop {
    sender: [u8; 8],
    /// The number of copies of each message.
    copies: NonZeroU8,
    collector: Mutex<Collector<Peer>>,
    started: Instant,
}

/// Number of messages sent by this process over all of its sockets, from which unique ids are made.
static SENT: AtomicU32 = AtomicU32::new(0);

/// The reason why a datagram completed no message.
#[derive(Debug)]
pub(super) struct NotAPacket(MiopError);

impl fmt::Display for NotAPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Packets {
    /// The packets of a transport, for messages up to that many octets. Only messages with an id
    /// can be sent in copies.
    pub(super) fn of(scheme: &str, limit: usize, copies: Option<NonZeroU8>) -> Self {
        if scheme != "miop" {
            return Self::Whole;
        }
        let limits = CollectorLimits::default();
        Self::Miop(Box::new(Miop {
            sender: host::process_number(),
            copies: copies.unwrap_or(NonZeroU8::MIN),
            collector: Mutex::new(Collector::new(CollectorLimits {
                message: limit.min(limits.total),
                ..limits
            })),
            started: Instant::now(),
        }))
    }

    /// Sends one message.
    pub(super) fn send(&self, socket: &dyn Datagrams, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        match self {
            Self::Whole => socket.send(pieces),
            Self::Miop(miop) => miop.send(socket, pieces),
        }
    }

    /// Takes a received datagram; appends the message that it completes, if any.
    pub(super) fn unpack(
        &self,
        sender: &Peer,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<(), NotAPacket> {
        match self {
            Self::Whole => message.extend_from_slice(datagram),
            Self::Miop(miop) => miop.unpack(sender, datagram, message).map_err(NotAPacket)?,
        }
        Ok(())
    }
}

impl Miop {
    fn send(&self, socket: &dyn Datagrams, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        let mut id = [0; ID_LEN];
        let count = SENT.fetch_add(1, Ordering::Relaxed);
        id[..8].copy_from_slice(&self.sender);
        id[8..].copy_from_slice(&count.to_be_bytes());
        let plan = PacketPlan::new(len, id, socket.largest());
        let plan = plan.ok_or(io::ErrorKind::InvalidInput)?;
        // Copies are sent one after the other: losses in bursts rarely hit the same packet of two
        // copies.
        for packet in iter::repeat_n(plan, usize::from(self.copies.get())).flatten() {
            let body = slices_within(pieces.iter().map(|piece| &**piece), packet.range.clone());
            let slices: Vec<_> = iter::once(&packet.head[..])
                .chain(body)
                .map(IoSlice::new)
                .collect();
            socket.send(&slices)?;
        }
        Ok(())
    }

    fn unpack(
        &self,
        sender: &Peer,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<(), MiopError> {
        let now = self.started.elapsed().as_millis();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let mut collector = self.collector.lock();
        match collector.accept(sender, datagram, now)? {
            Accepted::Whole(range) => message.extend_from_slice(&datagram[range]),
            Accepted::Completed(octets) => *message = octets,
            Accepted::Incomplete | Accepted::Duplicate => {}
        }
        Ok(())
    }
}

/// Plain GIOP, used to determine the length of messages.
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
