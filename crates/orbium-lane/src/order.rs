// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order of the requests in the queue of a lane.

use std::fmt;
use std::str::FromStr;

/// The order in which a lane serves the requests in its queue. Equal requests are served in the
/// order of their arrival. A request is not preempted by another one of its lane.
///
/// The deadline of a request is that of its [`RequestTiming`](crate::RequestTiming), from a
/// schedule; without one that of its RIOP context, counted from its arrival, and else the end time
/// set by its client. Requests without any are served after all others.
///
/// ```
/// use orbium_lane::Order;
///
/// assert_eq!("edf".parse(), Ok(Order::EarliestDeadline));
/// assert!("lifo".parse::<Order>().unwrap_err().to_string().contains("write fifo"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// In the order of arrival, independent of priorities.
    Fifo,
    /// The highest CORBA priority first. The default.
    #[default]
    Priority,
    /// The lowest subpriority of the schedule first, in the order of arrival among equals; requests
    /// without a schedule after all others.
    Subpriority,
    /// The earliest deadline first.
    EarliestDeadline,
    /// The least laxity first: the deadline minus the execution time, as far as known.
    LeastLaxity,
    /// The highest criticality first (MEDIUM unless the request has one), within it the least
    /// laxity, then the highest importance.
    MaximumUrgency,
}

impl Order {
    /// All orders.
    pub const ALL: &'static [Self] = &[
        Self::Fifo,
        Self::Priority,
        Self::Subpriority,
        Self::EarliestDeadline,
        Self::LeastLaxity,
        Self::MaximumUrgency,
    ];

    /// The name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Priority => "priority",
            Self::Subpriority => "subpriority",
            Self::EarliestDeadline => "edf",
            Self::LeastLaxity => "llf",
            Self::MaximumUrgency => "muf",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is not the name of an [`Order`].
#[derive(Clone, PartialEq, Eq)]
pub struct OrderError(String);

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(
            f,
            "`{text}` is no order of a queue: write fifo, priority, subpriority, edf, llf or muf"
        )
    }
}

impl fmt::Debug for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OrderError {}

impl FromStr for Order {
    type Err = OrderError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|it| it.name() == text);
        found.copied().ok_or_else(|| OrderError(text.to_owned()))
    }
}
