// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of tagged components.

use core::fmt;
use core::ops::RangeInclusive;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::Version;
use crate::context::codeset::CodeSetComponentInfo;
use crate::encapsulation::{decode_encapsulation, read_list, read_octets, read_text};
use crate::reference::component::*;
use crate::reference::object_group::ObjectGroup;
use crate::url::host_port::HostPort;

/// Octets that name a host: a UUID as octets, or as text.
const BOOT_ID_LEN: RangeInclusive<usize> = 16..=36;

/// Association options: bits of what a secured transport supports or requires.
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

/// Value of a tagged component.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Component {
    /// Vendor of the ORB.
    OrbType(u32),
    /// Code sets of the server.
    CodeSets(CodeSetComponentInfo),
    /// Policies with undecoded values.
    Policies(Vec<PolicyValue>),
    /// Another address of the same endpoint kind.
    AlternateAddress(HostPort),
    /// Object key of a multi-component profile.
    CompleteObjectKey(Vec<u8>),
    /// Position of the endpoint id in the key: begin and end.
    EndpointIdPosition(u16, u16),
    /// Whether and when clients send LocateRequest.
    LocationPolicy(u8),
    /// Security options: supported, required.
    AssociationOptions(AssociationOptions, AssociationOptions),
    /// IIOP over SSL.
    Ssl {
        /// The options that the target supports.
        supports: AssociationOptions,
        /// The options that the target requires.
        requires: AssociationOptions,
        /// Port, on the host of the profile.
        port: u16,
    },
    /// IIOP over TLS.
    Tls {
        /// The options that the target supports.
        supports: AssociationOptions,
        /// The options that the target requires.
        requires: AssociationOptions,
        /// The addresses.
        addresses: Vec<HostPort>,
    },
    /// The URL of Java classes.
    JavaCodebase(String),
    /// A fault-tolerant or multicast group.
    Group(ObjectGroup),
    /// Whether this is the primary member of a fault-tolerant group.
    FtPrimary(bool),
    /// Whether heartbeats are supported.
    FtHeartbeat(bool),
    /// Transaction policy.
    OtsPolicy(u16),
    /// Invocation policy of transactions.
    InvPolicy(u16),
    /// CSIv2 mechanisms, undecoded.
    CsiSecMechList(Vec<u8>),
    /// No data.
    Null,
    /// Highest RMI stream format.
    RmiStreamFormat(u8),
    /// omniORB: bidirectional callback.
    OmniorbBidir(String),
    /// omniORB: Unix-domain socket.
    OmniorbUnix {
        /// Host name that must be that of the reader.
        host: String,
        /// Path of the socket.
        path: String,
    },
    /// omniORB: identity of the server instance.
    OmniorbPersistentId(Vec<u8>),
    /// omniORB: HTTP transport.
    OmniorbHttp(String),
    /// orbium: identifies the host and its boot.
    OrbiumHost(Vec<u8>),
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
    /// Reads a component; one with an unknown tag becomes [`Component::Other`].
    ///
    /// # Errors
    /// [`CdrError`] if the tag is known but the data is malformed.
    pub fn parse(component: &TaggedComponent) -> Result<Self, CdrError> {
        let TaggedComponent { tag, data } = component;
        match *tag {
            TAG_NULL_TAG => Ok(Self::Null),
            TAG_CSI_SEC_MECH_LIST => Ok(Self::CsiSecMechList(data.clone())),
            TAG_OMNIORB_PERSISTENT_ID => Ok(Self::OmniorbPersistentId(data.clone())),
            TAG_ORBIUM_HOST if !BOOT_ID_LEN.contains(&data.len()) => {
                Err(CdrError::new(CdrErrorKind::BadReference, 0))
            }
            TAG_ORBIUM_HOST => Ok(Self::OrbiumHost(data.clone())),
            _ if !Self::is_understood(*tag) => Ok(Self::Other {
                tag: *tag,
                data: data.clone(),
            }),
            _ => decode_encapsulation(data, |reader| Self::read(*tag, reader)),
        }
    }

    /// The policies of a component, if it has some and is not malformed.
    pub(crate) fn policies_of(component: &TaggedComponent) -> Option<Vec<PolicyValue>> {
        match Self::parse(component) {
            Ok(Self::Policies(policies)) => Some(policies),
            _ => None,
        }
    }

    /// The group of a component, if it has one and is not malformed.
    pub(crate) fn group_of(component: &TaggedComponent) -> Option<ObjectGroup> {
        match Self::parse(component) {
            Ok(Self::Group(group)) => Some(group),
            _ => None,
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
            TAG_COMPLETE_OBJECT_KEY => Self::CompleteObjectKey(read_octets(reader)?),
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
            TAG_JAVA_CODEBASE => Self::JavaCodebase(read_text(reader)?),
            TAG_FT_GROUP | TAG_GROUP => Self::Group(ObjectGroup {
                version: Version {
                    major: reader.read_u8()?,
                    minor: reader.read_u8()?,
                },
                domain: read_text(reader)?,
                id: reader.read_u64()?,
                reference_version: reader.read_u32()?,
            }),
            TAG_FT_PRIMARY => Self::FtPrimary(reader.read_bool()?),
            TAG_FT_HEARTBEAT_ENABLED => Self::FtHeartbeat(reader.read_bool()?),
            TAG_OTS_POLICY => Self::OtsPolicy(reader.read_u16()?),
            TAG_INV_POLICY => Self::InvPolicy(reader.read_u16()?),
            TAG_RMI_CUSTOM_MAX_STREAM_FORMAT => Self::RmiStreamFormat(reader.read_u8()?),
            TAG_OMNIORB_BIDIR => Self::OmniorbBidir(read_text(reader)?),
            TAG_OMNIORB_UNIX_TRANS => Self::OmniorbUnix {
                host: read_text(reader)?,
                path: read_text(reader)?,
            },
            TAG_OMNIORB_HTTP_TRANS => Self::OmniorbHttp(read_text(reader)?),
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

fn read_policy(reader: &mut CdrReader<'_>) -> Result<PolicyValue, CdrError> {
    Ok(PolicyValue {
        kind: reader.read_u32()?,
        data: read_octets(reader)?,
    })
}

fn read_host_port(reader: &mut CdrReader<'_>) -> Result<HostPort, CdrError> {
    Ok(HostPort {
        host: read_text(reader)?,
        port: reader.read_u16()?,
    })
}

fn read_options(reader: &mut CdrReader<'_>) -> Result<AssociationOptions, CdrError> {
    reader.read_u16().map(AssociationOptions)
}
