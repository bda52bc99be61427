// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP to one receiver. Groups are in a separate module.

mod multicast;

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_sys as sys;
use sys::fork::Held;

use crate::resolve::{Resolved, publication, resolve};
use crate::{
    DatagramTransport, Datagrams, Deadline, Endpoint, EndpointError, HostPort, ListenError, Peer,
    ProtocolProperties,
};
pub use multicast::Multicast;

/// UDP to one receiver: endpoints `diop://host:port`, with `publish=host:port` for the address for
/// clients if it differs, and the protocol properties of [`ProtocolProperties::UDP_NAMES`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Udp;

/// Octets of the largest datagram that IPv4 carries.
const MAX_DATAGRAM_LENGTH: usize = 65_507;

impl DatagramTransport for Udp {
    fn scheme(&self) -> &'static str {
        "diop"
    }

    fn bind(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Datagrams>, ListenError> {
        endpoint.check_parameters(&[&["publish"], ProtocolProperties::UDP_NAMES].concat())?;
        let properties = endpoint.properties(properties, ProtocolProperties::UDP_NAMES)?;
        let at: HostPort = endpoint.address.parse()?;
        let publish = endpoint.parameter("publish").map(str::parse).transpose()?;
        let addresses = if at.host.is_empty() {
            // One socket for both families if the host supports both.
            let any = [IpAddr::from([0u16; 8]), IpAddr::from([0u8; 4])];
            any.map(|ip| SocketAddr::new(ip, at.port)).to_vec()
        } else {
            resolve(&at)?
        };
        let socket = first(&addresses, |address| sys::receive_at(address, &properties))?;
        let address = publication(&at, publish, socket.local_addr()?).to_string();
        Ok(Box::new(UdpDatagrams::new(
            socket,
            address,
            MAX_DATAGRAM_LENGTH,
        )))
    }

    fn open(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        deadline: Deadline,
    ) -> io::Result<Box<dyn Datagrams>> {
        let at: HostPort = address.parse().map_err(invalid)?;
        if at.host.is_empty() || at.port == 0 {
            return Err(invalid(EndpointError::BadHost(address.to_owned())));
        }
        let addresses = Resolved::new(at).addresses(deadline)?;
        let socket = first(&addresses, |address| sys::send_to(address, properties))?;
        let address = address.to_owned();
        Ok(Box::new(UdpDatagrams::new(
            socket,
            address,
            MAX_DATAGRAM_LENGTH,
        )))
    }
}

fn invalid(error: EndpointError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// The first socket that can be opened; the last error if there is none.
fn first(
    addresses: &[SocketAddr],
    open: impl Fn(SocketAddr) -> io::Result<UdpSocket>,
) -> io::Result<UdpSocket> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match open(*address) {
            Ok(socket) => return Ok(socket),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// A UDP socket, bound or connected.
#[derive(Debug)]
struct UdpDatagrams {
    _held: Held,
    socket: UdpSocket,
    address: String,
    largest: usize,
    ended: AtomicBool,
}

impl UdpDatagrams {
    fn new(socket: UdpSocket, address: String, largest: usize) -> Self {
        Self {
            _held: Held::new(&socket),
            socket,
            address,
            largest,
            ended: AtomicBool::new(false),
        }
    }
}

impl Datagrams for UdpDatagrams {
    fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Peer)> {
        if self.ended.load(Ordering::Acquire) {
            return Ok((0, Peer::Unknown));
        }
        match sys::receive_datagram(&self.socket, room)? {
            (length, Some(sender)) => Ok((length, Peer::Internet(sender))),
            (_, None) => Ok((0, Peer::Unknown)),
        }
    }

    fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        sys::send_datagram(&self.socket, pieces)
    }

    fn largest(&self) -> usize {
        self.largest
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        sys::set_timeouts(&self.socket, Some(timeout), None)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self) {
        // Before the wake-up, so that a woken thread sees it.
        self.ended.store(true, Ordering::Release);
        sys::shut_down_datagrams(&self.socket);
    }

    fn source(&self) -> &dyn AsFd {
        &self.socket
    }

    fn address(&self) -> &str {
        &self.address
    }
}
