// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ziop`: compressed messages, as in the OMG's Zipped Inter-ORB Protocol 1.0.
//!
//! A compressed GIOP message has the magic `ZIOP` instead of `GIOP`, the rest of its header
//! unchanged except the size, and a `ZIOP::CompressionData` in the byte order of the header:
//! unsigned short compressor (4 for zlib), unsigned long octets after the header of the original,
//! octet sequence compressed. A GIOP message that is small, or that compression does not reduce
//! enough, is sent unchanged.
//!
//! The output of another protocol is carried in the same frame with kind 255, which GIOP does not
//! define, and version 0.0; the original is then the whole output. Compressor 0 means that it is
//! not compressed.

use core::fmt;
use core::ops::Range;

use orbium_sync::lock::Mutex;

use super::{
    Decoder, Encoder, Input, MAX_OVERHEAD, Message, Messaging, MessagingError, PART, Session, Side,
};
use crate::message::header::{HEADER_LEN, MessageHeader, u32_from, u32_octets};
use miniz_oxide::deflate::core::CompressorOxide;
use miniz_oxide::inflate::stream::InflateState;
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus, deflate, inflate};
use orbium_cdr::ByteOrder;

const MAGIC: [u8; 4] = *b"ZIOP";
/// The kind of a frame without a GIOP message.
const OCTETS: u8 = 0xFF;
/// Octets of the header, compressor, original length and count.
const HEAD_LEN: usize = HEADER_LEN + 12;

const COMPRESSOR_NONE: u16 = 0;
const COMPRESSOR_ZLIB: u16 = 4;

/// Octets of a message up to which the compression ratio is not limited.
const MAX_UNCHECKED: usize = 1 << 20;

/// Maximum reserve, in octets, beyond the data inflated so far.
const MAX_GROWTH_AHEAD: usize = 64 * 1024;

/// Compression of messages that are worth it.
#[derive(Clone, Copy, Debug)]
pub struct Ziop {
    low_water: usize,
    gain: usize,
    level: u32,
    ratio: usize,
}

impl Default for Ziop {
    /// From 1024 octets on, if a tenth is saved, at level 6; to a hundredth at most.
    fn default() -> Self {
        Self {
            low_water: 1024,
            gain: 10,
            level: 6,
            ratio: 100,
        }
    }
}

impl Ziop {
    /// The length in octets from which on messages are compressed.
    #[must_use]
    pub const fn with_low_water(mut self, octets: usize) -> Self {
        self.low_water = octets;
        self
    }

    /// Sets the minimum saving, in hundredths, for a message to be sent compressed; 100 or more
    /// means never.
    #[must_use]
    pub const fn with_gain(mut self, hundredths: usize) -> Self {
        self.gain = hundredths;
        self
    }

    /// Sets the maximum compression ratio of a message of more than 1 MiB: a message that exceeds
    /// it is sent uncompressed, as receivers could reject it as a decompression bomb
    /// (`limits.decompression_ratio`).
    #[must_use]
    pub const fn with_ratio(mut self, times: usize) -> Self {
        self.ratio = times;
        self
    }

    /// Sets the effort, from 1 to 9.
    #[must_use]
    pub const fn with_level(mut self, level: u32) -> Self {
        self.level = level;
        self
    }
}

impl Messaging for Ziop {
    fn name(&self) -> &str {
        "ziop"
    }

    fn input(&self) -> Input {
        Input::Octets
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        let encoder = ZiopEncoder { settings: *self };
        let decoder = ZiopDecoder {
            limit,
            inflating: None,
        };
        Session::new(encoder, decoder)
    }
}

#[derive(Debug)]
struct ZiopEncoder {
    settings: Ziop,
}

impl Encoder for ZiopEncoder {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        _tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        let original = Original::of(message)?;
        if message.len() >= self.settings.low_water && self.compress(message, &original, head) {
            return Ok(message.len()..message.len());
        }
        if original.header.is_none() {
            // Within 32 bits: `of` saw to it.
            let len = message.len() as u32;
            head.extend_from_slice(&original.head(COMPRESSOR_NONE, len, len));
        }
        Ok(0..message.len())
    }
}

