// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged components of profiles (CORBA 3.3 Part 2, clause 7.6.4 to 7.6.8).

use core::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode, Encode};

use crate::Version;
use crate::codeset::CodeSetComponentInfo;
use crate::encapsulation::{decode_encapsulation, encapsulate};

macro_rules! tags {
    ($($name:ident $value:literal $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: u32 = $value;)*

        /// The name of a component tag, if it is known.
        #[must_use]
        pub const fn tag_name(tag: u32) -> Option<&'static str> {
            match tag {
                $($name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

tags! {
    TAG_ORB_TYPE 0 "Vendor of the ORB.";
    TAG_CODE_SETS 1 "Code sets of the server.";
    TAG_POLICIES 2 "Policies that the client should know.";
    TAG_ALTERNATE_IIOP_ADDRESS 3 "Another host and port; may repeat.";
    TAG_COMPLETE_OBJECT_KEY 5 "Object key of a multi-component profile.";
    TAG_ENDPOINT_ID_POSITION 6 "Where in the key the endpoint id lies.";
    TAG_LOCATION_POLICY 12 "When to send LocateRequest.";
    TAG_ASSOCIATION_OPTIONS 13 "Security options.";
    TAG_SEC_NAME 14 "Security name.";
    TAG_SPKM_1_SEC_MECH 15 "Security mechanism SPKM 1.";
    TAG_SPKM_2_SEC_MECH 16 "Security mechanism SPKM 2.";
    TAG_KERBEROSV5_SEC_MECH 17 "Security mechanism Kerberos V5.";
    TAG_CSI_ECMA_SECRET_SEC_MECH 18 "Security mechanism CSI ECMA Secret.";
    TAG_CSI_ECMA_HYBRID_SEC_MECH 19 "Security mechanism CSI ECMA Hybrid.";
    TAG_SSL_SEC_TRANS 20 "IIOP over SSL.";
    TAG_CSI_ECMA_PUBLIC_SEC_MECH 21 "Security mechanism CSI ECMA Public.";
    TAG_GENERIC_SEC_MECH 22 "Generic security mechanism.";
    TAG_FIREWALL_TRANS 23 "Firewall.";
    TAG_SCCP_CONTACT_INFO 24 "SS7 contact information.";
    TAG_JAVA_CODEBASE 25 "Where Java classes are found.";
    TAG_TRANSACTION_POLICY 26 "Transaction policy, old form.";
    TAG_FT_GROUP 27 "Fault-tolerant group.";
    TAG_FT_PRIMARY 28 "Primary member of a fault-tolerant group.";
    TAG_FT_HEARTBEAT_ENABLED 29 "Fault-tolerant heartbeat.";
    TAG_MESSAGE_ROUTERS 30 "Routers for time-independent invocation.";
    TAG_OTS_POLICY 31 "Transaction policy.";
    TAG_INV_POLICY 32 "Invocation policy of transactions.";
    TAG_CSI_SEC_MECH_LIST 33 "CSIv2 mechanisms.";
    TAG_NULL_TAG 34 "Nothing.";
    TAG_SECIOP_SEC_TRANS 35 "SECIOP.";
    TAG_TLS_SEC_TRANS 36 "IIOP over TLS.";
    TAG_ACTIVITY_POLICY 37 "Activity policy.";
    TAG_RMI_CUSTOM_MAX_STREAM_FORMAT 38 "Highest RMI stream format.";
    TAG_GROUP 39 "Multicast group.";
    TAG_GROUP_IIOP 40 "IIOP profile of a multicast group.";
    TAG_PASSTHRU_TRANS 41 "Firewall pass-through.";
    TAG_FIREWALL_PATH 42 "Firewall path.";
    TAG_IIOP_SEC_TRANS 43 "Firewall and security.";
    TAG_DCE_STRING_BINDING 100 "DCE-CIOP string binding.";
    TAG_DCE_BINDING_NAME 101 "DCE-CIOP binding name.";
    TAG_DCE_NO_PIPES 102 "DCE-CIOP without pipes.";
    TAG_DCE_SEC_MECH 103 "DCE-CIOP security.";
    TAG_INET_SEC_TRANS 123 "Internet security.";
    TAG_OMNIORB_BIDIR 0x4154_5401 "omniORB: bidirectional callback.";
    TAG_OMNIORB_UNIX_TRANS 0x4154_5402 "omniORB: Unix-domain socket.";
    TAG_OMNIORB_PERSISTENT_ID 0x4154_5403 "omniORB: identity of the server instance.";
    TAG_OMNIORB_RESTRICTED_CONNECTION 0x4154_5404 "omniORB: restricted connection.";
    TAG_OMNIORB_HTTP_TRANS 0x4154_5405 "omniORB: HTTP transport.";
    TAG_TAO_SSL_ENDPOINTS 0x5441_4F01 "TAO: SSL endpoints.";
    TAG_TAO_ENDPOINTS 0x5441_4F02 "TAO: endpoints with priorities.";
}

/// ORB type of omniORB.
pub const ORB_TYPE_OMNIORB: u32 = 0x4154_5400;
/// ORB type of TAO.
pub const ORB_TYPE_TAO: u32 = 0x5441_4F00;
/// ORB type of JacORB.
pub const ORB_TYPE_JACORB: u32 = 0x4A41_4300;
/// ORB type of orbium ("ORB\0"; not registered with the OMG).
pub const ORB_TYPE_ORBIUM: u32 = 0x4F52_4200;

/// The name of an ORB type, if it is known.
#[must_use]
pub const fn orb_name(orb_type: u32) -> Option<&'static str> {
    match orb_type {
        ORB_TYPE_OMNIORB => Some("omniORB"),
        ORB_TYPE_TAO => Some("TAO"),
        ORB_TYPE_JACORB => Some("JacORB"),
        ORB_TYPE_ORBIUM => Some("orbium"),
        _ => None,
    }
}

/// A component as it is in a profile: kept octet for octet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// What the data is.
    pub tag: u32,
    /// The data, usually an encapsulation.
    pub data: Vec<u8>,
}

impl TaggedComponent {
    /// TAG_ORB_TYPE.
    #[must_use]
    pub fn orb_type(orb_type: u32) -> Self {
        Self::encapsulated(TAG_ORB_TYPE, |writer| writer.write_u32(orb_type))
    }

    /// TAG_CODE_SETS.
    #[must_use]
    pub fn code_sets(info: &CodeSetComponentInfo) -> Self {
        Self::encapsulated(TAG_CODE_SETS, |writer| info.write(writer))
    }

    /// TAG_ALTERNATE_IIOP_ADDRESS.
    #[must_use]
    pub fn alternate_address(host: &str, port: u16) -> Self {
        Self::encapsulated(TAG_ALTERNATE_IIOP_ADDRESS, |writer| {
            writer.write_name(host);
            writer.write_u16(port);
        })
    }

    /// omniORB's component for a Unix-domain socket on `host`.
    #[must_use]
    pub fn omniorb_unix(host: &str, path: &str) -> Self {
        Self::encapsulated(TAG_OMNIORB_UNIX_TRANS, |writer| {
            writer.write_name(host);
            writer.write_name(path);
        })
    }

    /// A component whose data is an encapsulation.
    #[must_use]
    pub fn encapsulated(tag: u32, write: impl FnOnce(&mut CdrWriter<'_>)) -> Self {
        Self {
            tag,
            data: encapsulate(write),
        }
    }
}

impl Encode for TaggedComponent {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_u32(self.tag);
        writer.write_octets(&self.data);
    }
}

impl Decode for TaggedComponent {
    const MIN_SIZE: usize = 8;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: reader.read_u32()?,
            data: reader.read_octets()?.to_vec(),
        })
    }
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// Host name or address; IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Association options: bits that say what a secured transport offers or asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AssociationOptions(pub u16);

