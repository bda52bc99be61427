// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending frames.

use std::io::{self, IoSlice};

use crate::datagram::{FRAME_HEADER_LEN, FrameHeader, FrameKind, Time};
use orbium_channel::{Channel, OfferedProtocol, protocol};
use orbium_core::{Interface, Orb};
use orbium_transport::{Datagrams, Deadline, Transport};

use crate::error::MediaError;
use crate::names::MESSAGING;
use crate::receiver::{check_messaging, no_datagrams};

/// Octets of a datagram in an Ethernet frame, also over IPv6.
const FRAME: usize = 1500 - 40 - 8;

/// Sends the frames of one stream. The kernel gathers each datagram from the header and the payload
/// in its place: nothing is copied or allocated, and the payload can be reused at once.
///
/// It is independent of the lifetime of the ORB.
#[derive(Debug)]
pub struct MediaSender {
    socket: Box<dyn Datagrams>,
    channel: Channel,
    stream: u32,
    next: u32,
    datagram: usize,
}

impl MediaSender {
    /// Sends to the receiver, or the group of receivers, of a reference, by the first protocol that
    /// its policy permits: that of the reference, otherwise of this thread, otherwise of the ORB.
    /// Protocols are named as in [`ProtocolPolicy`](orbium_core::ProtocolPolicy): `diop/media`,
    /// `miop/media`.
    ///
    /// # Errors
    /// [`MediaError::NotOffered`]; [`MediaError::Io`] of the last protocol that
    /// was tried; [`MediaError::Ended`] once the ORB has ended.
    pub fn connect(orb: &Orb, reference: &impl Interface) -> Result<Self, MediaError> {
        let reference = reference.as_object();
        let policy = reference.policy_here(orb).map_err(|_| MediaError::Ended)?;
        let mut failed = None;
        let (protocols, chosen) = (&orb.config().protocols, policy.is_some());
        for offer in &protocol::wanted(protocols, reference.ior(), policy.as_ref(), chosen) {
            let is_media = offer.channel.messaging == [MESSAGING];
            let Ok(stream) = <[u8; 4]>::try_from(&offer.object_key[..]) else {
                continue;
            };
            if !is_media || !orb.config().protocols.is_datagram(&offer.channel) {
                continue;
            }
            match Self::open_channel(orb, offer.channel.clone(), u32::from_be_bytes(stream)) {
                Ok(sender) => return Ok(sender),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| {
            MediaError::NotOffered(OfferedProtocol::list(
                &reference.protocols_under(orb, policy.as_ref()),
            ))
        }))
    }

    /// Sends a stream to an address such as `diop://host:port` or
    /// `miop://239.255.0.1:5000`.
    ///
    /// # Errors
    /// [`MediaError::Endpoint`], [`MediaError::Protocol`], [`MediaError::Io`].
    pub fn open(orb: &Orb, address: &str, stream: u32) -> Result<Self, MediaError> {
        let channel: Channel = address.parse()?;
        check_messaging(channel.messaging.iter().map(String::as_str))?;
        Self::open_channel(orb, channel, stream)
    }

    fn open_channel(orb: &Orb, channel: Channel, stream: u32) -> Result<Self, MediaError> {
        let config = orb.config();
        let transport = match config.protocols.transport(&channel.scheme) {
            Some(Transport::Datagram(transport)) => transport,
            _ => return Err(no_datagrams(&channel.scheme)),
        };
        let deadline = Deadline::after(Some(config.connect_timeout.0));
        let socket = transport.open(&channel.address, &config.properties, deadline)?;
        let datagram = socket.largest().min(FRAME);
        Ok(Self {
            socket,
            channel,
            stream,
            next: 0,
            datagram,
        })
    }

    /// The channel of the frames.
    #[must_use]
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Sets the size of the largest datagram, header included. Default: the capacity of an Ethernet
    /// frame, or less if the transport requires it. A larger one costs less, but is fragmented by
    /// the network, and lost with any of its fragments.
    ///
    /// # Errors
    /// [`MediaError::Options`]: no room for a payload, or more than the transport can carry.
    pub fn set_datagram_size(&mut self, octets: usize) -> Result<(), MediaError> {
        let largest = self.socket.largest().min(usize::from(u16::MAX));
        if !(FRAME_HEADER_LEN + 1..=largest).contains(&octets) {
            return Err(MediaError::Options(
                "a datagram has a header of 24 octets, and is at most 65,535 and what the transport carries",
            ));
        }
        self.datagram = octets;
        Ok(())
    }

    /// Sends a frame; returns its number. It is not an error if no receiver gets it.
    ///
    /// # Errors
    /// [`MediaError::TooLarge`]; [`MediaError::Io`]: parts of the frame may have
    /// been sent, and receivers will miss it.
    pub fn send(&mut self, kind: FrameKind, time: Time, payload: &[u8]) -> Result<u32, MediaError> {
        let header = FrameHeader {
            stream: self.stream,
            sequence: self.next,
            kind,
            time,
        };
        let fragments = header.fragments(payload.len(), self.datagram);
        let fragments = fragments.ok_or(MediaError::TooLarge(payload.len()))?;
        self.skip();
        for part in fragments {
            let pieces = [&part.head, &payload[part.range]].map(IoSlice::new);
            while let Err(error) = self.socket.send(&pieces) {
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error.into());
                }
            }
        }
        Ok(header.sequence)
    }

    /// Skips a frame, which receivers will miss.
    pub const fn skip(&mut self) {
        self.next = self.next.wrapping_add(1);
    }
}
