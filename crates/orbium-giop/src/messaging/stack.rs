// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messaging protocols on top of one another.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use super::{
    Decoder, Encoder, Input, MAX_OVERHEAD, Message, Messaging, MessagingError, Session, Side,
};

/// Size of a buffer that a decoder retains between messages.
const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// A stack of messaging protocols, outermost first: the outermost encodes the GIOP messages, and
/// the frames of the innermost are sent.
#[derive(Clone, Debug)]
pub struct Stack {
    layers: Vec<Arc<dyn Messaging>>,
    name: String,
}

impl Stack {
    /// A stack of these protocols, outermost first.
    ///
    /// # Errors
    /// [`StackError`] if a protocol that needs GIOP messages is not the outermost.
    pub fn new(layers: Vec<Arc<dyn Messaging>>) -> Result<Self, StackError> {
        let Some(outermost) = layers.first() else {
            return Err(StackError::Empty);
        };
        for (i, layer) in layers.iter().enumerate().skip(1) {
            if layers[..i].iter().any(|other| other.name() == layer.name()) {
                return Err(StackError::Twice(layer.name().to_owned()));
            }
            if layer.input() == Input::Giop {
                return Err(StackError::NotOutermost {
                    layer: layer.name().to_owned(),
                    outermost: outermost.name().to_owned(),
                });
            }
        }
        let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
        Ok(Self {
            name: names.join(","),
            layers,
        })
    }

    /// The protocols, outermost first.
    #[must_use]
    pub fn layers(&self) -> &[Arc<dyn Messaging>] {
        &self.layers
    }
}

impl Messaging for Stack {
    /// The names of its protocols, outermost first, with commas between.
    fn name(&self) -> &str {
        &self.name
    }

    fn input(&self) -> Input {
        self.layers
            .first()
            .map_or(Input::Octets, |layer| layer.input())
    }

    fn is_stateful(&self) -> bool {
        self.layers.iter().any(|layer| layer.is_stateful())
    }

    fn session(&self, side: Side, limit: usize) -> Session {
        let mut encoders = Vec::with_capacity(self.layers.len());
        let mut decoders = Vec::with_capacity(self.layers.len());
        for (i, layer) in self.layers.iter().enumerate() {
            // The input of a protocol may exceed the message by the overhead of the protocols
            // before it.
            let limit = limit.saturating_add(i * MAX_OVERHEAD);
            let session = layer.session(side, limit);
            encoders.push(session.encoder);
            decoders.push(session.decoder);
        }
        let decoder = StackDecoder {
            decoders,
            frame: Vec::new(),
            inner: Vec::new(),
            is_whole: false,
        };
        Session::new(StackEncoder { encoders }, decoder)
    }
}

/// Error of a stack of messaging protocols.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackError {
    /// The stack has no protocols.
    Empty,
    /// A protocol that parses GIOP messages is not the outermost.
    NotOutermost {
        /// The protocol that must be the outermost.
        layer: String,
        /// The protocol that is the outermost.
        outermost: String,
    },
    /// A protocol appears twice.
    Twice(String),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no messaging is named"),
            Self::NotOutermost { layer, outermost } => write!(
                f,
                "messaging {layer} needs GIOP messages, which {outermost} before it changes: \
                 name {layer} first"
            ),
            Self::Twice(layer) => write!(f, "messaging {layer} is named twice"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for StackError {}

#[derive(Debug)]
struct StackEncoder {
    /// Outermost first.
    encoders: Vec<Box<dyn Encoder>>,
}

impl Encoder for StackEncoder {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        encode_through(&mut self.encoders, message, head, tail)
    }
}

