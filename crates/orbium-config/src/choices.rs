// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings with a default.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Forwarding of clients that call by a bound key to the whole reference: on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardBoundKeys(pub bool);

impl Default for ForwardBoundKeys {
    fn default() -> Self {
        Self(true)
    }
}

/// A connect timeout, 10 s by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectTimeout(pub Duration);

impl ConnectTimeout {
    /// No separate limit: bounded by the time-out of the call and by the system.
    pub const NONE: Self = Self(Duration::MAX);
}

impl Default for ConnectTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

/// Time limit of resolving the name of a `corbaname:`, all calls of naming contexts
/// together; 30 s by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamingTimeout(pub Duration);

impl Default for NamingTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

/// Batching of replies to pipelined requests by a server: on by default.
///
/// A reply is collected while the next request of its connection is already complete in the receive
/// buffer, and sent with the following ones, up to 6 KiB. It is held for 100 µs while requests are
/// served quickly, and never for longer than 2 ms and the wake-up of a thread, however long a
/// servant takes. Replies are not collected while servants take more than 50 µs each, nor if each
/// request is answered before the next is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyBatching(pub bool);

impl Default for ReplyBatching {
    fn default() -> Self {
        Self(true)
    }
}

/// Collocation strategy: the path of calls to objects of the same ORB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collocation {
    /// The servant is called on the calling thread, with the state of its POA manager and the
    /// policies of its adapter: the default.
    #[default]
    ThroughPoa,
    /// The servant is called on the calling thread; for active objects, POA managers, dispatch
    /// hooks, priorities and threading policies are ignored.
    Direct,
    /// Arguments and results are marshalled, as between two ORBs.
    Marshalled,
}

impl Collocation {
    /// Whether servants are called without marshalling.
    #[must_use]
    pub fn is_typed(self) -> bool {
        self != Self::Marshalled
    }
}

impl fmt::Display for Collocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ThroughPoa => "through-poa",
            Self::Direct => "direct",
            Self::Marshalled => "marshalled",
        })
    }
}

/// A text that is not the name of a [`Collocation`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnknownCollocation;

impl fmt::Display for UnknownCollocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("collocation is through-poa, direct or marshalled")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UnknownCollocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownCollocation {}

impl FromStr for Collocation {
    type Err = UnknownCollocation;

    fn from_str(text: &str) -> Result<Self, UnknownCollocation> {
        let all = [Self::ThroughPoa, Self::Direct, Self::Marshalled];
        let named = all.into_iter().find(|it| it.to_string() == text);
        named.ok_or(UnknownCollocation)
    }
}

/// A GIOP minor version from 0 to 2, 2 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiopMinor(u8);

impl Default for GiopMinor {
    fn default() -> Self {
        Self(2)
    }
}

impl GiopMinor {
    /// GIOP 1.`minor`; `None` beyond 1.2.
    #[must_use]
    #[inline]
    pub const fn new(minor: u8) -> Option<Self> {
        if minor <= 2 { Some(Self(minor)) } else { None }
    }

    /// The number.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Checks that the times of calls are consistent.
///
/// # Errors
/// A sentence with the reason.
pub fn check_times(
    connect: ConnectTimeout,
    naming: NamingTimeout,
    request: Option<Duration>,
    call: Option<Duration>,
) -> Result<(), &'static str> {
    if connect.0.is_zero() {
        return Err("no connection can be made in no time: connect_timeout must be above zero");
    }
    if naming.0.is_zero() {
        return Err("no name can be resolved in no time: naming_timeout must be above zero");
    }
    if let (Some(request), Some(call)) = (request, call)
        && request > call
    {
        return Err(
            "a request that comes after its reply is due makes no sense: request_timeout must not be above call_timeout",
        );
    }
    Ok(())
}
