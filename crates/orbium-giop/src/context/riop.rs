// SPDX-License-Identifier: MIT OR Apache-2.0
//! RIOP's service context: the quality of service of a request.
//!
//! An encapsulation of 32 octets: byte order, communication class (255 for none), priority
//! (−1 for none), period and deadline in units of 100 ns (0 for none), importance and criticality
//! (0 to 4, −1 for none). Additions of later versions after that are ignored, and so is an unknown
//! class.

use std::fmt;
use std::time::Duration;

use crate::ServiceContexts;
use crate::service_context::ORBIUM_RIOP;

/// Octets of the context.
pub const LEN: usize = 32;

const NO_CLASS: u8 = 255;

/// A RIOP context. Numbers are unchecked.
///
/// ```
/// use orbium_giop::riop::Riop;
///
/// let said = Riop { deadline: 50_000, ..Riop::NONE };
/// assert_eq!(Riop::decode(&said.encode()), Ok(said));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Riop {
    /// The communication class.
    pub class: Option<u8>,
    /// The CORBA priority.
    pub priority: Option<i16>,
    /// The time between requests, in units of 100 ns; 0 for none.
    pub period: u64,
    /// The time limit of the request, in units of 100 ns; 0 for none.
    pub deadline: u64,
    /// The importance, from 0 to 4.
    pub importance: Option<u8>,
    /// The criticality, from 0 to 4.
    pub criticality: Option<u8>,
}

/// Error of a malformed context.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RiopError {
    /// The data are truncated.
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

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RiopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RiopError {}

impl Riop {
    /// A context with no value set.
    pub const NONE: Self = Self {
        class: None,
        priority: None,
        period: 0,
        deadline: 0,
        importance: None,
        criticality: None,
    };

    /// The context of a request; `None` if it is absent or malformed.
    #[must_use]
    pub fn of(contexts: &ServiceContexts<'_>) -> Option<Self> {
        Self::decode(contexts.find(ORBIUM_RIOP)?).ok()
    }

    /// The period as a span of time.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        span(self.period)
    }

    /// The deadline as a span of time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        span(self.deadline)
    }

    /// The data of the context.
    #[must_use]
    pub fn encode(&self) -> [u8; LEN] {
        let degree = |it: Option<u8>| it.map_or(-1, i32::from).to_ne_bytes();
        let mut data = [0; LEN];
        data[0] = u8::from(cfg!(target_endian = "little"));
        data[1] = self.class.unwrap_or(NO_CLASS);
        data[2..4].copy_from_slice(&self.priority.unwrap_or(-1).to_ne_bytes());
        data[8..16].copy_from_slice(&self.period.to_ne_bytes());
        data[16..24].copy_from_slice(&self.deadline.to_ne_bytes());
        data[24..28].copy_from_slice(&degree(self.importance));
        data[28..32].copy_from_slice(&degree(self.criticality));
        data
    }

    /// Decodes the data of a context.
    ///
    /// # Errors
    /// [`RiopError`] if the data are malformed.
    pub fn decode(data: &[u8]) -> Result<Self, RiopError> {
        let data: &[u8; LEN] = data.first_chunk().ok_or(RiopError::Truncated)?;
        let is_little = match data[0] {
            0 => false,
            1 => true,
            flag => return Err(RiopError::ByteOrder(flag)),
        };
        let octets = Octets { data, is_little };
        Ok(Self {
            class: Some(data[1]).filter(|class| *class != NO_CLASS),
            priority: octets.priority()?,
            period: u64::from_be_bytes(octets.at(8)),
            deadline: u64::from_be_bytes(octets.at(16)),
            importance: octets.degree(24)?,
            criticality: octets.degree(28)?,
        })
    }
}

/// So many units of 100 ns; none for 0.
fn span(ticks: u64) -> Option<Duration> {
    (ticks != 0).then(|| super::time::span(ticks))
}

struct Octets<'a> {
    data: &'a [u8; LEN],
    is_little: bool,
}

impl Octets<'_> {
    /// `N` octets at that offset, in big-endian order.
    fn at<const N: usize>(&self, place: usize) -> [u8; N] {
        let mut octets = [0; N];
        octets.copy_from_slice(&self.data[place..place + N]);
        if self.is_little {
            octets.reverse();
        }
        octets
    }

    fn priority(&self) -> Result<Option<i16>, RiopError> {
        match i16::from_be_bytes(self.at(2)) {
            -1 => Ok(None),
            number @ 0.. => Ok(Some(number)),
            number => Err(RiopError::Priority(number)),
        }
    }

    fn degree(&self, place: usize) -> Result<Option<u8>, RiopError> {
        match i32::from_be_bytes(self.at(place)) {
            -1 => Ok(None),
            number @ 0..=4 => Ok(Some(number as u8)),
            number => Err(RiopError::Degree(number)),
        }
    }
}
