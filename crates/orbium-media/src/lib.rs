// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of sound, pictures or other data over datagrams, without GIOP: late data are
//! worth nothing, so nothing is sent again.
//!
//! A [`MediaReceiver`] listens at an endpoint of a datagram transport (`diop`, `miop`, or a
//! registered one) and has an object reference, which is passed like any other: stringified, as an
//! argument, in an `any`. A [`MediaSender`] connects to that reference under the same protocol
//! policies as a call. Frames are numbered and timed, larger ones are split into datagrams
//! ([`datagram`] has the format), and each received frame reports the number of missing frames
//! before it and whether it is late. This is the media protocol of section 3.4 of O'Ryan, Kuhns,
//! Schmidt, Othman and Parsons, "The design and performance of a pluggable protocols framework for
//! real-time distributed object computing middleware" (Middleware 2000), with both its buffer
//! strategies: [`MediaReceiver::receive`] copies nothing, [`MediaReceiver::receive_into`] copies
//! once.
//!
//! It has no notion of requests: of the ORB it uses references, protocols and policies.
//!
//! ```
//! use orbium_core::Orb;
//! use orbium_media::{FrameKind, MediaOptions, MediaReceiver, MediaSender, Time};
//!
//! let orb = Orb::builder().build()?;
//! let mut receiver = MediaReceiver::bind(&orb, "diop://127.0.0.1:0", MediaOptions::default())?;
//! let reference = orb.object_to_string(receiver.reference());
//!
//! let target = orb.string_to_object(&reference)?.ok_or("nil")?;
//! let mut sender = MediaSender::connect(&orb, &target)?;
//! sender.send(FrameKind::Key, Time::Nanoseconds(0), b"a picture")?;
//!
//! let frame = receiver.receive()?;
//! assert_eq!(&frame[..], b"a picture");
//! assert_eq!((frame.missing(), frame.is_late()), (0, false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod assembly;
pub mod datagram;
mod error;
mod frame;
mod names;
mod pool;
mod receiver;
mod sender;
mod slot;

pub use datagram::{FrameHeader, FrameKind, Statistics, Time};
pub use error::MediaError;
pub use frame::MediaFrame;
pub use names::{MESSAGING, RECEIVER_REPOSITORY_ID};
pub use receiver::{MediaInfo, MediaOptions, MediaReceiver, MediaStatistics, MediaStop};
pub use sender::MediaSender;
