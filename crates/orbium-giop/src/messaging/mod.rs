// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messaging protocols: the representation of GIOP messages on the wire.
//!
//! A protocol is a pair: a transport, which moves octets, and a messaging protocol, which defines
//! their meaning. The ORB itself writes GIOP, `giop-lite`, `native` and `fixed` over streams; any
//! other messaging protocol encodes each whole GIOP message as a frame, and decodes frames to
//! messages. It is a pure value: no socket, no clock, no thread. Both sides must use the same
//! protocols, which the endpoint and the reference name.
//!
//! # Writing a messaging protocol
//!
//! Implement [`Messaging`] and register it with the ORB. This example protects messages, or the
//! frames of another messaging protocol, by a checksum:
//!
//! ```
//! use std::ops::Range;
//! use orbium_giop::messaging::{
//!     Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side,
//! };
//!
//! #[derive(Debug)]
//! struct Checksum;
//!
//! impl Messaging for Checksum {
//!     fn name(&self) -> &str {
//!         "checksum"
//!     }
//!     fn input(&self) -> Input {
//!         Input::Octets
//!     }
//!     fn session(&self, _: Side, limit: usize) -> Session {
//!         Session::new(Sum { limit }, Sum { limit })
//!     }
//! }
//!
//! #[derive(Debug)]
//! struct Sum {
//!     limit: usize,
//! }
//!
//! fn sum(octets: &[u8], start: u32) -> u32 {
//!     octets.iter().fold(start, |sum, octet| sum.rotate_left(5) ^ u32::from(*octet))
//! }
//!
//! // Wire form: length, the message, its sum.
//! impl Encoder for Sum {
//!     fn encode(
//!         &mut self,
//!         message: Message<'_>,
//!         head: &mut Vec<u8>,
//!         tail: &mut Vec<u8>,
//!     ) -> Result<Range<usize>, MessagingError> {
//!         let len = u32::try_from(message.len()).map_err(|_| MessagingError::TooLarge)?;
//!         head.extend(len.to_be_bytes());
//!         let sum = message.pieces().iter().fold(0, |at, piece| sum(piece, at));
//!         tail.extend(sum.to_be_bytes());
//!         Ok(0..message.len())
//!     }
//! }
//!
//! impl Decoder for Sum {
//!     fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
//!         let Some(len) = wire.first_chunk() else {
//!             return Ok(None);
//!         };
//!         let len = u32::from_be_bytes(*len) as usize;
//!         if len > self.limit {
//!             return Err(MessagingError::TooLarge);
//!         }
//!         Ok(Some(4 + len + 4))
//!     }
//!     fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
//!         let (Some((_, rest)), true) = (frame.split_at_checked(4), frame.len() >= 8) else {
//!             return Err(MessagingError::Truncated);
//!         };
//!         let (octets, expected) = rest.split_at(rest.len() - 4);
//!         if sum(octets, 0).to_be_bytes() != expected {
//!             return Err(MessagingError::Refused("the sum is wrong"));
//!         }
//!         message.extend_from_slice(octets);
//!         Ok(())
//!     }
//! }
//!
//! let mut session = Checksum.session(Side::Client, 1 << 20);
//! let (mut head, mut tail, mut message) = (Vec::new(), Vec::new(), Vec::new());
//! let range = session.encoder.encode(Message::new(&[b"octets"]), &mut head, &mut tail)?;
//! let frame = [&head, &b"octets"[range], &tail].concat();
//! assert_eq!(session.decoder.frame_len(&frame), Ok(Some(frame.len())));
//! session.decoder.decode(&frame, &mut message)?;
//! assert_eq!(message, b"octets");
//! # Ok::<(), MessagingError>(())
//! ```
//!
//! # Several protocols
//!
//! [`Stack`] composes protocols: the outermost encodes GIOP messages, each next one the frames of
//! the protocol before it, and the frames of the innermost are sent. A stack is a protocol itself.

mod contract;
mod error;
mod giop_lite;
mod layout;
mod message;
mod stack;
#[cfg(feature = "ziop")]
pub mod ziop;

use std::sync::Arc;

pub use contract::{Decoder, Encoder, Input, MAX_OVERHEAD, Messaging, PART, Session, Side};
pub use error::MessagingError;
pub use giop_lite::{Fixed, GiopLite, Native, to_giop};
pub use message::Message;
pub use stack::{Stack, StackError};

/// The protocols that are part of this crate.
#[must_use]
pub fn builtin() -> Vec<Arc<dyn Messaging>> {
    vec![
        Arc::new(GiopLite),
        Arc::new(Fixed),
        Arc::new(Native::default()),
        #[cfg(feature = "ziop")]
        Arc::new(ziop::Ziop::default()),
    ]
}
