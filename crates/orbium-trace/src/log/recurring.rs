// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that a peer can cause as often as it likes: each cause has a rate limit.

use super::event_limit::EventLimit;

/// Kind of a recurring event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurring {
    /// A connection is refused: the limit is reached.
    ConnectionLimit,
    /// A request for an object that does not exist.
    UnknownObject,
    /// A request for an adapter that is not active.
    NotActive,
    /// A message above the limit.
    MessageSize,
    /// A request for which the queue was full.
    QueueFull,
    /// A message for which there is no memory.
    NoMemory,
    /// A request after its deadline.
    Expired,
    /// A request that its peer is not permitted to make.
    Access,
    /// A call is forwarded by a server.
    Forward,
    /// A call is sent again with the addressing mode that the server requires.
    Readdress,
    /// A call is sent again, as the server had closed the connection.
    StaleConnection,
    /// An idempotent call is sent again, as its connection was lost.
    LostConnection,
    /// A call sends LocateRequest to obtain code sets.
    CodeSets,
    /// A call falls back to another profile.
    FallBack,
    /// An untrusted server.
    NotTrusted,
    /// Buffered oneways that are not sent.
    LostOneways,
}

impl Recurring {
    const COUNT: usize = Self::LostOneways as usize + 1;

    /// The value of the field `cause`.
    #[must_use]
    pub const fn cause(self) -> &'static str {
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
            Self::LostOneways => "lost_oneways",
        }
    }
}

/// The recurring events of an ORB.
#[derive(Debug, Default)]
pub struct Recurrences([EventLimit; Recurring::COUNT]);

impl Recurrences {
    /// Whether an event that has occurred is to be logged: see [`EventLimit::admit`].
    #[cold]
    pub fn admit(&self, event: Recurring) -> Option<u64> {
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
