// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parser of subscriptions: elements in prefix order.
//!
//! Groups with a number of children nest. Groups without one end before the next group; several of
//! them are alternatives. `RtecEventChannelAdmin::ConsumerQOS`.

use std::fmt;
use std::time::Duration;

use crate::event::{
    BITMASK, CONJUNCTION, DEADLINE_TIMEOUT, DISJUNCTION, GLOBAL, INTERVAL_TIMEOUT, LOGICAL_AND,
    MASKED_TYPE, NEGATION, NULL, TIMEOUT,
};
use crate::rtec::rtec_event_channel_admin::Dependency;
use crate::rtec::rtec_event_comm::EventHeader;
use crate::subscription::pattern::Pattern;

/// Bounds of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLimits {
    /// Maximum number of elements of a subscription; 1,024 by default.
    pub elements: usize,
    /// Maximum depth of nested filters; 64 by default.
    pub depth: usize,
    /// The shortest period of a timer; 1 ms by default.
    pub shortest_period: Duration,
    /// Maximum number of timers of a subscription; 16 by default.
    pub timers: usize,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            elements: 1024,
            depth: 64,
            shortest_period: Duration::from_millis(1),
            timers: 16,
        }
    }
}

/// Error in a subscription, at one of its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FilterError {
    /// The index of the element.
    pub element: usize,
    /// The kind of the error.
    pub kind: FilterErrorKind,
}

/// Kind of an error in a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterErrorKind {
    /// There is no element.
    Empty,
    /// The subscription has more elements than [`FilterLimits::elements`].
    TooLong,
    /// Filters are nested deeper than [`FilterLimits::depth`].
    TooDeep,
    /// The subscription ends within this filter.
    Truncated,
    /// The group has no child.
    NoChild,
    /// The period of the timer is shorter than [`FilterLimits::shortest_period`].
    PeriodTooShort,
    /// The subscription has more timers than [`FilterLimits::timers`].
    TooManyTimers,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FilterErrorKind::Empty => "there is none",
            FilterErrorKind::TooLong => "the subscription is too long",
            FilterErrorKind::TooDeep => "filters are nested too deep",
            FilterErrorKind::Truncated => "the subscription ends within the filter",
            FilterErrorKind::NoChild => "the group has no child",
            FilterErrorKind::PeriodTooShort => "the period of the timer is too short",
            FilterErrorKind::TooManyTimers => "the subscription has too many timers",
        };
        write!(f, "element {} of the subscription: {what}", self.element)
    }
}

impl fmt::Debug for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for FilterError {}

impl Pattern {
    /// Reads the elements of a subscription.
    ///
    /// If the groups specify the number of their children, and that accounts for every element, it
    /// determines the tree. Otherwise a group ends before the next one, and several are
    /// alternatives.
    ///
    /// # Errors
    /// [`FilterError`]: the elements are no tree, or exceed a limit.
    pub fn from_dependencies(
        elements: &[Dependency],
        limits: &FilterLimits,
    ) -> Result<Self, FilterError> {
        let error = |element, kind| Err(FilterError { element, kind });
        if elements.is_empty() {
            return error(0, FilterErrorKind::Empty);
        }
        if elements.len() > limits.elements {
            return error(limits.elements, FilterErrorKind::TooLong);
        }
        let mut counted = Parser::new(elements, limits, true);
        match counted.node(0) {
            Ok(pattern) if counted.at == elements.len() => return Ok(pattern),
            Err(error) if error.kind == FilterErrorKind::TooDeep => return Err(error),
            _ => {}
        }
        Parser::new(elements, limits, false).alternatives(0)
    }
}

struct Parser<'a> {
    elements: &'a [Dependency],
    limits: &'a FilterLimits,
    /// Whether the counts of groups determine their ends.
    counts: bool,
    at: usize,
    /// The number of timers so far.
    timers: usize,
}

type Parsed<T = Pattern> = Result<T, FilterError>;

impl<'a> Parser<'a> {
    fn new(elements: &'a [Dependency], limits: &'a FilterLimits, counts: bool) -> Self {
        Self {
            elements,
            limits,
            counts,
            at: 0,
            timers: 0,
        }
    }

