// SPDX-License-Identifier: MIT OR Apache-2.0
//! RIOP's service context: what a request says of its quality of service.
//!
//! An encapsulation of 32 octets: byte order, communication class (255 for none), priority
//! (−1 for none), period and deadline in units of 100 ns (0 for none), importance and criticality
//! (0 to 4, −1 for none). What a later version puts behind that is left alone, and so is a class
//! that is not known.

use std::fmt;
use std::time::Duration;

use orbium_core::Priority;
use orbium_sched::{Criticality, Importance};

use crate::{CommunicationClass, Qos, QosError};

/// The id of the service context.
pub const RIOP_CONTEXT: u32 = orbium_giop::service_context::ORBIUM_RIOP;

/// Octets of it.
pub const LEN: usize = 32;

const NO_CLASS: u8 = 255;

/// Nanoseconds of a unit of time.
const TICK: u128 = 100;

/// A context that is none.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RiopError {
    /// It has fewer octets than it must.
    Truncated,
    /// Its byte order is neither 0 nor 1.
    ByteOrder(u8),
    /// Its priority is below −1.
    Priority(i16),
    /// Its importance or criticality is not from −1 to 4.
    Degree(i32),
}

impl fmt::Display for RiopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("a RIOP context of less than 32 octets"),
            Self::ByteOrder(flag) => write!(f, "a RIOP context of byte order {flag}"),
            Self::Priority(number) => write!(f, "a RIOP context of priority {number}"),
            Self::Degree(number) => {
                write!(f, "a RIOP context of importance or criticality {number}")
            }
        }
    }
}

/// The same words as `Display`: it is what a `main` shows that ends with an error.
impl fmt::Debug for RiopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RiopError {}

/// The data of the context.
///
/// # Errors
/// [`QosError::TooLong`]: a time beyond the wire's.
pub fn encode(qos: &Qos) -> Result<[u8; LEN], QosError> {
    let class = qos.class.map_or(NO_CLASS, |class| class as u8);
    let priority = qos.priority.map_or(-1, Priority::number);
    let importance = qos.importance.map_or(-1, |it| it as i32);
    let criticality = qos.criticality.map_or(-1, |it| it as i32);
    let mut data = [0; LEN];
    data[0] = u8::from(cfg!(target_endian = "little"));
    data[1] = class;
    data[2..4].copy_from_slice(&priority.to_ne_bytes());
    data[8..16].copy_from_slice(&ticks(qos.period, "period")?.to_ne_bytes());
    data[16..24].copy_from_slice(&ticks(qos.deadline, "deadline")?.to_ne_bytes());
    data[24..28].copy_from_slice(&importance.to_ne_bytes());
    data[28..32].copy_from_slice(&criticality.to_ne_bytes());
    Ok(data)
}

/// In whole units; what is there is at least one.
fn ticks(time: Option<Duration>, field: &'static str) -> Result<u64, QosError> {
    let ticks = time.map_or(0, |time| time.as_nanos().div_ceil(TICK).max(1));
    u64::try_from(ticks).map_err(|_| QosError::TooLong(field))
}

/// The quality of service in the data of a context.
///
/// # Errors
/// [`RiopError`]: nothing of it can be used.
pub fn decode(data: &[u8]) -> Result<Qos, RiopError> {
    let data: &[u8; LEN] = data.first_chunk().ok_or(RiopError::Truncated)?;
    let is_little = match data[0] {
        0 => false,
        1 => true,
        flag => return Err(RiopError::ByteOrder(flag)),
    };
    let octets = Octets { data, is_little };
    Ok(Qos {
        class: CommunicationClass::ALL.get(usize::from(data[1])).copied(),
        priority: octets.priority()?,
        period: octets.time(8),
        deadline: octets.time(16),
        importance: octets.degree(24)?.map(|at| Importance::ALL[at]),
        criticality: octets.degree(28)?.map(|at| Criticality::ALL[at]),
        ..Qos::NONE
    })
}

struct Octets<'a> {
    data: &'a [u8; LEN],
    is_little: bool,
}

impl Octets<'_> {
    /// `N` octets at that place, in big-endian order.
    fn at<const N: usize>(&self, place: usize) -> [u8; N] {
        let mut octets = [0; N];
        octets.copy_from_slice(&self.data[place..place + N]);
        if self.is_little {
            octets.reverse();
        }
        octets
    }

    fn priority(&self) -> Result<Option<Priority>, RiopError> {
        match i16::from_be_bytes(self.at(2)) {
            -1 => Ok(None),
            number => Priority::new(number)
                .map(Some)
                .ok_or(RiopError::Priority(number)),
        }
    }

    fn time(&self, place: usize) -> Option<Duration> {
        let ticks = u64::from_be_bytes(self.at(place));
        // At most 58,494 years: seconds and nanoseconds both fit.
        let time = Duration::new(ticks / 10_000_000, (ticks % 10_000_000) as u32 * 100);
        (ticks != 0).then_some(time)
    }

    fn degree(&self, place: usize) -> Result<Option<usize>, RiopError> {
        match i32::from_be_bytes(self.at(place)) {
            -1 => Ok(None),
            number @ 0..=4 => Ok(Some(number as usize)),
            number => Err(RiopError::Degree(number)),
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
        // What a later version adds.
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
                    // Whatever is read can be written.
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