fn encode_through(
    encoders: &mut [Box<dyn Encoder>],
    message: Message<'_>,
    head: &mut Vec<u8>,
    tail: &mut Vec<u8>,
) -> Result<Range<usize>, MessagingError> {
    let [outer, inner @ ..] = encoders else {
        return Ok(0..message.len());
    };
    if inner.is_empty() {
        return outer.encode(message, head, tail);
    }
    let (mut before, mut after, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let range = outer.encode(message, &mut before, &mut after)?;
    let mut pieces = Vec::with_capacity(message.pieces().len() + 2);
    pieces.push(&before[..]);
    pieces.extend(message.slices(range.clone()));
    pieces.push(&after[..]);
    let sent = encode_through(inner, Message::new(&pieces), head, &mut last)?;
    // The range that the inner protocols send unchanged, in terms of this message: a part of the
    // octets before it, of the message itself and of the octets after it.
    let (middle, end) = (before.len(), before.len() + range.len());
    let part = |from: usize, to: usize| {
        let start = sent.start.clamp(from, to) - from;
        start..sent.end.clamp(from + start, to) - from
    };
    head.extend_from_slice(&before[part(0, middle)]);
    let own = part(middle, end);
    tail.extend_from_slice(&after[part(end, end + after.len())]);
    tail.append(&mut last);
    Ok(range.start + own.start..range.start + own.end)
}

#[derive(Debug)]
struct StackDecoder {
    /// Outermost first.
    decoders: Vec<Box<dyn Decoder>>,
    /// The output of the protocol before: a frame of the next.
    frame: Vec<u8>,
    /// The output of the next protocol.
    inner: Vec<u8>,
    /// Whether `frame` is complete, so that the outermost protocol decodes it part by part.
    is_whole: bool,
}

impl Decoder for StackDecoder {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        match self.decoders.last() {
            Some(innermost) => innermost.frame_len(wire),
            None => Ok(Some(wire.len())),
        }
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        while !self.decode_part(frame, message)? {}
        Ok(())
    }

    fn decode_part(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<bool, MessagingError> {
        let [outermost, between @ .., innermost] = &mut self.decoders[..] else {
            return match self.decoders.first_mut() {
                Some(only) => only.decode_part(frame, message),
                None => Ok(true),
            };
        };
        if !self.is_whole {
            if !innermost.decode_part(frame, &mut self.frame)? {
                return Ok(false);
            }
            self.is_whole = true;
            for decoder in between.iter_mut().rev() {
                self.inner.clear();
                decode_whole(&mut **decoder, &self.frame, &mut self.inner)?;
                core::mem::swap(&mut self.frame, &mut self.inner);
            }
        }
        if !part_of_whole(&mut **outermost, &self.frame, message)? {
            return Ok(false);
        }
        self.is_whole = false;
        self.frame.clear();
        if self.frame.capacity().max(self.inner.capacity()) > MAX_RETAINED_BUFFER {
            (self.frame, self.inner) = (Vec::new(), Vec::new());
        }
        Ok(true)
    }

    fn held(&self) -> usize {
        self.frame.capacity() + self.inner.capacity()
    }

    fn undelivered(&self) -> usize {
        self.frame.len()
    }
}

/// Decodes the next part of the output of another protocol: one whole frame, or nothing. Returns
/// whether that was the last part.
fn part_of_whole(
    decoder: &mut dyn Decoder,
    frame: &[u8],
    message: &mut Vec<u8>,
) -> Result<bool, MessagingError> {
    if frame.is_empty() {
        return Ok(true);
    }
    if decoder.frame_len(frame)? != Some(frame.len()) {
        return Err(MessagingError::WrongLength);
    }
    decoder.decode_part(frame, message)
}

/// Decodes the output of another protocol: one whole frame, or nothing.
fn decode_whole(
    decoder: &mut dyn Decoder,
    frame: &[u8],
    message: &mut Vec<u8>,
) -> Result<(), MessagingError> {
    if frame.is_empty() {
        return Ok(());
    }
    if decoder.frame_len(frame)? != Some(frame.len()) {
        return Err(MessagingError::WrongLength);
    }
    decoder.decode(frame, message)
}