    /// All remaining elements: one pattern, or a disjunction of several.
    fn alternatives(&mut self, depth: usize) -> Parsed {
        let mut found = Vec::new();
        while self.at < self.elements.len() {
            found.push(self.node(depth)?);
        }
        match found.len() {
            1 => Ok(found.remove(0)),
            _ => Ok(Pattern::Disjunction(found)),
        }
    }

    fn header(&mut self, of: usize) -> Parsed<&'a EventHeader> {
        let Some(element) = self.elements.get(self.at) else {
            return Err(FilterError {
                element: of,
                kind: FilterErrorKind::Truncated,
            });
        };
        self.at += 1;
        Ok(&element.event.header)
    }

    fn node(&mut self, depth: usize) -> Parsed {
        let at = self.at;
        let header = self.header(at)?;
        if depth > self.limits.depth {
            return Err(FilterError {
                element: at,
                kind: FilterErrorKind::TooDeep,
            });
        }
        let child = depth + 1;
        Ok(match header.r#type {
            GLOBAL => self.default_group(at, child)?,
            CONJUNCTION => Pattern::Conjunction(self.children(at, header.source, child)?),
            DISJUNCTION => Pattern::Disjunction(self.children(at, header.source, child)?),
            LOGICAL_AND => Pattern::LogicalAnd(self.children(at, header.source, child)?),
            NEGATION => Pattern::Negation(Box::new(self.child(at, child)?)),
            BITMASK => {
                let masks = self.header(at)?;
                Pattern::Bitmask {
                    source_mask: masks.source,
                    type_mask: masks.r#type,
                    child: Box::new(self.child(at, child)?),
                }
            }
            MASKED_TYPE => {
                let (masks, values) = (self.header(at)?, self.header(at)?);
                Pattern::MaskedType {
                    source_mask: masks.source,
                    type_mask: masks.r#type,
                    source_value: values.source,
                    type_value: values.r#type,
                }
            }
            NULL => Pattern::Null,
            TIMEOUT => Pattern::Timeout(self.period(at, header)?),
            INTERVAL_TIMEOUT => Pattern::Interval(self.period(at, header)?),
            DEADLINE_TIMEOUT => Pattern::Deadline(self.period(at, header)?),
            r#type => Pattern::of(r#type, header.source),
        })
    }

    /// The elements behind the global designator: a disjunction.
    fn default_group(&mut self, at: usize, depth: usize) -> Parsed {
        if self.at == self.elements.len() {
            Err(FilterError {
                element: at,
                kind: FilterErrorKind::NoChild,
            })
        } else {
            self.alternatives(depth)
        }
    }

    fn child(&mut self, of: usize, depth: usize) -> Parsed {
        if self.at == self.elements.len() {
            Err(FilterError {
                element: of,
                kind: FilterErrorKind::NoChild,
            })
        } else {
            self.node(depth)
        }
    }

    fn children(&mut self, of: usize, count: i32, depth: usize) -> Parsed<Vec<Pattern>> {
        let count = usize::try_from(count).unwrap_or(0);
        let mut children = Vec::new();
        if self.counts {
            for _ in 0..count {
                children.push(self.child(of, depth)?);
            }
        } else {
            while self.at < self.elements.len() && !self.at_group() {
                children.push(self.node(depth)?);
            }
        }
        if children.is_empty() {
            Err(FilterError {
                element: of,
                kind: FilterErrorKind::NoChild,
            })
        } else {
            Ok(children)
        }
    }

    fn at_group(&self) -> bool {
        let r#type = self.elements[self.at].event.header.r#type;
        matches!(r#type, GLOBAL | CONJUNCTION | DISJUNCTION | LOGICAL_AND)
    }

    fn period(&mut self, at: usize, header: &EventHeader) -> Parsed<Duration> {
        self.timers += 1;
        if self.timers > self.limits.timers {
            return Err(FilterError {
                element: at,
                kind: FilterErrorKind::TooManyTimers,
            });
        }
        let units = header.creation_time;
        let nanoseconds = (units % 10_000_000 * 100) as u32;
        let period = Duration::new(units / 10_000_000, nanoseconds);
        if period < self.limits.shortest_period {
            Err(FilterError {
                element: at,
                kind: FilterErrorKind::PeriodTooShort,
            })
        } else {
            Ok(period)
        }
    }
}
