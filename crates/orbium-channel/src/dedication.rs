// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that request a dedicated server thread: GOPI's marker for capsule-to-iref bindings
//! (Coulson and Baichoo, section 5.1), and the server's reply to it. Both are the service context
//! [`ORBIUM_DEDICATION`](orbium_giop::service_context::ORBIUM_DEDICATION), one with the first
//! request of a connection, one with its reply. Other ORBs ignore it, as the specification
//! requires.
//!
//! Both are encapsulations of eight octets: byte order, version (1), request or result, and a
//! priority, which is −1 for none. Additions of later versions after that are ignored.

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind};

/// The version that is written; higher ones begin with the same fields.
const VERSION: u8 = 1;

/// No priority.
const NONE: i16 = -1;

/// Octets of either.
const LEN: usize = 8;

/// Request of a client for a dedicated thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DedicationRequest {
    /// The requested CORBA priority of the thread; `None` leaves it to the server.
    pub priority: Option<i16>,
}

/// Reply of the server to a dedication request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedicationReply {
    /// The connection has a dedicated thread.
    Granted {
        /// Its CORBA priority, if it has one.
        priority: Option<i16>,
    },
    /// The connection is served by the ordinary threads.
    Refused(Undedicated),
}

/// Reason for which a connection has no dedicated thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Undedicated {
    /// The server has reached its limit of such connections.
    Limit = 1,
    /// The priority is not permitted.
    Priority = 2,
    /// The host refuses another thread.
    NoThread = 3,
    /// The channel is shared by several clients.
    Shared = 4,
    /// Another reason of the server's policy.
    Policy = 5,
}

impl Undedicated {
    /// The reason with that number; [`Policy`](Self::Policy) for an unknown one.
    const fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Limit,
            2 => Self::Priority,
            3 => Self::NoThread,
            4 => Self::Shared,
            _ => Self::Policy,
        }
    }

    /// The reason in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Limit => "the server has as many connections with threads of their own as it may",
            Self::Priority => "the server does not permit that priority",
            Self::NoThread => "the server's host refuses another thread",
            Self::Shared => "the connection is not one client's alone",
            Self::Policy => "the server's policy refuses it",
        }
    }
}

impl std::fmt::Display for Undedicated {
    #[inline]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

fn encode(what: [u8; 2], priority: Option<i16>) -> [u8; LEN] {
    let [a, b] = priority.unwrap_or(NONE).to_ne_bytes();
    let [what, why] = what;
    [ByteOrder::NATIVE.flag(), VERSION, what, why, a, b, 0, 0]
}

/// The result, the reason, and the priority.
fn decode(data: &[u8]) -> Result<([u8; 2], Option<i16>), CdrError> {
    let bad = |at| CdrError::new(CdrErrorKind::BadDiscriminator, at);
    let [flag, version, what, why, a, b, ..] = data else {
        return Err(CdrError::new(CdrErrorKind::Truncated, data.len()));
    };
    if *version < VERSION {
        return Err(bad(1));
    }
    let number = match ByteOrder::from_flag(*flag) {
        ByteOrder::Big => i16::from_be_bytes([*a, *b]),
        ByteOrder::Little => i16::from_le_bytes([*a, *b]),
    };
    match number {
        NONE => Ok(([*what, *why], None)),
        0.. => Ok(([*what, *why], Some(number))),
        _ => Err(bad(4)),
    }
}

impl DedicationRequest {
    /// The data of the service context.
    #[must_use]
    pub fn encode(self) -> [u8; LEN] {
        encode([0, 0], self.priority)
    }

    /// Decodes the data.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`]; [`CdrErrorKind::BadDiscriminator`] for an invalid priority or
    /// version.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let (_, priority) = decode(data)?;
        Ok(Self { priority })
    }
}

impl DedicationReply {
    /// The data of the service context.
    #[must_use]
    pub fn encode(self) -> [u8; LEN] {
        match self {
            Self::Granted { priority } => encode([0, 0], priority),
            Self::Refused(why) => encode([1, why as u8], None),
        }
    }

    /// Decodes the data.
    ///
    /// # Errors
    /// As [`DedicationRequest::decode`]; [`CdrErrorKind::BadDiscriminator`] also for an unknown
    /// result.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        match decode(data)? {
            ([0, _], priority) => Ok(Self::Granted { priority }),
            ([1, why], _) => Ok(Self::Refused(Undedicated::from_number(why))),
            _ => Err(CdrError::new(CdrErrorKind::BadDiscriminator, 2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what
    /// the client learns
    #[test]
    fn requests_and_replies_come_back() {
        for priority in [None, Some(0), Some(i16::MAX)] {
            let asked = DedicationRequest { priority };
            assert_eq!(DedicationRequest::decode(&asked.encode()), Ok(asked));
            let granted = DedicationReply::Granted { priority };
            assert_eq!(DedicationReply::decode(&granted.encode()), Ok(granted));
        }
        for why in [Undedicated::Limit, Undedicated::Shared, Undedicated::Policy] {
            let refused = DedicationReply::Refused(why);
            assert_eq!(DedicationReply::decode(&refused.encode()), Ok(refused));
        }
    }

    /// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what
    /// the client learns
    #[test]
    fn the_other_order_and_later_versions_are_read() {
        let foreign = match ByteOrder::NATIVE {
            ByteOrder::Little => [0, 9, 0, 0, 1, 2, 0, 0],
            ByteOrder::Big => [1, 9, 0, 0, 2, 1, 0, 0],
        };
        let later = [&foreign[..], &[1, 2, 3]].concat();
        let priority = Some(0x102);
        let asked = DedicationRequest::decode(&later);
        assert_eq!(asked, Ok(DedicationRequest { priority }));
    }

    /// Conformance: RT GOPI 5.1 - markers: hostile ones; clients that die; the end of the ORB
    #[test]
    fn senseless_values_are_an_error() {
        let good = DedicationRequest::default().encode();
        for len in 0..6 {
            assert!(DedicationRequest::decode(&good[..len]).is_err(), "{len}");
            assert!(DedicationReply::decode(&good[..len]).is_err(), "{len}");
        }
        let flag = ByteOrder::NATIVE.flag();
        for bad in [
            [flag, 0, 0, 0, 0, 0, 0, 0],
            [flag, 1, 0, 0, 0x80, 0x80, 0, 0],
        ] {
            assert!(DedicationRequest::decode(&bad).is_err());
        }
        assert!(DedicationReply::decode(&[flag, 1, 2, 0, 0, 0, 0, 0]).is_err());
    }
}
