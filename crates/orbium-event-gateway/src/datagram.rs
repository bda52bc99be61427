// SPDX-License-Identifier: MIT OR Apache-2.0
//! The datagrams of TAO's gateways: fragments of a set of one event, each behind a header of 32
//! bytes.

use std::fmt;

use orbium::cdr::{ByteOrder, CdrError, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_event::rtec::rtec_event_comm::Event;

pub(crate) const HEADER: usize = 32;
const MAGIC: [u8; 3] = *b"ABC";

/// The content of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment<'d> {
    pub(crate) message: Message,
    /// Its offset in the message.
    pub(crate) offset: usize,
    /// Its index among the fragments of the message.
    pub(crate) number: usize,
    pub(crate) bytes: &'d [u8],
}

/// The common fields of all fragments of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) order: ByteOrder,
    /// Counts the messages of a sender.
    pub(crate) id: u32,
    pub(crate) size: usize,
    pub(crate) fragments: usize,
}

/// Reason for discarding a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatagramError {
    /// It does not begin with the header of TAO's gateways.
    NotOfThisFormat,
    /// Its sizes are inconsistent.
    Sizes,
    /// Its checksum is wrong.
    Checksum,
}

impl<'d> Fragment<'d> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`DatagramError`].
    pub(crate) fn parse(datagram: &'d [u8], has_crc: bool) -> Result<Self, DatagramError> {
        let (header, bytes) = datagram
            .split_first_chunk::<HEADER>()
            .ok_or(DatagramError::NotOfThisFormat)?;
        let order = match header[0] {
            0 => ByteOrder::Big,
            1 => ByteOrder::Little,
            _ => return Err(DatagramError::NotOfThisFormat),
        };
        if header[1..4] != MAGIC {
            return Err(DatagramError::NotOfThisFormat);
        }
        let word = |at: usize| {
            let word = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            match order {
                ByteOrder::Big => u32::from_be_bytes(word),
                ByteOrder::Little => u32::from_le_bytes(word),
            }
        };
        let (size, length, offset) = (word(8) as usize, word(12) as usize, word(16) as usize);
        let (number, fragments) = (word(20) as usize, word(24) as usize);
        let fits = length == bytes.len()
            && length > 0
            && offset.checked_add(length).is_some_and(|end| end <= size)
            && number < fragments
            && fragments <= size
            && (fragments > 1 || length == size);
        if !fits {
            return Err(DatagramError::Sizes);
        }
        if has_crc && header[28..] != checksum(&header[..28], bytes) {
            return Err(DatagramError::Checksum);
        }
        Ok(Self {
            message: Message {
                order,
                id: word(4),
                size,
                fragments,
            },
            offset,
            number,
            bytes,
        })
    }

    /// The header of a datagram with this fragment, in native order.
    pub(crate) fn header(&self, has_crc: bool) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[0] = ByteOrder::NATIVE.flag();
        header[1..4].copy_from_slice(&MAGIC);
        let Message {
            id,
            size,
            fragments,
            ..
        } = self.message;
        let words = [size, self.bytes.len(), self.offset, self.number, fragments];
        let words = words.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let words = [id].into_iter().chain(words);
        for (place, word) in header[4..28].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        if has_crc {
            let checksum = checksum(&header[..28], self.bytes);
            header[28..].copy_from_slice(&checksum);
        }
        header
    }
}

/// The fragments of a message, each of at most so many bytes.
pub(crate) fn fragments(
    id: u32,
    message: &[u8],
    most: usize,
) -> impl Iterator<Item = Fragment<'_>> {
    let of = Message {
        order: ByteOrder::NATIVE,
        id,
        size: message.len(),
        fragments: message.len().div_ceil(most),
    };
    message
        .chunks(most)
        .enumerate()
        .map(move |(number, bytes)| Fragment {
            message: of,
            offset: number * most,
            number,
            bytes,
        })
}