/// The part of a message that is compressed, and its header.
struct Original {
    /// The first octets of a GIOP message.
    header: Option<[u8; HEADER_LEN]>,
    order: ByteOrder,
}

impl Original {
    fn of(message: Message<'_>) -> Result<Self, MessagingError> {
        if u32::try_from(message.len() + HEAD_LEN).is_err() {
            return Err(MessagingError::TooLarge);
        }
        Ok(match message.giop_header() {
            Ok(header) => Self {
                header: Some(message.first_octets()),
                order: header.order,
            },
            Err(_) => Self {
                header: None,
                order: ByteOrder::Little,
            },
        })
    }

    /// Offset in the message at which the compressed part starts.
    const fn start(&self) -> usize {
        match self.header {
            Some(_) => HEADER_LEN,
            None => 0,
        }
    }

    /// The head of a frame with `count` octets of data.
    fn head(&self, compressor: u16, len: u32, count: u32) -> [u8; HEAD_LEN] {
        let mut head = [0; HEAD_LEN];
        match self.header {
            Some(header) => head[..HEADER_LEN].copy_from_slice(&header),
            None => (head[6], head[7]) = (ByteOrder::Little.flag(), OCTETS),
        }
        let order = self.order;
        head[..4].copy_from_slice(&MAGIC);
        // Below 2³², as all of the message is with its head.
        head[8..12].copy_from_slice(&u32_octets(count + 12, order));
        head[12..14].copy_from_slice(&u16_octets(compressor, order));
        head[16..20].copy_from_slice(&u32_octets(len, order));
        head[20..24].copy_from_slice(&u32_octets(count, order));
        head
    }
}

fn u16_octets(value: u16, order: ByteOrder) -> [u8; 2] {
    match order {
        ByteOrder::Big => value.to_be_bytes(),
        ByteOrder::Little => value.to_le_bytes(),
    }
}

impl ZiopEncoder {
    /// Appends a compressed frame if it saves enough; otherwise nothing.
    fn compress(&mut self, message: Message<'_>, original: &Original, head: &mut Vec<u8>) -> bool {
        let share = 100_usize.saturating_sub(self.settings.gain);
        let most = message.len() / 100 * share + message.len() % 100 * share / 100;
        let start = head.len();
        // From 1 to 9: it fits.
        let level = self.settings.level.clamp(1, 9) as u8;
        let mut compress = spare_compressor();
        compress.set_format_and_level(DataFormat::Zlib, level);
        head.resize(start + HEAD_LEN, 0);
        let slices = message.slices(original.start()..message.len());
        let is_small_enough = append_deflated(&mut compress, slices, start + most, head);
        keep_compressor(compress);
        if !is_small_enough {
            head.truncate(start);
            return false;
        }
        let count = head.len() - start - HEAD_LEN;
        if message.len() > MAX_UNCHECKED && message.len() / self.settings.ratio.max(1) > count {
            // The peer could reject it as a decompression bomb.
            head.truncate(start);
            return false;
        }
        // Both are less than the message.
        let len = (message.len() - original.start()) as u32;
        let octets = original.head(COMPRESSOR_ZLIB, len, count as u32);
        head[start..start + HEAD_LEN].copy_from_slice(&octets);
        true
    }
}

/// Pool of compressors, which are large. It is only locked by `try_lock`: a thread that held the
/// lock at a fork does not exist in the child.
static SPARE: Mutex<Vec<Box<CompressorOxide>>> = Mutex::new(Vec::new());

/// Maximum number of pooled compressors.
const SPARES: usize = 2;

fn spare_compressor() -> Box<CompressorOxide> {
    let spare = SPARE.try_lock().and_then(|mut spare| spare.pop());
    match spare {
        Some(mut spare) => {
            spare.reset();
            spare
        }
        None => Box::default(),
    }
}

