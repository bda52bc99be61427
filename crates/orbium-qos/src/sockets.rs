// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections and sockets of each communication class.

use std::num::NonZeroU8;

use orbium_core::ProtocolProperties;

use crate::{CommunicationClass, Qos};

/// Bytes of each socket's buffers for bulk data.
const BURST_BUFFER: usize = 4 << 20;

/// Class selector 1: less than best effort.
const LOW_MARK: u8 = 8;

/// Assured forwarding of streams with little loss.
const STREAM_MARK: u8 = 34;

/// Expedited forwarding.
const HIGH_MARK: u8 = 46;

/// Whether a reference has private connections.
pub(crate) const fn is_private(class: CommunicationClass) -> bool {
    !matches!(class, CommunicationClass::Message)
}

/// The properties of the class's sockets, derived from those of the ORB, `base`.
pub(crate) fn properties(
    class: CommunicationClass,
    qos: &Qos,
    base: ProtocolProperties,
) -> ProtocolProperties {
    let mut properties = base;
    match class {
        CommunicationClass::Isochronous => {
            properties.pacing_rate = qos.bandwidth.or(base.pacing_rate);
            properties.dscp = Some(STREAM_MARK);
            properties.multicast_copies = qos.copies.and_then(NonZeroU8::new);
        }
        CommunicationClass::Burst => {
            properties.send_buffer = Some(BURST_BUFFER);
            properties.receive_buffer = Some(BURST_BUFFER);
            properties.pacing_rate = qos.bandwidth.or(base.pacing_rate);
            properties.dscp = Some(LOW_MARK);
        }
        CommunicationClass::Message => {
            properties.no_delay = true;
            properties.quick_ack = Some(true);
            properties.dscp = Some(HIGH_MARK);
        }
        CommunicationClass::MessageStream => {
            properties.no_delay = true;
            properties.dscp = Some(STREAM_MARK);
        }
    }
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets
    #[test]
    fn each_class_marks_and_paces_its_sockets() {
        let qos = Qos {
            bandwidth: Some(1 << 20),
            ..Qos::NONE
        };
        let base = ProtocolProperties {
            no_delay: false,
            ..ProtocolProperties::default()
        };
        let of = |class| {
            let it = properties(class, &qos, base);
            (it.dscp, it.pacing_rate, it.send_buffer, it.no_delay)
        };
        use CommunicationClass as Class;
        let paced = Some(1 << 20);
        assert_eq!(of(Class::Isochronous), (Some(34), paced, None, false));
        assert_eq!(of(Class::Burst), (Some(8), paced, Some(4 << 20), false));
        assert_eq!(of(Class::Message), (Some(46), None, None, true));
        assert_eq!(of(Class::MessageStream), (Some(34), None, None, true));
        let twice = Qos {
            copies: Some(2),
            ..qos
        };
        let media = properties(Class::Isochronous, &twice, base);
        assert_eq!(media.multicast_copies, NonZeroU8::new(2));
        assert!(is_private(Class::Burst) && !is_private(Class::Message));
    }
}
