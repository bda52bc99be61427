// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities of requests as priorities of the network.

use orbium_core::{NetworkMark, Priority};

/// Mapping of CORBA priorities to network marks.
pub trait NetworkPriorityMapping: Send + Sync + 'static {
    /// The network mark; `None` leaves it to the protocol properties.
    fn to_network(&self, corba: Priority) -> Option<NetworkMark>;
}

/// Divides the CORBA priorities evenly into eight classes: the class selectors CS0 to CS7 as code
/// points, but EF, expedited forwarding, for CS5; and queues 0 to 6 of this host, which need no
/// privilege.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DscpMapping;

/// Expedited forwarding.
const EF: u8 = 46;

impl NetworkPriorityMapping for DscpMapping {
    fn to_network(&self, corba: Priority) -> Option<NetworkMark> {
        let class = u8::try_from(corba.number() >> 12).ok()?;
        let dscp = if class == 5 { EF } else { class << 3 };
        Some(NetworkMark {
            dscp,
            socket_priority: Some(u32::from(class.min(6))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: RT - network priority
    #[test]
    fn marks_go_up_with_the_priority_and_are_legal() {
        let marks: Vec<_> = (0..=i16::MAX)
            .filter_map(Priority::new)
            .map(|it| DscpMapping.to_network(it).unwrap())
            .collect();
        assert!(marks.iter().all(|mark| mark.dscp < 64));
        assert!(marks.is_sorted_by_key(|mark| mark.dscp));
        assert!(marks.is_sorted_by_key(|mark| mark.socket_priority));
        assert_eq!(marks[0].dscp, 0);
        assert_eq!(marks[20480].dscp, EF);
        assert_eq!(marks[32767].dscp, 56);
    }
}
