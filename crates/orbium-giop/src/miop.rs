// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of the OMG's Unreliable Multicast Inter-ORB Protocol 1.0: a GIOP message split into
//! datagrams, which [`Collector`] reassembles.
//!
//! Datagrams are lost, duplicated and reordered, and any host may send them. Incomplete messages
//! are bounded in number, octets and age. The caller supplies the time, in any unit.

mod collector;
pub mod reorder_buffer;
use core::fmt;
use core::ops::Range;

use orbium_cdr::ByteOrder;

use crate::message::header::{u32_from, u32_octets};

pub use crate::miop::collector::{Accepted, Collector, CollectorLimits};

/// Octets before the id in a packet.
const ID_AT: usize = 20;
/// Maximum length of an id.
pub const MAX_ID_LEN: usize = 252;
/// Octets of the ids that orbium generates.
pub const ID_LEN: usize = 12;
/// Octets of the header of packets that orbium generates.
pub const PACKET_HEADER_LEN: usize = ID_AT + ID_LEN;

const MAGIC: [u8; 4] = *b"MIOP";
const VERSION: u8 = 0x10;
const FLAG_LAST: u8 = 0x02;

/// Error in a datagram that is not a packet, or exceeds a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MiopError {
    /// The packet is truncated: within its header, or before the end of the announced data.
    Truncated,
    /// It does not start with "MIOP".
    BadMagic([u8; 4]),
    /// A version other than 1.0: the high four bits are the major version.
    UnsupportedVersion(u8),
    /// An id of that many octets.
    IdTooLong(u32),
    /// The number of the packet exceeds the number of packets.
    BadNumber,
    /// Packets of a message disagree about how many they are.
    Inconsistent,
    /// The message exceeds the limit.
    TooLarge,
}

impl fmt::Display for MiopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("a MIOP packet ends too early"),
            Self::BadMagic(found) => write!(f, "not a MIOP packet: it starts with {found:02x?}"),
            Self::UnsupportedVersion(version) => {
                let (major, minor) = (version >> 4, version & 15);
                write!(f, "MIOP version {major}.{minor} is not supported")
            }
            Self::IdTooLong(len) => write!(f, "the id of a MIOP packet has {len} octets"),
            Self::BadNumber => f.write_str("the number of a MIOP packet is beyond their count"),
            Self::Inconsistent => f.write_str("MIOP packets of a message disagree"),
            Self::TooLarge => f.write_str("a message in MIOP packets is too large"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MiopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for MiopError {}

/// The header of a packet (`MIOP::PacketHeader_1_0`), borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader<'a> {
    /// Byte order of the header.
    pub order: ByteOrder,
    /// Whether this is the last packet of its message.
    pub is_last: bool,
    /// The number of this packet in its message, from 0 on.
    pub number: u32,
    /// The number of packets of the message; 0 if the sender does not know it.
    pub count: u32,
    /// The id of the message.
    pub id: &'a [u8],
    data: (usize, usize),
}

impl<'a> PacketHeader<'a> {
    /// Reads the header of a packet, which is a whole datagram.
    ///
    /// # Errors
    /// [`MiopError`] for a malformed header.
    pub fn parse(packet: &'a [u8]) -> Result<Self, MiopError> {
        let Some((head, rest)) = packet.split_first_chunk::<ID_AT>() else {
            return Err(MiopError::Truncated);
        };
        let [m, i, o, p, version, flags, l0, l1, numbers @ ..] = *head;
        let [n0, n1, n2, n3, c0, c1, c2, c3, i0, i1, i2, i3] = numbers;
        if [m, i, o, p] != MAGIC {
            return Err(MiopError::BadMagic([m, i, o, p]));
        }
        if version != VERSION {
            return Err(MiopError::UnsupportedVersion(version));
        }
        let order = ByteOrder::from_flag(flags);
        let length = usize::from(match order {
            ByteOrder::Big => u16::from_be_bytes([l0, l1]),
            ByteOrder::Little => u16::from_le_bytes([l0, l1]),
        });
        let id_len = u32_from([i0, i1, i2, i3], order);
        if id_len as usize > MAX_ID_LEN {
            return Err(MiopError::IdTooLong(id_len));
        }
        let id = rest.get(..id_len as usize).ok_or(MiopError::Truncated)?;
        // The header is padded to a multiple of eight.
        let data = (ID_AT + id.len()).next_multiple_of(8);
        if data + length > packet.len() {
            return Err(MiopError::Truncated);
        }
        let header = Self {
            order,
            is_last: flags & FLAG_LAST != 0,
            number: u32_from([n0, n1, n2, n3], order),
            count: u32_from([c0, c1, c2, c3], order),
            id,
            data: (data, data + length),
        };
        match header.total()? {
            Some(total) if header.number >= total => Err(MiopError::BadNumber),
            _ => Ok(header),
        }
    }

