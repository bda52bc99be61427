// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events received as datagrams.

use std::io;
use std::net::SocketAddr;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::transport::{
    DatagramTransport, Datagrams, Endpoint, Multicast, Peer, ProtocolProperties, Udp,
};

use crate::addresses::Destination;
use crate::datagram::{Fragment, decode};
use crate::gateway_config::{DatagramConfig, GatewayError};
use crate::reassembly::Reassembly;
use crate::sender::{is_group, properties};
use crate::shared::Shared;

/// Maximum bytes of a datagram.
const MAX_DATAGRAM_LENGTH: usize = 1 << 16;
/// Delay before receiving again after an error of the system.
const RECEIVE_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Receives events that are sent to a group, or to this host.
pub(crate) struct DatagramReceiver {
    socket: Box<dyn Datagrams>,
    message: usize,
    has_crc: bool,
}

impl DatagramReceiver {
    /// A receiver for each address.
    pub(crate) fn bind_all(
        addresses: &str,
        config: &DatagramConfig,
    ) -> Result<Vec<Arc<Self>>, GatewayError> {
        let addresses = match addresses.parse()? {
            Destination::One(address) => vec![address],
            Destination::Table(table) => table.all().iter().map(SocketAddr::to_string).collect(),
            Destination::Server(_) => return Err(GatewayError::AddressServer),
        };
        let bound = addresses.iter().map(|it| Self::bind(it, config));
        bound.map(|it| it.map(Arc::new)).collect()
    }

    fn bind(address: &str, config: &DatagramConfig) -> Result<Self, GatewayError> {
        let (scheme, properties) = if is_group(address) {
            ("miop", properties(config)?)
        } else {
            ("diop", ProtocolProperties::default())
        };
        let endpoint = format!("{scheme}://{address}").parse::<Endpoint>();
        let endpoint = endpoint.map_err(|error| GatewayError::Listen(error.into()))?;
        let socket = match scheme {
            "miop" => Multicast.bind(&endpoint, &properties),
            _ => Udp.bind(&endpoint, &properties),
        };
        Ok(Self {
            socket: socket.map_err(GatewayError::Listen)?,
            message: config.message,
            has_crc: config.crc,
        })
    }

    /// Passes events to the gateway until it ends.
    pub(crate) fn run(&self, shared: &Shared) {
        let mut reassembly = Reassembly::new(self.message);
        let mut datagram = vec![0; MAX_DATAGRAM_LENGTH];
        while !shared.has_ended() {
            match self.socket.receive(&mut datagram) {
                Ok((length, from)) => {
                    let datagram = &datagram[..length];
                    self.received(&mut reassembly, datagram, &from, shared);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::warn!(target: "orbium::event", %error, "no datagrams received");
                    if !shared.pause(RECEIVE_RETRY_PAUSE) {
                        return;
                    }
                }
            }
        }
    }

    fn received(&self, reassembly: &mut Reassembly, datagram: &[u8], from: &Peer, shared: &Shared) {
        let Peer::Internet(from) = from else {
            return;
        };
        let fragment = match Fragment::parse(datagram, self.has_crc) {
            Ok(fragment) => fragment,
            Err(error) => {
                tracing::debug!(target: "orbium::event", %from, ?error, "datagram dropped");
                return;
            }
        };
        let Some(mut message) = reassembly.add(*from, &fragment, Instant::now()) else {
            return;
        };
        match decode(&mut message, fragment.message.order) {
            Ok(event) => shared.offer(slice::from_ref(&event)),
            Err(error) => {
                tracing::debug!(target: "orbium::event", %from, %error, "message dropped");
            }
        }
    }

    /// Wakes the thread that receives.
    pub(crate) fn shutdown(&self) {
        self.socket.shutdown();
    }
}