fn checksum(header: &[u8], bytes: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(bytes);
    hasher.finalize().to_be_bytes()
}

/// An event as a message: a set of one.
///
/// # Errors
/// [`CdrError`]: it cannot be encoded.
pub(crate) fn encode(event: &Event) -> Result<Vec<u8>, CdrError> {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_count(1);
    event.encode(&mut writer);
    writer.finish()
}

/// Reason why a message is not an event.
#[derive(Debug)]
pub(crate) enum MessageError {
    Cdr(CdrError),
    /// The number of its events is not one.
    Count(usize),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cdr(error) => error.fmt(f),
            Self::Count(count) => write!(f, "{count} events in a datagram"),
        }
    }
}

impl From<CdrError> for MessageError {
    fn from(error: CdrError) -> Self {
        Self::Cdr(error)
    }
}

/// The event of a message. An any with object references is refused: the datagram has no ORB.
///
/// # Errors
/// [`MessageError`].
pub(crate) fn decode(message: &mut [u8], order: ByteOrder) -> Result<Event, MessageError> {
    let format = Format {
        order,
        ..Format::native()
    };
    let mut reader = CdrReader::new(message, format);
    match reader.read_count(Event::MIN_SIZE)? {
        1 => Ok(Event::decode(&mut reader)?),
        count => Err(MessageError::Count(count)),
    }
}

#[cfg(test)]
mod tests {
    use orbium_event::new_event;

    use super::*;

    fn datagram(fragment: &Fragment<'_>, has_crc: bool) -> Vec<u8> {
        [&fragment.header(has_crc)[..], fragment.bytes].concat()
    }

    #[test]
    fn an_event_survives_its_datagram() {
        let mut event = new_event(16, 7);
        event.data.payload = vec![9; 100];
        event.data.any_value = "text".into();
        let mut message = encode(&event).unwrap();
        let sent: Vec<_> = fragments(3, &message, 40)
            .map(|it| datagram(&it, true))
            .collect();
        let read = sent.iter().map(|it| Fragment::parse(it, true).unwrap());
        let bytes: Vec<u8> = read.flat_map(|it| it.bytes.to_vec()).collect();
        assert_eq!(bytes, message);
        assert_eq!(decode(&mut message, ByteOrder::NATIVE).unwrap(), event);
    }

    /// In TAO's form: little endian, one fragment, no checksum.
    #[test]
    fn a_header_has_the_fields_of_tao() {
        let header = [
            1, b'A', b'B', b'C', 5, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
            0, 0, 0, 0, 0, 0,
        ];
        let datagram = [&header[..], &[1, 2, 3, 4]].concat();
        let read = Fragment::parse(&datagram, false).unwrap();
        let message = Message {
            order: ByteOrder::Little,
            id: 5,
            size: 4,
            fragments: 1,
        };
        assert_eq!(read.message, message);
        assert_eq!((read.offset, read.number), (0, 0));
        assert_eq!(
            Fragment::parse(&datagram, true),
            Err(DatagramError::Checksum)
        );
    }

    #[test]
    fn datagrams_that_contradict_themselves_are_refused() {
        let message = [1, 2, 3, 4, 5, 6];
        let good = datagram(&fragments(1, &message, 4).next().unwrap(), false);
        assert!(Fragment::parse(&good, false).is_ok());
        for (at, byte) in [
            (0, 7),
            (1, b'X'),
            (8, 3),
            (12, 9),
            (16, 9),
            (20, 9),
            (24, 1),
        ] {
            let mut bad = good.clone();
            // The least significant byte of a word.
            let at = if at >= 4 && ByteOrder::NATIVE == ByteOrder::Big {
                at + 3
            } else {
                at
            };
            bad[at] = byte;
            assert!(Fragment::parse(&bad, false).is_err(), "{at}");
        }
        for length in 0..good.len() {
            assert!(Fragment::parse(&good[..length], false).is_err(), "{length}");
        }
    }
}
