// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols and their properties, as Real-time CORBA has them (RT-CORBA 1.2,
//! clause 5.15): by the tags of their profiles.

use orbium_channel::protocol::names_of_profile;
use orbium_core::{ProtocolPolicy, ProtocolProperties};
use orbium_giop::profile;
use orbium_giop::real_time::{
    ClientProtocolsValue, ExposedProperties, ExposedProtocol, ExposedTcp,
};

/// TCPProtocolProperties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpProtocolProperties {
    /// Octets of the send buffer; 0 for the system's default.
    pub send_buffer_size: i32,
    /// Octets of the receive buffer; 0 for the system's default.
    pub recv_buffer_size: i32,
    /// Probe silent peers.
    pub keep_alive: bool,
    /// Reach attached networks only.
    pub dont_route: bool,
    /// Send small segments at once.
    pub no_delay: bool,
}

impl Default for TcpProtocolProperties {
    fn default() -> Self {
        Self {
            send_buffer_size: 0,
            recv_buffer_size: 0,
            keep_alive: true,
            dont_route: false,
            no_delay: true,
        }
    }
}

/// UnixDomainProtocolProperties, in TAO's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnixDomainProtocolProperties {
    /// Octets of the send buffer; 0 for the system's default.
    pub send_buffer_size: i32,
    /// Octets of the receive buffer; 0 for the system's default.
    pub recv_buffer_size: i32,
}

/// UserDatagramProtocolProperties, in TAO's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserDatagramProtocolProperties {
    /// Whether the priority of a request is also applied to the network.
    pub enable_network_priority: bool,
}

/// Properties of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportProperties {
    /// TCP.
    Tcp(TcpProtocolProperties),
    /// Unix sockets.
    Unix(UnixDomainProtocolProperties),
    /// UDP.
    Datagram(UserDatagramProtocolProperties),
}

/// A protocol and the properties of its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The tag of its profiles: 0 for IIOP, 0x54414F00 for Unix sockets.
    pub protocol_type: u32,
    /// `None` means the defaults.
    pub transport: Option<TransportProperties>,
}

impl Protocol {
    /// IIOP with the defaults.
    pub const IIOP: Self = Self::of(profile::TAG_INTERNET_IOP);
    /// Unix sockets with the defaults.
    pub const UIOP: Self = Self::of(profile::TAG_TAO_UIOP);

    /// The protocol of a tag, with the defaults.
    #[must_use]
    pub const fn of(protocol_type: u32) -> Self {
        Self {
            protocol_type,
            transport: None,
        }
    }

    /// IIOP with these properties.
    #[must_use]
    pub const fn tcp(properties: TcpProtocolProperties) -> Self {
        Self {
            protocol_type: profile::TAG_INTERNET_IOP,
            transport: Some(TransportProperties::Tcp(properties)),
        }
    }

    /// The ORB's names of the protocols with this tag.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        names_of_profile(self.protocol_type)
    }

    fn exposed(&self) -> ExposedProtocol {
        let transport = match self.transport {
            Some(TransportProperties::Tcp(it)) => ExposedProperties::Tcp(exposed_tcp(it)),
            Some(TransportProperties::Unix(it)) => ExposedProperties::Unix {
                send_buffer_size: it.send_buffer_size,
                recv_buffer_size: it.recv_buffer_size,
            },
            Some(TransportProperties::Datagram(it)) => ExposedProperties::Datagram {
                enable_network_priority: it.enable_network_priority,
            },
            None => match self.protocol_type {
                profile::TAG_INTERNET_IOP => {
                    ExposedProperties::Tcp(exposed_tcp(Default::default()))
                }
                profile::TAG_TAO_UIOP => ExposedProperties::Unix {
                    send_buffer_size: 0,
                    recv_buffer_size: 0,
                },
                profile::TAG_TAO_DIOP => ExposedProperties::Datagram {
                    enable_network_priority: false,
                },
                _ => ExposedProperties::None,
            },
        };
        ExposedProtocol {
            protocol_type: self.protocol_type,
            transport,
        }
    }
}

const fn exposed_tcp(it: TcpProtocolProperties) -> ExposedTcp {
    ExposedTcp {
        send_buffer_size: it.send_buffer_size,
        recv_buffer_size: it.recv_buffer_size,
        keep_alive: it.keep_alive,
        dont_route: it.dont_route,
        no_delay: it.no_delay,
    }
}

/// Protocols in order of preference; those not listed are not used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolList(pub Vec<Protocol>);

impl ProtocolList {
    /// The ORB's form of the policy.
    pub(crate) fn policy(&self) -> ProtocolPolicy {
        let names = self.0.iter().flat_map(Protocol::names);
        ProtocolPolicy::new(names.copied())
    }

    /// The value in references.
    pub(crate) fn exposed(&self) -> ClientProtocolsValue {
        ClientProtocolsValue(self.0.iter().map(Protocol::exposed).collect())
    }

    /// The first transport properties, which override those of the ORB.
    pub(crate) fn properties(&self, of_orb: &ProtocolProperties) -> Option<ProtocolProperties> {
        let size = |it: i32| usize::try_from(it).ok().filter(|it| *it > 0);
        let mut asked = self.0.iter().filter_map(|it| it.transport);
        let mut properties = *of_orb;
        match asked.next()? {
            TransportProperties::Tcp(tcp) => {
                properties.send_buffer = size(tcp.send_buffer_size);
                properties.receive_buffer = size(tcp.recv_buffer_size);
                properties.keep_alive = tcp.keep_alive;
                properties.dont_route = tcp.dont_route;
                properties.no_delay = tcp.no_delay;
            }
            TransportProperties::Unix(unix) => {
                properties.send_buffer = size(unix.send_buffer_size);
                properties.receive_buffer = size(unix.recv_buffer_size);
            }
            TransportProperties::Datagram(_) => return None,
        }
        Some(properties)
    }
}
