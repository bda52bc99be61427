// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that a peer can cause as often as it likes: each cause has a rate limit.

use orbium_transport::EventLimit;

/// What recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recurring {
    ConnectionLimit,
    UnknownObject,
    NotActive,
    MessageSize,
    QueueFull,
    NoMemory,
    Expired,
    Access,
    Forward,
    Readdress,
    StaleConnection,
    LostConnection,
    CodeSets,
    FallBack,
    NotTrusted,
}

impl Recurring {
    const COUNT: usize = Self::NotTrusted as usize + 1;

    /// The value of the field `cause`.
    pub(crate) const fn cause(self) -> &'static str {
        match self {
            Self::ConnectionLimit => "limit",
            Self::UnknownObject => "unknown_object",
            Self::NotActive => "not_active",
            Self::MessageSize => "message_size",
            Self::QueueFull => "queue_full",
            Self::NoMemory => "memory",
            Self::Expired => "deadline",
            Self::Access => "access",
            Self::Forward => "forward",
            Self::Readdress => "readdress",
            Self::StaleConnection => "stale_connection",
            Self::LostConnection => "lost_connection",
            Self::CodeSets => "code_sets",
            Self::FallBack => "fall_back",
            Self::NotTrusted => "not_trusted",
        }
    }
}

/// The recurring events of an ORB.
#[derive(Debug, Default)]
pub(crate) struct Recurrences([EventLimit; Recurring::COUNT]);

impl Recurrences {
    /// Whether an event that has occurred is to be logged: see [`EventLimit::admit`].
    #[cold]
    pub(crate) fn admit(&self, event: Recurring) -> Option<u64> {
        self.0[event as usize].admit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_recurs_by_itself() {
        let all = Recurrences::default();
        assert_eq!(all.admit(Recurring::Forward), Some(0));
        assert_eq!(all.admit(Recurring::Readdress), Some(0));
        assert_eq!(all.admit(Recurring::Forward), None);
    }
}