    /// The range of its data in the packet.
    #[must_use]
    pub const fn data(&self) -> Range<usize> {
        self.data.0..self.data.1
    }

    /// The number of packets of the message, if this packet states it.
    pub(crate) fn total(&self) -> Result<Option<u32>, MiopError> {
        match (self.count, self.is_last) {
            (0, false) => Ok(None),
            (0, true) => {
                let count = self.number.checked_add(1);
                count.map(Some).ok_or(MiopError::BadNumber)
            }
            (count, true) if count - 1 != self.number => Err(MiopError::Inconsistent),
            (count, _) => Ok(Some(count)),
        }
    }
}

/// Packets of a message: an iterator over them. The message is neither copied nor
/// changed: each packet is a head and a range of its octets.
#[derive(Clone, Debug)]
pub struct PacketPlan {
    id: [u8; ID_LEN],
    /// Octets of the message in every packet but the last; a multiple of eight.
    part: usize,
    len: usize,
    count: u32,
    number: u32,
}

impl PacketPlan {
    /// A plan for a message of `len` octets in packets of at most `largest` octets. `id` must not
    /// be used for another message while this one may be in transit, by any sender to the group:
    /// for example address, process and a counter.
    ///
    /// `None` if a packet has no room for eight octets of data, or there would
    /// be more than 2³² packets.
    #[must_use]
    pub fn new(len: usize, id: [u8; ID_LEN], largest: usize) -> Option<Self> {
        let largest = largest.min(PACKET_HEADER_LEN + usize::from(u16::MAX));
        let part = largest.checked_sub(PACKET_HEADER_LEN)? & !7;
        if part == 0 {
            return None;
        }
        Some(Self {
            id,
            part,
            len,
            count: u32::try_from(len.div_ceil(part).max(1)).ok()?,
            number: 0,
        })
    }
}

/// One packet: `head`, then a range of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The octets to be written first.
    pub head: [u8; PACKET_HEADER_LEN],
    /// Octets of the message that follow the head.
    pub range: Range<usize>,
}

impl Iterator for PacketPlan {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        if self.number >= self.count {
            return None;
        }
        let from = self.number as usize * self.part;
        let to = self.len.min(from + self.part);
        let is_last = self.number + 1 == self.count;
        let order = ByteOrder::NATIVE;
        let flags = order.flag() | if is_last { FLAG_LAST } else { 0 };
        // At most a part, which fits in sixteen bits.
        let length = ((to - from) as u16).to_ne_bytes();
        let mut head = [0; PACKET_HEADER_LEN];
        head[..4].copy_from_slice(&MAGIC);
        head[4..6].copy_from_slice(&[VERSION, flags]);
        head[6..8].copy_from_slice(&length);
        head[8..12].copy_from_slice(&u32_octets(self.number, order));
        head[12..16].copy_from_slice(&u32_octets(self.count, order));
        head[16..20].copy_from_slice(&u32_octets(ID_LEN as u32, order));
        head[ID_AT..].copy_from_slice(&self.id);
        self.number += 1;
        Some(Packet {
            head,
            range: from..to,
        })
    }
}