const OPTION_NAMES: [&str; 12] = [
    "NoProtection",
    "Integrity",
    "Confidentiality",
    "DetectReplay",
    "DetectMisordering",
    "EstablishTrustInTarget",
    "EstablishTrustInClient",
    "NoDelegation",
    "SimpleDelegation",
    "CompositeDelegation",
    "IdentityAssertion",
    "DelegationByClient",
];

impl fmt::Display for AssociationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bits = (0..16).filter(|bit| self.0 & 1 << bit != 0);
        let Some(first) = bits.next() else {
            return f.write_str("none");
        };
        write_bit(f, first)?;
        for bit in bits {
            f.write_str("+")?;
            write_bit(f, bit)?;
        }
        Ok(())
    }
}

fn write_bit(f: &mut fmt::Formatter<'_>, bit: usize) -> fmt::Result {
    match OPTION_NAMES.get(bit) {
        Some(name) => f.write_str(name),
        None => write!(f, "{:#x}", 1 << bit),
    }
}

impl fmt::Debug for AssociationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A policy in TAG_POLICIES: its type and its encapsulated value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyValue {
    /// Policy type.
    pub kind: u32,
    /// The value, an encapsulation.
    pub data: Vec<u8>,
}

/// An endpoint of TAO's endpoint list, with the priority of its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityEndpoint {
    /// Where.
    pub address: HostPort,
    /// CORBA priority; −1 for none.
    pub priority: i16,
}

