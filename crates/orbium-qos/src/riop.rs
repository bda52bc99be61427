// SPDX-License-Identifier: MIT OR Apache-2.0
//! RIOP's service context ([`orbium_giop::riop`]) from and to a quality of service.

use std::time::Duration;

use orbium_core::Priority;
use orbium_giop::riop::Riop;
use orbium_sched::{Criticality, Importance};

use crate::{CommunicationClass, Qos, QosError};

pub use orbium_giop::riop::{LEN, RiopError};

/// The id of the service context.
pub const RIOP_CONTEXT: u32 = orbium_giop::service_context::ORBIUM_RIOP;

/// Nanoseconds of a unit of time.
const TICK: u128 = 100;

/// The data of the context.
///
/// # Errors
/// [`QosError::TooLong`]: a time beyond the wire's.
pub fn encode(qos: &Qos) -> Result<[u8; LEN], QosError> {
    let said = Riop {
        class: qos.class.map(|class| class as u8),
        priority: qos.priority.map(Priority::number),
        period: ticks(qos.period, "period")?,
        deadline: ticks(qos.deadline, "deadline")?,
        importance: qos.importance.map(|it| it as u8),
        criticality: qos.criticality.map(|it| it as u8),
    };
    Ok(said.encode())
}

/// In whole units; at least one if it is set.
fn ticks(time: Option<Duration>, field: &'static str) -> Result<u64, QosError> {
    let ticks = time.map_or(0, |time| time.as_nanos().div_ceil(TICK).max(1));
    u64::try_from(ticks).map_err(|_| QosError::TooLong(field))
}

/// The quality of service in the data of a context.
///
/// # Errors
/// [`RiopError`]: the data are malformed.
pub fn decode(data: &[u8]) -> Result<Qos, RiopError> {
    Riop::decode(data).map(Qos::from)
}

impl From<Riop> for Qos {
    /// Values that are not a valid class, priority or degree are omitted.
    fn from(said: Riop) -> Self {
        let degree = |it: Option<u8>| it.map(usize::from);
        let class = |at| CommunicationClass::ALL.get(at).copied();
        let importance = |at| Importance::ALL.get(at).copied();
        let criticality = |at| Criticality::ALL.get(at).copied();
        Self {
            class: degree(said.class).and_then(class),
            priority: said.priority.and_then(Priority::new),
            period: said.period(),
            deadline: said.deadline(),
            importance: degree(said.importance).and_then(importance),
            criticality: degree(said.criticality).and_then(criticality),
            ..Self::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Qos {
        Qos {
            priority: Priority::new(77),
            period: Some(Duration::from_millis(50)),
            deadline: Some(Duration::from_nanos(1100)),
            criticality: Some(Criticality::VeryHigh),
            importance: Some(Importance::Low),
            class: Some(CommunicationClass::MessageStream),
            ..Qos::NONE
        }
    }

    /// Conformance: RT - RIOP: the service context, written and read, hostile ones
    #[test]
    fn contexts_are_read_back_in_both_byte_orders() {
        assert_eq!(decode(&encode(&some()).unwrap()), Ok(some()));
        assert_eq!(decode(&encode(&Qos::NONE).unwrap()), Ok(Qos::NONE));
        let big = [
            0, 3, 0, 77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0xA1, 0x20, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0,
            0, 1, 0, 0, 0, 4,
        ];
        assert_eq!(decode(&big), Ok(some()));
        // Additions of a later version.
        let longer = [&big[..], &[1, 2, 3]].concat();
        assert_eq!(decode(&longer), Ok(some()));
    }

    /// Conformance: RT - RIOP: the service context, written and read, hostile ones
    #[test]
    fn malformed_contexts_are_refused_and_nothing_panics() {
        let good = encode(&some()).unwrap();
        for len in 0..LEN {
            assert_eq!(decode(&good[..len]), Err(RiopError::Truncated));
        }
        for place in 0..LEN {
            for octet in 0..=255 {
                let mut other = good;
                other[place] = octet;
                if let Ok(qos) = decode(&other) {
                    // Any value that can be read can be written.
                    assert_eq!(decode(&encode(&qos).unwrap()), Ok(qos));
                }
            }
        }
        let mut other = good;
        other[0] = 2;
        assert_eq!(decode(&other), Err(RiopError::ByteOrder(2)));
        other = good;
        other[1] = 9;
        assert_eq!(decode(&other).unwrap().class, None);
        other = good;
        other[2..4].copy_from_slice(&(-2_i16).to_ne_bytes());
        assert_eq!(decode(&other), Err(RiopError::Priority(-2)));
        other = good;
        other[28..32].copy_from_slice(&5_i32.to_ne_bytes());
        assert_eq!(decode(&other), Err(RiopError::Degree(5)));
    }
}
