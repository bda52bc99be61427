// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving frames.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::datagram::{FrameHeader, Statistics};
use orbium_channel::{Channel, protocol};
use orbium_core::{ObjectRef, Orb};
use orbium_giop::Ior;
use orbium_transport::{Datagrams, Endpoint, Transport};

use crate::assembly::{Accepted, Assembly};
use crate::error::MediaError;
use crate::frame::MediaFrame;
use crate::names::{MESSAGING, RECEIVER_REPOSITORY_ID};
use crate::pool::{Buffer, Pool};
use crate::slot::{Arrival, buffer_len};

/// Options of a receiver. Its memory is `frames + incomplete + 1` buffers, each a little larger
/// than a frame, up to 64 KiB; the kernel allocates the pages as they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaOptions {
    /// The stream received; the reference names it. Default: 0.
    pub stream: u32,
    /// Octets of the largest frame. Default: 1 MiB.
    pub frame_size: usize,
    /// Frames that the application can hold at the same time. Default: 8.
    pub frames: usize,
    /// Maximum number of frames in assembly, when datagrams are reordered. Default: 4.
    pub incomplete: usize,
}

impl Default for MediaOptions {
    fn default() -> Self {
        Self {
            stream: 0,
            frame_size: 1 << 20,
            frames: 8,
            incomplete: 4,
        }
    }
}

impl MediaOptions {
    /// The number of buffers.
    fn check(&self) -> Result<usize, MediaError> {
        const MAX_FRAME_SIZE: usize = 1 << 30;
        const MAX_BUFFERS: usize = 1 << 16;
        const OCTETS: u64 = 1 << 36;
        if !(1..=MAX_FRAME_SIZE).contains(&self.frame_size) {
            return Err(MediaError::Options("frame_size is 1 octet to 1 GiB"));
        }
        if !(1..=MAX_BUFFERS).contains(&self.frames) || !(1..=64).contains(&self.incomplete) {
            return Err(MediaError::Options(
                "frames is 1 to 65,536, and incomplete is 1 to 64",
            ));
        }
        let buffers = self.frames + self.incomplete + 1;
        if buffers as u64 * buffer_len(self.frame_size) as u64 > OCTETS {
            return Err(MediaError::Options(
                "so many frames of that size are more than 64 GiB",
            ));
        }
        Ok(buffers)
    }
}

/// Statistics of a receiver's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaStatistics {
    /// Delivered, lost and late frames; duplicate and late datagrams.
    pub stream: Statistics,
    /// Datagrams that were no fragment of the stream, or did not fit.
    pub refused: u64,
    /// Octets that were copied to reassemble frames. None if fragments arrive in order.
    pub copied: u64,
}

/// Facts about a frame with a copied payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaInfo {
    /// The header from the sender.
    pub header: FrameHeader,
    /// Octets of the payload.
    pub len: usize,
    /// As [`MediaFrame::missing`].
    pub missing: u32,
    /// As [`MediaFrame::is_late`].
    pub is_late: bool,
}

/// Receives the frames of one stream, without heap allocations for a frame.
///
/// It is independent of the ORB: it needs no requests to be served, and ends when it is dropped or
/// [stopped](MediaReceiver::stopper), not with the ORB.
#[derive(Debug)]
pub struct MediaReceiver {
    socket: Arc<dyn Datagrams>,
    reference: ObjectRef,
    pool: Arc<Pool>,
    /// For the next datagram.
    spare: Option<Buffer>,
    assembly: Assembly,
    timeout: Option<Duration>,
}

/// Ends a receiver from another thread.
#[derive(Clone, Debug)]
pub struct MediaStop(Arc<dyn Datagrams>);

impl MediaStop {
    /// Threads that wait for a frame get [`MediaError::Ended`], now and later.
    pub fn stop(&self) {
        self.0.shutdown();
    }
}

impl MediaReceiver {
    /// Receives at an endpoint of a datagram transport, such as `diop://host:port` or
    /// `miop://239.255.0.1:5000`; `messaging=media` is optional.
    ///
    /// # Errors
    /// [`MediaError::Endpoint`], [`MediaError::Protocol`],
    /// [`MediaError::Options`], [`MediaError::Io`].
    pub fn bind(orb: &Orb, endpoint: &str, options: MediaOptions) -> Result<Self, MediaError> {
        let buffers = options.check()?;
        let endpoint: Endpoint = endpoint.parse()?;
        check_messaging(endpoint.messaging())?;
        let config = orb.config();
        let transport = match config.protocols.transport(&endpoint.scheme) {
            Some(Transport::Datagram(transport)) => transport,
            _ => return Err(no_datagrams(&endpoint.scheme)),
        };
        let socket: Arc<dyn Datagrams> = Arc::from(transport.bind(&endpoint, &config.properties)?);
        let channel = Channel {
            scheme: endpoint.scheme,
            messaging: vec![MESSAGING.to_owned()],
            address: socket.address().to_owned(),
        };
        Ok(Self {
            reference: reference(orb, &channel, options.stream),
            socket,
            pool: Pool::new(buffers, buffer_len(options.frame_size)),
            spare: None,
            assembly: Assembly::new(options.stream, options.frame_size, options.incomplete),
            timeout: None,
        })
    }

