// SPDX-License-Identifier: MIT OR Apache-2.0
//! Additions of Real-time CORBA to requests and references (RT-CORBA 1.2, clauses 5.7, 5.11,
//! 5.12 and 5.15): the priority of a request, ranges of priorities, and policies that a server
//! publishes.
//!
//! Numbers are returned unchecked: the caller checks priorities and bands for validity.

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter};

use crate::reference::component::{PolicyValue, TAG_POLICIES};

use crate::encapsulation::{decode_encapsulation, encapsulate, read_list};
use crate::message::header::u32_from;
use crate::reference::profile;
use crate::{Component, TaggedComponent};

/// PolicyType of PriorityModelPolicy.
pub const PRIORITY_MODEL_POLICY: u32 = 40;
/// PolicyType of ThreadpoolPolicy.
pub const THREADPOOL_POLICY: u32 = 41;
/// PolicyType of ServerProtocolPolicy.
pub const SERVER_PROTOCOL_POLICY: u32 = 42;
/// PolicyType of ClientProtocolPolicy.
pub const CLIENT_PROTOCOL_POLICY: u32 = 43;
/// PolicyType of PrivateConnectionPolicy.
pub const PRIVATE_CONNECTION_POLICY: u32 = 44;
/// PolicyType of PriorityBandedConnectionPolicy.
pub const PRIORITY_BANDED_CONNECTION_POLICY: u32 = 45;

/// Bands that are read from a reference at most.
const MAX_BANDS: usize = 1024;

/// The data of the service context `RTCorbaPriority`.
#[must_use]
#[inline]
pub fn priority_context(priority: i16) -> [u8; 4] {
    let [a, b] = priority.to_ne_bytes();
    [ByteOrder::NATIVE.flag(), 0, a, b]
}

/// The priority in the data of a service context `RTCorbaPriority`.
///
/// # Errors
/// [`CdrErrorKind::Truncated`].
#[inline]
pub fn read_priority_context(data: &[u8]) -> Result<i16, CdrError> {
    match data {
        [flag, _, a, b, ..] => Ok(short([*a, *b], ByteOrder::from_flag(*flag))),
        _ => Err(CdrError::new(CdrErrorKind::Truncated, data.len())),
    }
}

/// The data of the service context `RTCorbaPriorityRange`.
#[must_use]
pub fn priority_range_context(range: PriorityBand) -> [u8; 6] {
    let [a, b] = range.low.to_ne_bytes();
    let [c, d] = range.high.to_ne_bytes();
    [ByteOrder::NATIVE.flag(), 0, a, b, c, d]
}

/// The range in the data of a service context `RTCorbaPriorityRange`.
///
/// # Errors
/// [`CdrErrorKind::Truncated`].
pub fn read_priority_range_context(data: &[u8]) -> Result<PriorityBand, CdrError> {
    match data {
        [flag, _, a, b, c, d, ..] => {
            let order = ByteOrder::from_flag(*flag);
            Ok(PriorityBand {
                low: short([*a, *b], order),
                high: short([*c, *d], order),
            })
        }
        _ => Err(CdrError::new(CdrErrorKind::Truncated, data.len())),
    }
}

fn short([a, b]: [u8; 2], order: ByteOrder) -> i16 {
    // The upper half of a long in either order.
    (u32_from([a, b, a, b], order) >> 16) as i16
}

/// A range of priorities, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PriorityBand {
    /// The lowest.
    pub low: i16,
    /// The highest.
    pub high: i16,
}

/// The priority model: which side determines the priority at which a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum PriorityModel {
    /// The client: requests carry the priority of its thread.
    ClientPropagated = 0,
    /// The server: each object has a priority.
    ServerDeclared = 1,
}

/// The value of PriorityModelPolicy in a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PriorityModelValue {
    /// The model.
    pub model: PriorityModel,
    /// The priority of the object, or of requests without one.
    pub server_priority: i16,
}

impl PriorityModelValue {
    /// The policy, for TAG_POLICIES.
    #[must_use]
    pub fn to_policy(self) -> PolicyValue {
        PolicyValue {
            kind: PRIORITY_MODEL_POLICY,
            data: encapsulate(|writer| {
                writer.write_u32(self.model as u32);
                writer.write_u16(self.server_priority as u16);
            }),
        }
    }

    /// Reads the value of a policy of this type.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], [`CdrErrorKind::BadEnumerator`].
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            let model = match reader.read_u32()? {
                0 => PriorityModel::ClientPropagated,
                1 => PriorityModel::ServerDeclared,
                _ => return Err(reader.error(CdrErrorKind::BadEnumerator)),
            };
            Ok(Self {
                model,
                server_priority: reader.read_u16()? as i16,
            })
        })
    }
}

/// The value of PriorityBandedConnectionPolicy in a reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PriorityBandsValue(pub Vec<PriorityBand>);

impl PriorityBandsValue {
    /// The policy, for TAG_POLICIES.
    #[must_use]
    pub fn to_policy(&self) -> PolicyValue {
        PolicyValue {
            kind: PRIORITY_BANDED_CONNECTION_POLICY,
            data: encapsulate(|writer| {
                writer.write_count(self.0.len());
                for band in &self.0 {
                    writer.write_u16(band.low as u16);
                    writer.write_u16(band.high as u16);
                }
            }),
        }
    }

    /// Reads the value of a policy of this type.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], [`CdrErrorKind::CountTooLarge`].
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            let count = reader.read_count(4)?;
            if count > MAX_BANDS {
                return Err(reader.error(CdrErrorKind::CountTooLarge));
            }
            let mut bands = Vec::new();
            for _ in 0..count {
                bands.push(PriorityBand {
                    low: reader.read_u16()? as i16,
                    high: reader.read_u16()? as i16,
                });
            }
            Ok(Self(bands))
        })
    }
}