/// What is inside a component.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Component {
    /// Vendor of the ORB.
    OrbType(u32),
    /// Code sets of the server.
    CodeSets(CodeSetComponentInfo),
    /// Policies, their values left as they are.
    Policies(Vec<PolicyValue>),
    /// Another address of the same endpoint kind.
    AlternateAddress(HostPort),
    /// Object key of a multi-component profile.
    CompleteObjectKey(Vec<u8>),
    /// Where in the key the endpoint id lies: begin and end.
    EndpointIdPosition(u16, u16),
    /// When to send LocateRequest.
    LocationPolicy(u8),
    /// Security options: supported, required.
    AssociationOptions(AssociationOptions, AssociationOptions),
    /// IIOP over SSL.
    Ssl {
        /// What the target supports.
        supports: AssociationOptions,
        /// What the target requires.
        requires: AssociationOptions,
        /// Port, on the host of the profile.
        port: u16,
    },
    /// IIOP over TLS.
    Tls {
        /// What the target supports.
        supports: AssociationOptions,
        /// What the target requires.
        requires: AssociationOptions,
        /// Where.
        addresses: Vec<HostPort>,
    },
    /// Where Java classes are found.
    JavaCodebase(String),
    /// A fault-tolerant or multicast group.
    Group {
        /// Version of the component.
        version: Version,
        /// Domain of the group.
        domain: String,
        /// Id of the group.
        id: u64,
        /// Version of the group's reference.
        reference_version: u32,
    },
    /// Whether this is the primary member of a fault-tolerant group.
    FtPrimary(bool),
    /// Whether heartbeats can be had.
    FtHeartbeat(bool),
    /// Transaction policy.
    OtsPolicy(u16),
    /// Invocation policy of transactions.
    InvPolicy(u16),
    /// CSIv2 mechanisms, left as they are.
    CsiSecMechList(Vec<u8>),
    /// Nothing.
    Null,
    /// Highest RMI stream format.
    RmiStreamFormat(u8),
    /// omniORB: bidirectional callback.
    OmniorbBidir(String),
    /// omniORB: Unix-domain socket.
    OmniorbUnix {
        /// Host name that must be the reader's own.
        host: String,
        /// Path of the socket.
        path: String,
    },
    /// omniORB: identity of the server instance.
    OmniorbPersistentId(Vec<u8>),
    /// omniORB: HTTP transport.
    OmniorbHttp(String),
    /// TAO: endpoints with priorities.
    TaoEndpoints(Vec<PriorityEndpoint>),
    /// Any other: its octets.
    Other {
        /// The tag.
        tag: u32,
        /// The data.
        data: Vec<u8>,
    },
}

impl Component {
    /// Reads a component; one that is not known becomes [`Component::Other`].
    ///
    /// # Errors
    /// [`CdrError`] if the tag is known but the data is malformed.
    pub fn parse(component: &TaggedComponent) -> Result<Self, CdrError> {
        let TaggedComponent { tag, data } = component;
        match *tag {
            TAG_NULL_TAG => Ok(Self::Null),
            TAG_CSI_SEC_MECH_LIST => Ok(Self::CsiSecMechList(data.clone())),
            TAG_OMNIORB_PERSISTENT_ID => Ok(Self::OmniorbPersistentId(data.clone())),
            _ if !Self::is_understood(*tag) => Ok(Self::Other {
                tag: *tag,
                data: data.clone(),
            }),
            _ => decode_encapsulation(data, |reader| Self::read(*tag, reader)),
        }
    }

    const fn is_understood(tag: u32) -> bool {
        matches!(
            tag,
            TAG_ORB_TYPE..=TAG_ALTERNATE_IIOP_ADDRESS
                | TAG_COMPLETE_OBJECT_KEY
                | TAG_ENDPOINT_ID_POSITION
                | TAG_LOCATION_POLICY
                | TAG_ASSOCIATION_OPTIONS
                | TAG_SSL_SEC_TRANS
                | TAG_JAVA_CODEBASE
                | TAG_FT_GROUP..=TAG_FT_HEARTBEAT_ENABLED
                | TAG_OTS_POLICY
                | TAG_INV_POLICY
                | TAG_TLS_SEC_TRANS
                | TAG_RMI_CUSTOM_MAX_STREAM_FORMAT
                | TAG_GROUP
                | TAG_OMNIORB_BIDIR
                | TAG_OMNIORB_UNIX_TRANS
                | TAG_OMNIORB_HTTP_TRANS
                | TAG_TAO_ENDPOINTS
        )
    }