fn keep_compressor(compress: Box<CompressorOxide>) {
    if let Some(mut spare) = SPARE.try_lock()
        && spare.len() < SPARES
    {
        spare.push(compress);
    }
}

/// Appends the slices compressed, unless the result would exceed `end` octets.
fn append_deflated<'m>(
    compress: &mut CompressorOxide,
    slices: impl Iterator<Item = &'m [u8]>,
    end: usize,
    out: &mut Vec<u8>,
) -> bool {
    let mut slices = slices.peekable();
    let mut input: &[u8] = &[];
    loop {
        if input.is_empty() {
            input = slices.next().unwrap_or_default();
        }
        let flush = if slices.peek().is_none() {
            MZFlush::Finish
        } else {
            MZFlush::None
        };
        let done = out.len();
        if done > end {
            return false;
        }
        out.resize(done + (end - done + 1).min(MAX_GROWTH_AHEAD), 0);
        let step = deflate::stream::deflate(compress, input, &mut out[done..], flush);
        out.truncate(done + step.bytes_written);
        input = input.get(step.bytes_consumed..).unwrap_or_default();
        match step.status {
            Ok(MZStatus::StreamEnd) => return out.len() <= end,
            Ok(MZStatus::Ok) | Err(MZError::Buf) => {}
            Ok(MZStatus::NeedDict) | Err(_) => return false,
        }
    }
}

struct ZiopDecoder {
    limit: usize,
    /// The frame that is being inflated.
    inflating: Option<Inflating>,
}

/// The state of a frame being inflated.
struct Inflating {
    state: Box<InflateState>,
    /// Offset of the rest of the frame.
    at: usize,
    /// Octets not yet inflated, and those inflated so far.
    left: usize,
}

impl fmt::Debug for ZiopDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ZiopDecoder");
        shown.field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The frame header.
enum Frame {
    /// A GIOP message as it is.
    Plain(MessageHeader),
    /// A GIOP message compressed.
    Giop(MessageHeader),
    /// Any octets, perhaps compressed, and how many follow the header.
    Octets(ByteOrder, u32),
}

impl Frame {
    fn read(octets: &[u8; HEADER_LEN]) -> Result<Self, MessagingError> {
        let [z, i, o, p, major, minor, flags, kind, s0, s1, s2, s3] = *octets;
        if [z, i, o, p] != MAGIC {
            return Ok(Self::Plain(MessageHeader::parse(octets)?));
        }
        if kind == OCTETS && [major, minor] == [0, 0] {
            let order = ByteOrder::from_flag(flags);
            return Ok(Self::Octets(order, u32_from([s0, s1, s2, s3], order)));
        }
        let mut giop = *octets;
        giop[0] = b'G';
        Ok(Self::Giop(MessageHeader::parse(&giop)?))
    }

    /// Octets of the frame.
    const fn len(&self) -> usize {
        let (Self::Plain(MessageHeader { size, .. })
        | Self::Giop(MessageHeader { size, .. })
        | Self::Octets(_, size)) = self;
        HEADER_LEN + *size as usize
    }
}

impl Decoder for ZiopDecoder {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some(head) = wire.first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let len = Frame::read(head)?.len();
        if len > self.limit.saturating_add(MAX_OVERHEAD) {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(len))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        while !self.decode_part(frame, message)? {}
        Ok(())
    }

    fn decode_part(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<bool, MessagingError> {
        if self.inflating.is_none() && self.begin(frame, message)? {
            return Ok(true);
        }
        let Some(inflating) = &mut self.inflating else {
            return Ok(true);
        };
        let ends = inflating.next_part(frame, message)?;
        if ends {
            self.inflating = None;
        }
        Ok(ends)
    }
}

