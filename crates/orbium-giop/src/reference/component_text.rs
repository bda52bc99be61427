// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components for people to read.

use core::fmt;

use crate::ObjectGroup;
use crate::context::codeset::CodeSetComponent;
use crate::context::real_time::{self, PriorityBandsValue, PriorityModel, PriorityModelValue};
use crate::reference::component::{Component, HostPort, PolicyValue, PriorityEndpoint, orb_name};

/// Names by value; an empty string is an unassigned value.
const LOCATION_POLICIES: [&str; 4] = [
    "LOCATE_NEVER",
    "LOCATE_OBJECT",
    "LOCATE_OPERATION",
    "LOCATE_ALWAYS",
];
const OTS_POLICIES: [&str; 4] = ["", "REQUIRES", "FORBIDS", "ADAPTS"];
const INVOCATION_POLICIES: [&str; 3] = ["EITHER", "SHARED", "UNSHARED"];

/// The name of a number, or the number.
fn write_named(f: &mut fmt::Formatter<'_>, number: u32, names: &[&str]) -> fmt::Result {
    match names.get(number as usize) {
        Some(name) if !name.is_empty() => f.write_str(name),
        _ => write!(f, "{number}"),
    }
}

impl fmt::Display for Component {
    /// The contents of the component in one line, without its tag.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrbType(orb) => match orb_name(*orb) {
                Some(name) => f.write_str(name),
                None => write!(f, "{orb:#010x}"),
            },
            Self::CodeSets(info) => {
                f.write_str("char ")?;
                write_code_sets(f, &info.char_data)?;
                f.write_str("; wchar ")?;
                write_code_sets(f, &info.wchar_data)
            }
            Self::Policies(policies) => write_list(f, policies, write_policy),
            Self::AlternateAddress(address) => address.fmt(f),
            Self::CompleteObjectKey(octets)
            | Self::CsiSecMechList(octets)
            | Self::OmniorbPersistentId(octets)
            | Self::Other { data: octets, .. } => write_hex(f, octets),
            Self::EndpointIdPosition(begin, end) => write!(f, "octets {begin} to {end}"),
            Self::LocationPolicy(policy) => write_named(f, u32::from(*policy), &LOCATION_POLICIES),
            Self::AssociationOptions(supports, requires) => {
                write!(f, "supports {supports}; requires {requires}")
            }
            Self::Ssl {
                supports,
                requires,
                port,
            } => write!(f, "port {port}; supports {supports}; requires {requires}"),
            Self::Tls {
                supports,
                requires,
                addresses,
            } => {
                write_list(f, addresses, HostPort::fmt)?;
                write!(f, "; supports {supports}; requires {requires}")
            }
            Self::Group(ObjectGroup {
                version,
                domain,
                id,
                reference_version,
            }) => write!(
                f,
                "domain {domain:?} group {id} reference version {reference_version} ({version})"
            ),
            // A boot id is text on Linux.
            Self::OrbiumHost(id) if id.iter().all(u8::is_ascii_graphic) => {
                write!(f, "boot {}", id.escape_ascii())
            }
            Self::OrbiumHost(id) => {
                f.write_str("boot ")?;
                write_hex(f, id)
            }
            Self::FtPrimary(yes) | Self::FtHeartbeat(yes) => write!(f, "{yes}"),
            Self::OtsPolicy(policy) => write_named(f, u32::from(*policy), &OTS_POLICIES),
            Self::InvPolicy(policy) => write_named(f, u32::from(*policy), &INVOCATION_POLICIES),
            Self::Null => Ok(()),
            Self::RmiStreamFormat(format) => write!(f, "{format}"),
            // Text from a reference is untrusted: it is shown quoted.
            Self::JavaCodebase(text) | Self::OmniorbBidir(text) | Self::OmniorbHttp(text) => {
                write!(f, "{text:?}")
            }
            Self::OmniorbUnix { host, path } => write!(f, "{path:?} on {host:?}"),
            Self::TaoEndpoints(endpoints) => write_list(f, endpoints, PriorityEndpoint::fmt),
        }
    }
}

fn write_policy(policy: &PolicyValue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match policy.kind {
        real_time::PRIORITY_MODEL_POLICY => {
            if let Ok(value) = PriorityModelValue::decode(&policy.data) {
                let model = match value.model {
                    PriorityModel::ClientPropagated => "CLIENT_PROPAGATED",
                    PriorityModel::ServerDeclared => "SERVER_DECLARED",
                };
                return write!(f, "{model} priority {}", value.server_priority);
            }
        }
        real_time::PRIORITY_BANDED_CONNECTION_POLICY => {
            if let Ok(PriorityBandsValue(bands)) = PriorityBandsValue::decode(&policy.data) {
                f.write_str("bands ")?;
                return write_list(f, &bands, |band, f| {
                    write!(f, "{} to {}", band.low, band.high)
                });
            }
        }
        _ => {}
    }
    write!(f, "type {} value ", policy.kind)?;
    write_hex(f, &policy.data)
}

impl fmt::Display for PriorityEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} priority {}", self.address, self.priority)
    }
}

fn write_code_sets(f: &mut fmt::Formatter<'_>, sets: &CodeSetComponent) -> fmt::Result {
    write!(f, "{}", sets.native)?;
    if !sets.conversion.is_empty() {
        f.write_str(" (converts ")?;
        write_list(f, &sets.conversion, |set, f| write!(f, "{set}"))?;
        f.write_str(")")?;
    }
    Ok(())
}

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write(item, f)?;
    }
    Ok(())
}

fn write_hex(f: &mut fmt::Formatter<'_>, octets: &[u8]) -> fmt::Result {
    octets.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
}
