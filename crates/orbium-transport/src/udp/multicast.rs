// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP to a group of receivers.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use orbium_sys as sys;

use super::{UdpDatagrams, invalid};
use crate::{
    DatagramTransport, Datagrams, Deadline, Endpoint, EndpointError, HostPort, ListenError,
    ProtocolProperties,
};

/// UDP to a group: endpoints `miop://group:port`, where the group is a multicast
/// address of IPv4, or of IPv6 in brackets.
///
/// `interface` selects where to receive: the name or index of an interface, or one of its IPv4
/// addresses. Without it the routing table decides. `ttl` and `loop` apply to sent datagrams (see
/// [`ProtocolProperties::multicast_ttl`] and [`ProtocolProperties::multicast_loop`]); senders have
/// them in their properties, like the interface. The protocol properties of
/// [`ProtocolProperties::UDP_NAMES`] are also accepted.
///
/// Any number of sockets on a host receive from the same group and port, each of them all
/// datagrams. A datagram is no larger than an Ethernet frame or the path to the group permits, as
/// the loss of one part loses the whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multicast;

/// Short names of parameters, and the properties that they are.
const NAMES: [(&str, &str); 3] = [
    ("interface", "multicast_interface"),
    ("ttl", "multicast_ttl"),
    ("loop", "multicast_loop"),
];

/// Octets that an Ethernet frame carries.
const FRAME: usize = 1500;

impl DatagramTransport for Multicast {
    fn scheme(&self) -> &'static str {
        "miop"
    }

    fn bind(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Datagrams>, ListenError> {
        let own = NAMES.map(|(name, _)| name);
        endpoint.check_parameters(&[&own, ProtocolProperties::UDP_NAMES].concat())?;
        let mut properties = endpoint.properties(properties, ProtocolProperties::UDP_NAMES)?;
        for (name, property) in NAMES {
            if let Some(value) = endpoint.parameter(name)
                && properties.set(property, value).is_err()
            {
                return Err(EndpointError::BadParameter(format!("{name}={value}")).into());
            }
        }
        let group = group(&endpoint.address)?;
        let socket = sys::receive_from_group(group, &properties)?;
        let at = HostPort {
            host: group.ip().to_string(),
            port: socket.local_addr()?.port(),
        };
        let largest = largest(group, None);
        Ok(Box::new(UdpDatagrams::new(socket, at.to_string(), largest)))
    }

    fn open(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        _deadline: Deadline,
    ) -> io::Result<Box<dyn Datagrams>> {
        let group = group(address).map_err(invalid)?;
        if group.port() == 0 {
            return Err(invalid(EndpointError::BadPort(address.to_owned())));
        }
        let socket = sys::send_to_group(group, properties)?;
        let largest = largest(group, Some(&socket));
        let address = address.to_owned();
        Ok(Box::new(UdpDatagrams::new(socket, address, largest)))
    }
}

/// The group of an address. No name is looked up, as a group has none.
fn group(address: &str) -> Result<SocketAddr, EndpointError> {
    let at: HostPort = address.parse()?;
    let group = at.host.parse::<IpAddr>().ok();
    let group = group.filter(IpAddr::is_multicast);
    let group = group.ok_or_else(|| EndpointError::BadHost(address.to_owned()))?;
    Ok(SocketAddr::new(group, at.port))
}

/// Octets of the largest datagram: the capacity of a frame, or less if the path to the group
/// requires it.
fn largest(group: SocketAddr, sender: Option<&UdpSocket>) -> usize {
    let headers = match group.ip() {
        IpAddr::V4(_) => 20 + 8,
        IpAddr::V6(_) => 40 + 8,
    };
    let known = sender.and_then(sys::path_mtu);
    // RFC 791: every path carries at least that.
    let frame = known.unwrap_or(FRAME).clamp(68, FRAME);
    frame - headers
}
