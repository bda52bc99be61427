// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged components of profiles (CORBA 3.3 Part 2, clause 7.6.4 to 7.6.8).

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode, Encode};

use crate::context::codeset::CodeSetComponentInfo;
use crate::encapsulation::{encapsulate, encode_encapsulation, read_octets, write_octets};

use crate::reference::object_group::ObjectGroup;

pub use crate::reference::component_value::{AssociationOptions, Component};
pub use crate::reference::orb_type::{
    ORB_TYPE_JACORB, ORB_TYPE_OMNIORB, ORB_TYPE_ORBIUM, ORB_TYPE_TAO, orb_name,
};
pub use crate::url::host_port::HostPort;

macro_rules! tags {
    ($($name:ident $value:literal $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: u32 = $value;)*

        /// The name of a component tag, or `None` for an unknown one.
        #[must_use]
        #[inline]
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
    TAG_ENDPOINT_ID_POSITION 6 "The position of the endpoint id in the key.";
    TAG_LOCATION_POLICY 12 "The condition for LocateRequests.";
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
    TAG_JAVA_CODEBASE 25 "The location of Java classes.";
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
    TAG_ORBIUM_HOST 0x4F52_4201 "orbium: the host that a profile of this host alone means.";
    TAG_ORBIUM_QOS 0x4F52_4203 "orbium: the quality of service that the object asks its callers for.";
    TAG_TAO_SSL_ENDPOINTS 0x5441_4F01 "TAO: SSL endpoints.";
    TAG_TAO_ENDPOINTS 0x5441_4F02 "TAO: endpoints with priorities.";
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
    /// The alternate address.
    pub address: HostPort,
    /// CORBA priority; −1 for none.
    pub priority: i16,
}

/// A component in its encoded form, octet for octet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// The tag, which identifies the format of the data.
    pub tag: u32,
    /// The data, usually an encapsulation.
    pub data: Vec<u8>,
}

impl TaggedComponent {
    /// TAG_ORB_TYPE.
    #[must_use]
    pub fn orb_type(orb_type: u32) -> Self {
        Self::tagged(TAG_ORB_TYPE, &|writer| writer.write_u32(orb_type))
    }

    /// TAG_CODE_SETS.
    #[must_use]
    pub fn code_sets(info: &CodeSetComponentInfo) -> Self {
        Self::tagged(TAG_CODE_SETS, &|writer| info.write(writer))
    }

    /// TAG_ALTERNATE_IIOP_ADDRESS.
    #[must_use]
    pub fn alternate_address(host: &str, port: u16) -> Self {
        Self::tagged(TAG_ALTERNATE_IIOP_ADDRESS, &|writer| {
            writer.write_name(host);
            writer.write_u16(port);
        })
    }

    /// omniORB's component for a Unix-domain socket on `host`.
    #[must_use]
    pub fn omniorb_unix(host: &str, path: &str) -> Self {
        Self::tagged(TAG_OMNIORB_UNIX_TRANS, &|writer| {
            writer.write_name(host);
            writer.write_name(path);
        })
    }

    /// TAG_POLICIES.
    #[must_use]
    pub fn policies(policies: &[PolicyValue]) -> Self {
        Self::tagged(TAG_POLICIES, &|writer| {
            writer.write_count(policies.len());
            for policy in policies {
                writer.write_u32(policy.kind);
                write_octets(writer, &policy.data);
            }
        })
    }

    /// TAO's list of endpoints, each with the priority of its lane.
    #[must_use]
    pub fn tao_endpoints(endpoints: &[PriorityEndpoint]) -> Self {
        Self::tagged(TAG_TAO_ENDPOINTS, &|writer| {
            writer.write_count(endpoints.len());
            for endpoint in endpoints {
                writer.write_name(&endpoint.address.host);
                writer.write_u16(endpoint.address.port);
                writer.write_u16(endpoint.priority as u16);
            }
        })
    }

    /// TAG_GROUP.
    #[must_use]
    pub fn group(group: &ObjectGroup) -> Self {
        Self::tagged(TAG_GROUP, &|writer| {
            writer.write_raw(&[group.version.major, group.version.minor]);
            writer.write_name(&group.domain);
            writer.write_u64(group.id);
            writer.write_u32(group.reference_version);
        })
    }

    /// TAG_ORBIUM_HOST: identifies a host and its boot; 16 to 36 octets. Clients on other hosts
    /// ignore the profile.
    #[must_use]
    pub fn orbium_host(boot_id: &[u8]) -> Self {
        Self {
            tag: TAG_ORBIUM_HOST,
            data: boot_id.to_vec(),
        }
    }

    /// A component with an encapsulation as its data.
    #[must_use]
    pub fn encapsulated(tag: u32, write: impl FnOnce(&mut CdrWriter<'_>)) -> Self {
        // See `encapsulate`.
        let data = encode_encapsulation(write).unwrap_or_default();
        Self { tag, data }
    }

    pub(crate) fn tagged(tag: u32, write: &dyn Fn(&mut CdrWriter<'_>)) -> Self {
        let data = encapsulate(write);
        Self { tag, data }
    }
}

impl Encode for TaggedComponent {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_u32(self.tag);
        write_octets(writer, &self.data);
    }
}

impl Decode for TaggedComponent {
    const MIN_SIZE: usize = 8;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: reader.read_u32()?,
            data: read_octets(reader)?,
        })
    }
}