/// A protocol of ClientProtocolPolicy in a reference: its tag and the properties of its transport.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExposedProtocol {
    /// The tag of its profiles.
    pub protocol_type: u32,
    /// The properties of its transport.
    pub transport: ExposedProperties,
}

/// Transport properties in TAO's encoding: the attributes in order, without a discriminator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExposedProperties {
    /// No properties of this transport are known.
    None,
    /// TCPProtocolProperties.
    Tcp(ExposedTcp),
    /// UnixDomainProtocolProperties.
    Unix {
        /// Octets of the send buffer; 0 for the system's default.
        send_buffer_size: i32,
        /// Octets of the receive buffer; 0 for the system's default.
        recv_buffer_size: i32,
    },
    /// UserDatagramProtocolProperties.
    Datagram {
        /// Whether the priority of a request is also applied to the network.
        enable_network_priority: bool,
    },
}

/// TCPProtocolProperties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExposedTcp {
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

/// The value of ClientProtocolPolicy in a reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientProtocolsValue(pub Vec<ExposedProtocol>);

impl ClientProtocolsValue {
    /// The policy, for TAG_POLICIES.
    #[must_use]
    pub fn to_policy(&self) -> PolicyValue {
        PolicyValue {
            kind: CLIENT_PROTOCOL_POLICY,
            data: encapsulate(|writer| {
                writer.write_count(self.0.len());
                for protocol in &self.0 {
                    writer.write_u32(protocol.protocol_type);
                    protocol.transport.write(writer);
                }
            }),
        }
    }

    /// Reads the value of a policy of this type. Only protocols with known properties can be read,
    /// as the encoding has no length of the others.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], [`CdrErrorKind::CountTooLarge`],
    /// [`CdrErrorKind::NotSupported`].
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            let protocols = read_list(reader, 4, |reader| {
                let protocol_type = reader.read_u32()?;
                let transport = ExposedProperties::read(reader, protocol_type)?;
                Ok(ExposedProtocol {
                    protocol_type,
                    transport,
                })
            });
            protocols.map(Self)
        })
    }
}

impl ExposedProperties {
    fn write(&self, writer: &mut CdrWriter<'_>) {
        match self {
            Self::None => {}
            Self::Tcp(tcp) => {
                writer.write_u32(tcp.send_buffer_size as u32);
                writer.write_u32(tcp.recv_buffer_size as u32);
                for flag in [tcp.keep_alive, tcp.dont_route, tcp.no_delay] {
                    writer.write_bool(flag);
                }
            }
            Self::Unix {
                send_buffer_size,
                recv_buffer_size,
            } => {
                writer.write_u32(*send_buffer_size as u32);
                writer.write_u32(*recv_buffer_size as u32);
            }
            Self::Datagram {
                enable_network_priority,
            } => writer.write_bool(*enable_network_priority),
        }
    }

    fn read(reader: &mut CdrReader<'_>, protocol_type: u32) -> Result<Self, CdrError> {
        Ok(match protocol_type {
            profile::TAG_INTERNET_IOP => Self::Tcp(ExposedTcp {
                send_buffer_size: reader.read_u32()? as i32,
                recv_buffer_size: reader.read_u32()? as i32,
                keep_alive: reader.read_bool()?,
                dont_route: reader.read_bool()?,
                no_delay: reader.read_bool()?,
            }),
            profile::TAG_TAO_UIOP => Self::Unix {
                send_buffer_size: reader.read_u32()? as i32,
                recv_buffer_size: reader.read_u32()? as i32,
            },
            profile::TAG_TAO_DIOP => Self::Datagram {
                enable_network_priority: reader.read_bool()?,
            },
            profile::TAG_ORBIUM_IOP => Self::None,
            _ => return Err(reader.error(CdrErrorKind::NotSupported)),
        })
    }
}

/// Priority policies of a reference: the policies of RT-CORBA among its
/// components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedPolicies {
    /// PriorityModelPolicy.
    pub priority_model: Option<PriorityModelValue>,
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<PriorityBandsValue>,
    /// Whether the components include a ClientProtocolPolicy.
    pub has_client_protocols: bool,
    /// ClientProtocolPolicy, if all of it is understood.
    pub client_protocols: Option<ClientProtocolsValue>,
}

impl PublishedPolicies {
    /// Extracts the policies from components. Malformed ones are ignored, like unknown components.
    #[must_use]
    pub fn find(components: &[TaggedComponent]) -> Self {
        let mut found = Self::default();
        for component in components.iter().filter(|it| it.tag == TAG_POLICIES) {
            for policy in Component::policies_of(component).iter().flatten() {
                found.take(policy);
            }
        }
        found
    }

    fn take(&mut self, policy: &PolicyValue) {
        let data = &policy.data;
        match policy.kind {
            PRIORITY_MODEL_POLICY => self.priority_model = PriorityModelValue::decode(data).ok(),
            PRIORITY_BANDED_CONNECTION_POLICY => {
                self.bands = PriorityBandsValue::decode(data).ok();
            }
            CLIENT_PROTOCOL_POLICY => {
                self.has_client_protocols = true;
                self.client_protocols = ClientProtocolsValue::decode(data).ok();
            }
            _ => {}
        }
    }

    /// Whether requests carry the priority of the calling thread.
    #[must_use]
    pub fn is_client_propagated(&self) -> bool {
        let model = self.priority_model;
        model.is_some_and(|it| it.model == PriorityModel::ClientPropagated)
    }
}
