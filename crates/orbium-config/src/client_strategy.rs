// SPDX-License-Identifier: MIT OR Apache-2.0
//! Client strategies: the use of connections, and the wait for replies.

use std::fmt;
use std::str::FromStr;

use crate::ServerStrategy;

/// Strategy by which a client uses its connections to a server, and by which callers wait
/// for their replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientStrategy {
    /// A call has exclusive use of a connection, from a bounded pool, until it ends, and reads its
    /// reply itself: two system calls, the lowest latency. The default.
    #[default]
    ExclusivePool,
    /// Each thread has its own connections, which no other thread uses: callers share no lock, and
    /// there are as many connections to a server as threads that call it.
    ExclusivePerThread,
    /// All calls to a server share one multiplexed connection, read by
    /// leader/followers: the waiting thread that leads dispatches replies to the
    /// others, and promotes a follower when its own reply has come.
    LeaderFollowers,
    /// All calls to a server share one connection, which a separate thread reads: an active
    /// connection. The loss of a server is detected at once.
    IoThread,
    /// Wait on reactor: exclusive connections from a pool. A servant that makes a nested call
    /// dispatches other requests on its thread while it waits for the reply: nested calls need no
    /// second thread. Requires [`ServerStrategy::Reactive`]: only there the thread keeps its
    /// reactor; other threads just wait for their replies.
    ///
    /// Calls of one thread return in the reverse order of their beginning, so a reply or the expiry
    /// of a call is detected only after nested upcalls have returned. If that is not acceptable,
    /// choose another strategy.
    Reactor,
}

impl ClientStrategy {
    /// All strategies.
    pub const ALL: &'static [Self] = &[
        Self::ExclusivePool,
        Self::ExclusivePerThread,
        Self::LeaderFollowers,
        Self::IoThread,
        Self::Reactor,
    ];

    /// The name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExclusivePool => "exclusive-pool",
            Self::ExclusivePerThread => "exclusive-per-thread",
            Self::LeaderFollowers => "leader-followers",
            Self::IoThread => "io-thread",
            Self::Reactor => "reactor",
        }
    }

    /// Whether calls share connections.
    #[must_use]
    pub const fn is_multiplexed(self) -> bool {
        matches!(self, Self::LeaderFollowers | Self::IoThread)
    }

    /// Whether each call has a connection from a pool shared by all threads.
    #[must_use]
    pub const fn is_pooled(self) -> bool {
        matches!(self, Self::ExclusivePool | Self::Reactor)
    }

    /// The only server strategy that it can be combined with; `None` for any.
    #[must_use]
    pub const fn needs(self) -> Option<ServerStrategy> {
        match self {
            Self::Reactor => Some(ServerStrategy::Reactive),
            _ => None,
        }
    }

    /// Checks that it can be combined with a server strategy; the error is a sentence with the
    /// reason.
    pub const fn check(self, server: ServerStrategy) -> Result<(), &'static str> {
        match (self.needs(), server) {
            (None, _) | (Some(ServerStrategy::Reactive), ServerStrategy::Reactive) => Ok(()),
            _ => Err(
                "a client that serves while it waits needs a reactor: client_strategy reactor goes with server_strategy reactive only",
            ),
        }
    }
}

impl fmt::Display for ClientStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a [`ClientStrategy`].
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownClientStrategy(pub String);

impl fmt::Display for UnknownClientStrategy {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a client strategy: expected one of", self.0)?;
        let mut all = ClientStrategy::ALL.iter();
        all.try_for_each(|strategy| write!(f, " {strategy}"))
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UnknownClientStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownClientStrategy {}

impl FromStr for ClientStrategy {
    type Err = UnknownClientStrategy;

    #[inline]
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