    /// The reference to which senders connect. It is an ordinary reference, but has no operations.
    #[must_use]
    pub const fn reference(&self) -> &ObjectRef {
        &self.reference
    }

    /// Bounds the time for which a receive waits for a frame; `None` (the default) means no limit.
    /// Fragments of a frame that remains incomplete may double the time.
    ///
    /// # Errors
    /// [`MediaError::Io`].
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), MediaError> {
        self.socket.set_timeout(timeout)?;
        self.timeout = timeout;
        Ok(())
    }

    /// The handle that ends this receiver from another thread.
    #[must_use]
    pub fn stopper(&self) -> MediaStop {
        MediaStop(Arc::clone(&self.socket))
    }

    /// The statistics so far.
    #[must_use]
    pub const fn statistics(&self) -> MediaStatistics {
        MediaStatistics {
            stream: self.assembly.statistics(),
            refused: self.assembly.refused,
            copied: self.assembly.copied,
        }
    }

    /// Waits for the next frame (zero-copy): it is in the buffer to which the kernel wrote it,
    /// which is returned when the frame is dropped.
    ///
    /// # Errors
    /// [`MediaError::TimedOut`], [`MediaError::Ended`], [`MediaError::Io`];
    /// [`MediaError::BuffersHeld`] when more than [`MediaOptions::frames`] are held. It can be
    /// called again after any error.
    pub fn receive(&mut self) -> Result<MediaFrame, MediaError> {
        let end = match self.timeout {
            Some(timeout) => Instant::now().checked_add(timeout),
            None => None,
        };
        loop {
            if let Some(frame) = self.receive_datagram()? {
                return Ok(frame);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(MediaError::TimedOut);
            }
        }
    }

    /// Waits for the next frame and copies it to the start of `room`
    /// (single-copy).
    ///
    /// # Errors
    /// As [`MediaReceiver::receive`]; [`MediaError::RoomTooSmall`]: the frame is
    /// lost.
    pub fn receive_into(&mut self, room: &mut [u8]) -> Result<MediaInfo, MediaError> {
        let frame = self.receive()?;
        let payload = frame.payload();
        let Some(place) = room.get_mut(..payload.len()) else {
            return Err(MediaError::RoomTooSmall(payload.len()));
        };
        place.copy_from_slice(payload);
        Ok(MediaInfo {
            header: frame.header(),
            len: payload.len(),
            missing: frame.missing(),
            is_late: frame.is_late(),
        })
    }

    /// Receives one datagram; returns the frame that it completes, if any.
    fn receive_datagram(&mut self) -> Result<Option<MediaFrame>, MediaError> {
        let spare = self.spare.take().or_else(|| self.pool.take());
        let mut spare = spare.ok_or(MediaError::BuffersHeld)?;
        let socket = &*self.socket;
        let arrival = self
            .assembly
            .receive(&mut spare, |room| socket.receive(room));
        match arrival {
            Ok(Arrival::Spare(len)) => match self.assembly.accept(spare, len) {
                Accepted::Frame(frame, spare) => {
                    self.spare = spare;
                    Ok(Some(frame))
                }
                Accepted::Nothing(spare) => {
                    self.spare = spare;
                    Ok(None)
                }
            },
            Ok(Arrival::InPlace(facts)) => {
                self.spare = Some(spare);
                Ok(self.assembly.accept_in_place(facts))
            }
            Ok(Arrival::End) => Err(MediaError::Ended),
            Err(error) => {
                self.spare = Some(spare);
                match error.kind() {
                    io::ErrorKind::Interrupted => Ok(None),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        Err(MediaError::TimedOut)
                    }
                    _ => Err(MediaError::Io(error)),
                }
            }
        }
    }
}

/// Checks that no messaging protocol but media is named.
pub(crate) fn check_messaging<'n>(
    mut names: impl Iterator<Item = &'n str>,
) -> Result<(), MediaError> {
    match names.find(|name| *name != MESSAGING) {
        Some(other) => Err(MediaError::Protocol(format!(
            "media is a messaging of its own: it does not go with `{other}`"
        ))),
        None => Ok(()),
    }
}

pub(crate) fn no_datagrams(scheme: &str) -> MediaError {
    MediaError::Protocol(format!(
        "there is no transport `{scheme}` for datagrams here"
    ))
}

/// A reference to a receiver: the stream is the object key.
fn reference(orb: &Orb, channel: &Channel, stream: u32) -> ObjectRef {
    let key = stream.to_be_bytes();
    let minor = orb.config().giop_minor.number();
    let profiles = protocol::profiles(
        std::slice::from_ref(channel),
        &key,
        minor,
        orb.config().native_char_code_set,
        Vec::new(),
    );
    let ior = Ior {
        type_id: RECEIVER_REPOSITORY_ID.to_owned(),
        profiles,
    };
    orb.plain_reference(ior)
}