    fn read(tag: u32, reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(match tag {
            TAG_ORB_TYPE => Self::OrbType(reader.read_u32()?),
            TAG_CODE_SETS => Self::CodeSets(CodeSetComponentInfo::read(reader)?),
            TAG_POLICIES => Self::Policies(read_list(reader, 8, read_policy)?),
            TAG_ALTERNATE_IIOP_ADDRESS => Self::AlternateAddress(read_host_port(reader)?),
            TAG_COMPLETE_OBJECT_KEY => Self::CompleteObjectKey(reader.read_octets()?.to_vec()),
            TAG_ENDPOINT_ID_POSITION => {
                Self::EndpointIdPosition(reader.read_u16()?, reader.read_u16()?)
            }
            TAG_LOCATION_POLICY => Self::LocationPolicy(reader.read_u8()?),
            TAG_ASSOCIATION_OPTIONS => {
                Self::AssociationOptions(read_options(reader)?, read_options(reader)?)
            }
            TAG_SSL_SEC_TRANS => Self::Ssl {
                supports: read_options(reader)?,
                requires: read_options(reader)?,
                port: reader.read_u16()?,
            },
            TAG_TLS_SEC_TRANS => Self::Tls {
                supports: read_options(reader)?,
                requires: read_options(reader)?,
                addresses: read_list(reader, 6, read_host_port)?,
            },
            TAG_JAVA_CODEBASE => Self::JavaCodebase(reader.read_name()?.to_owned()),
            TAG_FT_GROUP | TAG_GROUP => Self::Group {
                version: Version {
                    major: reader.read_u8()?,
                    minor: reader.read_u8()?,
                },
                domain: reader.read_name()?.to_owned(),
                id: reader.read_u64()?,
                reference_version: reader.read_u32()?,
            },
            TAG_FT_PRIMARY => Self::FtPrimary(reader.read_bool()?),
            TAG_FT_HEARTBEAT_ENABLED => Self::FtHeartbeat(reader.read_bool()?),
            TAG_OTS_POLICY => Self::OtsPolicy(reader.read_u16()?),
            TAG_INV_POLICY => Self::InvPolicy(reader.read_u16()?),
            TAG_RMI_CUSTOM_MAX_STREAM_FORMAT => Self::RmiStreamFormat(reader.read_u8()?),
            TAG_OMNIORB_BIDIR => Self::OmniorbBidir(reader.read_name()?.to_owned()),
            TAG_OMNIORB_UNIX_TRANS => Self::OmniorbUnix {
                host: reader.read_name()?.to_owned(),
                path: reader.read_name()?.to_owned(),
            },
            TAG_OMNIORB_HTTP_TRANS => Self::OmniorbHttp(reader.read_name()?.to_owned()),
            TAG_TAO_ENDPOINTS => Self::TaoEndpoints(read_list(reader, 8, |reader| {
                Ok(PriorityEndpoint {
                    address: read_host_port(reader)?,
                    priority: reader.read_u16()? as i16,
                })
            })?),
            tag => Self::Other {
                tag,
                data: Vec::new(),
            },
        })
    }
}

fn read_list<T>(
    reader: &mut CdrReader<'_>,
    least: usize,
    read: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<Vec<T>, CdrError> {
    let count = reader.read_count(least)?;
    (0..count).map(|_| read(reader)).collect()
}

fn read_policy(reader: &mut CdrReader<'_>) -> Result<PolicyValue, CdrError> {
    Ok(PolicyValue {
        kind: reader.read_u32()?,
        data: reader.read_octets()?.to_vec(),
    })
}

fn read_host_port(reader: &mut CdrReader<'_>) -> Result<HostPort, CdrError> {
    Ok(HostPort {
        host: reader.read_name()?.to_owned(),
        port: reader.read_u16()?,
    })
}

fn read_options(reader: &mut CdrReader<'_>) -> Result<AssociationOptions, CdrError> {
    reader.read_u16().map(AssociationOptions)
}