impl ZiopDecoder {
    /// Begins a frame; returns whether that was all of it.
    fn begin(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<bool, MessagingError> {
        let head = frame.first_chunk::<HEADER_LEN>();
        let read = Frame::read(head.ok_or(MessagingError::Truncated)?)?;
        if read.len() != frame.len() {
            return Err(MessagingError::WrongLength);
        }
        let (header, order) = match read {
            Frame::Plain(_) => {
                if frame.len() > self.limit {
                    return Err(MessagingError::TooLarge);
                }
                message.extend_from_slice(frame);
                return Ok(true);
            }
            Frame::Giop(header) => (Some(header), header.order),
            Frame::Octets(order, _) => (None, order),
        };
        let (data, compressor, size) = compression_data(&frame[HEADER_LEN..], order)?;
        let header_len = header.map_or(0, |_| HEADER_LEN);
        if header_len + size as usize > self.limit {
            return Err(MessagingError::TooLarge);
        }
        if header.is_some() {
            message.extend_from_slice(b"GIOP");
            message.extend_from_slice(&frame[4..8]);
            message.extend_from_slice(&u32_octets(size, order));
        }
        match compressor {
            COMPRESSOR_NONE if data.len() == size as usize => message.extend_from_slice(data),
            COMPRESSOR_NONE => return Err(MessagingError::WrongLength),
            COMPRESSOR_ZLIB => {
                self.inflating = Some(Inflating {
                    state: InflateState::new_boxed(DataFormat::Zlib),
                    at: frame.len() - data.len(),
                    left: size as usize,
                });
                return Ok(false);
            }
            other => return Err(MessagingError::UnknownCompressor(other)),
        }
        Ok(true)
    }
}

/// The data of a frame, its compressor and the length of the original.
fn compression_data(octets: &[u8], order: ByteOrder) -> Result<(&[u8], u16, u32), MessagingError> {
    let Some((head, data)) = octets.split_first_chunk::<12>() else {
        return Err(MessagingError::Truncated);
    };
    let [c0, c1, _, _, l0, l1, l2, l3, n0, n1, n2, n3] = *head;
    if u32_from([n0, n1, n2, n3], order) as usize != data.len() {
        return Err(MessagingError::WrongLength);
    }
    let compressor = match order {
        ByteOrder::Big => u16::from_be_bytes([c0, c1]),
        ByteOrder::Little => u16::from_le_bytes([c0, c1]),
    };
    Ok((data, compressor, u32_from([l0, l1, l2, l3], order)))
}

impl Inflating {
    /// Appends the next part and returns whether it was the last. Memory grows with the inflated
    /// data, not with the stated length.
    fn next_part(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<bool, MessagingError> {
        let mut part = 0;
        loop {
            let data = frame.get(self.at..).unwrap_or_default();
            let start = out.len();
            // One more octet detects a stream that does not end at the stated length.
            let room = self.left.min(PART - part) + 1;
            if out.try_reserve(room).is_err() {
                return Err(MessagingError::Refused("no memory to decompress into"));
            }
            out.resize(start + room, 0);
            let step =
                inflate::stream::inflate(&mut self.state, data, &mut out[start..], MZFlush::None);
            out.truncate(start + step.bytes_written);
            self.at += step.bytes_consumed;
            part += step.bytes_written;
            let ends = match step.status {
                Ok(MZStatus::StreamEnd) => true,
                Ok(MZStatus::Ok) | Err(MZError::Buf) => false,
                Ok(MZStatus::NeedDict) | Err(_) => return Err(MessagingError::BadCompression),
            };
            let Some(left) = self.left.checked_sub(step.bytes_written) else {
                return Err(MessagingError::BadCompression);
            };
            self.left = left;
            if ends {
                return if left == 0 && self.at == frame.len() {
                    Ok(true)
                } else {
                    Err(MessagingError::BadCompression)
                };
            }
            if step.bytes_consumed == 0 && step.bytes_written == 0 {
                return Err(MessagingError::BadCompression);
            }
            if part >= PART {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression: a forked child waited forever for the lock that another thread of its parent
    // held.
    #[test]
    fn compressing_does_not_wait_for_a_lock_that_is_never_released() {
        let held = SPARE.lock();
        let compress = spare_compressor();
        keep_compressor(compress);
        drop(held);
    }
}
