// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subscriptions as trees.

use std::time::Duration;

use crate::event::{
    ANY, BITMASK, CONJUNCTION, DEADLINE_TIMEOUT, DISJUNCTION, INTERVAL_TIMEOUT, LOGICAL_AND,
    MASKED_TYPE, NEGATION, NULL, TIMEOUT, to_time_t,
};
use crate::rtec::rtec_event_channel_admin::{ConsumerQos, Dependency};
use crate::rtec::rtec_event_comm::{Event, EventHeader};

/// Subscription of a consumer: a tree of filters; an event has to pass its root.
///
/// ```
/// use orbium_event::Pattern;
/// use std::time::Duration;
///
/// // A pair of one position and one speed, or a deadline event after 100 ms without both.
/// let pattern = Pattern::Disjunction(vec![
///     Pattern::Conjunction(vec![Pattern::of(16, 1), Pattern::of(17, 1)]),
///     Pattern::Deadline(Duration::from_millis(100)),
/// ]);
/// assert_eq!(pattern.to_qos().dependencies.len(), 5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Events of a type from a source; 0 on either side matches all.
    Leaf {
        /// The type.
        r#type: i32,
        /// The source.
        source: i32,
    },
    /// One event of each child since the last delivery, delivered together. A child that has its
    /// event discards further ones.
    Conjunction(Vec<Pattern>),
    /// Passes the events that any child passes; the first such child wins.
    Disjunction(Vec<Pattern>),
    /// Passes the events that every child passes.
    LogicalAnd(Vec<Pattern>),
    /// Passes the events that the child does not pass.
    Negation(Box<Pattern>),
    /// Single events with a bit of both masks in type and source, if the child passes them.
    Bitmask {
        /// Bits of the source.
        source_mask: i32,
        /// Bits of the type.
        type_mask: i32,
        /// The filter of the remaining events.
        child: Box<Pattern>,
    },
    /// Single events with given values of the bits in both masks.
    MaskedType {
        /// Bits of the source that count.
        source_mask: i32,
        /// Bits of the type that count.
        type_mask: i32,
        /// Value of these bits of the source.
        source_value: i32,
        /// Value of these bits of the type.
        type_value: i32,
    },
    /// Everything.
    Null,
    /// One event of the channel, so long after the connection.
    Timeout(Duration),
    /// An event of the channel in every period.
    Interval(Duration),
    /// An event of the channel in every period without a delivery.
    Deadline(Duration),
}

impl Pattern {
    /// Events of a type from a source; 0 matches all.
    #[must_use]
    pub const fn of(r#type: i32, source: i32) -> Self {
        Self::Leaf { r#type, source }
    }

    /// The tree in the form of the real-time event channel's `connect_push_consumer`: in prefix
    /// order, groups with the number of their children as source.
    #[must_use]
    pub fn to_qos(&self) -> ConsumerQos {
        let mut dependencies = Vec::new();
        self.write(&mut dependencies);
        ConsumerQos {
            dependencies,
            is_gateway: false,
        }
    }

    fn write(&self, out: &mut Vec<Dependency>) {
        match self {
            Self::Leaf { r#type, source } => out.push(element(*r#type, *source)),
            Self::Conjunction(children) => group(CONJUNCTION, children, out),
            Self::Disjunction(children) => group(DISJUNCTION, children, out),
            Self::LogicalAnd(children) => group(LOGICAL_AND, children, out),
            Self::Negation(child) => {
                out.push(element(NEGATION, ANY));
                child.write(out);
            }
            Self::Bitmask {
                source_mask,
                type_mask,
                child,
            } => {
                out.extend([element(BITMASK, ANY), element(*type_mask, *source_mask)]);
                child.write(out);
            }
            Self::MaskedType {
                source_mask,
                type_mask,
                source_value,
                type_value,
            } => out.extend([
                element(MASKED_TYPE, ANY),
                element(*type_mask, *source_mask),
                element(*type_value, *source_value),
            ]),
            Self::Null => out.push(element(NULL, ANY)),
            Self::Timeout(period) => out.push(timer(TIMEOUT, *period)),
            Self::Interval(period) => out.push(timer(INTERVAL_TIMEOUT, *period)),
            Self::Deadline(period) => out.push(timer(DEADLINE_TIMEOUT, *period)),
        }
    }
}

fn group(designator: i32, children: &[Pattern], out: &mut Vec<Dependency>) {
    let count = i32::try_from(children.len()).unwrap_or(i32::MAX);
    out.push(element(designator, count));
    for child in children {
        child.write(out);
    }
}

pub(crate) fn element(r#type: i32, source: i32) -> Dependency {
    Dependency {
        event: Event {
            header: EventHeader {
                r#type,
                source,
                ..EventHeader::default()
            },
            ..Event::default()
        },
        rt_info: 0,
    }
}

fn timer(designator: i32, period: Duration) -> Dependency {
    let mut dependency = element(designator, ANY);
    dependency.event.header.creation_time = to_time_t(period);
    dependency
}
