// SPDX-License-Identifier: MIT OR Apache-2.0
//! How callers use connections, and how they wait for replies.

use std::fmt;
use std::str::FromStr;

use crate::ServerStrategy;

/// How a client uses its connections to a server, and how callers wait for
/// their replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientStrategy {
    /// A call has a connection for itself while it lasts, one of a bounded
    /// pool, and reads its reply itself: two system calls, the lowest latency.
    /// The default.
    #[default]
    ExclusivePool,
    /// Each thread has connections of its own, which no other thread uses: no
    /// lock is shared between callers, and there are as many connections to a
    /// server as threads that call it.
    ExclusivePerThread,
    /// All calls to a server share one connection. Those who wait take turns to
    /// read it: the one that reads wakes the others when their replies have
    /// come, and hands the reading on when it has its own.
    LeaderFollowers,
    /// All calls to a server share one connection, which a thread of its own
    /// reads: an active connection. A server that goes away is noticed at once.
    IoThread,
}

impl ClientStrategy {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::ExclusivePool,
        Self::ExclusivePerThread,
        Self::LeaderFollowers,
        Self::IoThread,
    ];

    /// The name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExclusivePool => "exclusive-pool",
            Self::ExclusivePerThread => "exclusive-per-thread",
            Self::LeaderFollowers => "leader-followers",
            Self::IoThread => "io-thread",
        }
    }

    /// Whether calls share connections.
    #[must_use]
    pub const fn is_multiplexed(self) -> bool {
        matches!(self, Self::LeaderFollowers | Self::IoThread)
    }

    /// Whether it goes with a server strategy; the sentence that says why not.
    pub(crate) const fn check(self, _server: ServerStrategy) -> Result<(), &'static str> {
        Ok(())
    }
}

impl fmt::Display for ClientStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no [`ClientStrategy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownClientStrategy(pub String);

impl fmt::Display for UnknownClientStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a client strategy: expected one of", self.0)?;
        let mut all = ClientStrategy::ALL.iter();
        all.try_for_each(|strategy| write!(f, " {strategy}"))
    }
}

impl std::error::Error for UnknownClientStrategy {}

impl FromStr for ClientStrategy {
    type Err = UnknownClientStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownClientStrategy> {
        let found = Self::ALL.iter().find(|strategy| strategy.name() == name);
        found
            .copied()
            .ok_or_else(|| UnknownClientStrategy(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_found_by_its_name() {
        for strategy in ClientStrategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(*strategy));
        }
        let unknown = "muxed".parse::<ClientStrategy>().unwrap_err();
        assert!(unknown.to_string().contains("leader-followers"));
    }
}
