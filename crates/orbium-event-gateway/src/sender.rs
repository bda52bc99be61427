// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events sent as datagrams.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use orbium::transport::{
    DatagramTransport, Datagrams, Deadline, Multicast, ProtocolProperties, Udp,
};
use orbium_event::rtec::rtec_event_comm::Event;

use crate::datagram::{HEADER, encode, fragments};
use crate::gateway_config::{DatagramConfig, GatewayError};

/// Bytes of the largest datagram of IPv4.
const MAX_DATAGRAM_LENGTH: usize = 65_507;
/// Datagrams of an event before a pause: a burst overruns the buffers of receivers.
const BURST: usize = 16;
const BURST_PAUSE: Duration = Duration::from_micros(200);

/// Sends events to a group, or to one receiver.
pub(crate) struct DatagramSender {
    socket: Box<dyn Datagrams>,
    /// Bytes of a fragment.
    most: usize,
    has_crc: bool,
    next: AtomicU32,
}

impl DatagramSender {
    pub(crate) fn open(address: &str, config: &DatagramConfig) -> Result<Self, GatewayError> {
        if !(HEADER + 8..=MAX_DATAGRAM_LENGTH).contains(&config.mtu) {
            return Err(GatewayError::Mtu(config.mtu));
        }
        let deadline = Deadline::NEVER;
        let socket = if is_group(address) {
            Multicast.open(address, &properties(config)?, deadline)?
        } else {
            Udp.open(address, &ProtocolProperties::default(), deadline)?
        };
        Ok(Self {
            socket,
            most: config.mtu - HEADER,
            has_crc: config.crc,
            next: AtomicU32::new(1),
        })
    }

    /// Sends an event.
    ///
    /// # Errors
    /// It cannot be encoded or sent.
    pub(crate) fn send(&self, event: &Event) -> io::Result<()> {
        let message = encode(event);
        let message = message.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        for fragment in fragments(id, &message, self.most) {
            if fragment.number > 0 && fragment.number.is_multiple_of(BURST) {
                thread::sleep(BURST_PAUSE);
            }
            let header = fragment.header(self.has_crc);
            let pieces = [IoSlice::new(&header), IoSlice::new(fragment.bytes)];
            self.socket.send(&pieces)?;
        }
        Ok(())
    }
}

/// Whether an address is that of a group.
pub(crate) fn is_group(address: &str) -> bool {
    let address = address.parse::<SocketAddr>();
    address.is_ok_and(|address| address.ip().is_multicast())
}

/// The properties of the sockets of a group.
pub(crate) fn properties(config: &DatagramConfig) -> Result<ProtocolProperties, GatewayError> {
    let mut properties = ProtocolProperties::default();
    if let Some(name) = &config.interface {
        let set = properties.set("multicast_interface", name);
        set.map_err(|_| GatewayError::Interface(name.clone()))?;
    }
    Ok(properties)
}
