// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters with their state: the events that conjunctions have collected.

use std::cell::Cell;
use std::mem;
use std::ptr;

use crate::event::{ANY, SharedEvent};
use crate::pool::MAX_RETAINED;
use crate::rtec::rtec_event_comm::Event;
use crate::subscription::pattern::Pattern;
use crate::subscription::timer::{Timer, TimerKind};

/// A pattern that events are offered to, one set after the other.
///
/// It has neither clock nor threads: the events of its timers are offered to it like others,
/// with the number of the timer.
///
/// ```
/// use orbium_event::{Filter, Pattern, new_event};
///
/// let pair = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)]);
/// let mut filter = Filter::new(&pair);
/// let mut delivered = Vec::new();
/// assert!(!filter.offer(&[new_event(16, 1).into()], None, &mut delivered));
/// assert!(filter.offer(&[new_event(17, 1).into()], None, &mut delivered));
/// assert_eq!(delivered.len(), 2);
/// ```
#[derive(Debug)]
pub struct Filter {
    root: Node,
    timers: Vec<Timer>,
    clearing: Clearing,
    /// Maximum bytes of the events that conjunctions have collected, and these bytes.
    bounds: (usize, usize),
    discarded: u64,
}

/// The part of a filter's state that a delivery clears: the events that its conjunctions have
/// collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clearing {
    /// The whole state, as with TAO's channel.
    #[default]
    Whole,
    /// The alternative of a disjunction that was delivered; the others retain their collected
    /// events.
    Branch,
}

/// Outcome of offering a set of events to a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The set is not for this node.
    Ignored,
    /// The node has taken the set, and waits for others.
    Consumed,
    /// Events were appended to the result.
    Passed,
}

#[derive(Debug)]
enum Node {
    Leaf {
        r#type: i32,
        source: i32,
    },
    Conjunction(Conjunction),
    Disjunction(Vec<Node>),
    LogicalAnd(Vec<Node>),
    Negation(Box<Node>),
    Bitmask {
        source_mask: i32,
        type_mask: i32,
        child: Box<Node>,
    },
    MaskedType {
        source_mask: i32,
        type_mask: i32,
        source_value: i32,
        type_value: i32,
    },
    Null,
    Timer(usize),
}

#[derive(Debug)]
struct Conjunction {
    children: Vec<Node>,
    satisfied: Vec<bool>,
    events: Vec<SharedEvent>,
    /// Bytes of these.
    bytes: usize,
}

/// A set of events; those of a timer are for its own node.
struct Offer<'a> {
    events: &'a [SharedEvent],
    timer: Option<usize>,
    collected: &'a Collected,
}

/// Bytes of the events that all conjunctions of a filter have collected.
struct Collected(Cell<usize>);

impl Collected {
    fn add(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes));
    }

    fn subtract(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }
}

impl Filter {
    /// A filter in its initial state.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Self {
        let mut timers = Vec::new();
        let root = Node::new(pattern, &mut timers);
        let clearing = Clearing::default();
        Self {
            root,
            timers,
            clearing,
            bounds: (usize::MAX, 0),
            discarded: 0,
        }
    }

    /// The same, with deliveries that clear this.
    #[must_use]
    pub fn with_clearing(self, clearing: Clearing) -> Self {
        Self { clearing, ..self }
    }

    /// The same, with conjunctions that collect so many bytes of events together at most; without
    /// a limit by default. Beyond it all collected events are discarded. An event counts for each of
    /// several nested conjunctions that have collected it.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.set_bytes(bytes);
        self
    }

    /// Changes the maximum of [`with_bytes`](Self::with_bytes), for the next events.
    pub fn set_bytes(&mut self, bytes: usize) {
        self.bounds.0 = bytes;
    }

    /// Takes the number of events that were discarded beyond the maximum bytes since the last call.
    pub fn take_discarded(&mut self) -> u64 {
        mem::take(&mut self.discarded)
    }

    /// An initial filter of another pattern, with the same clearing and maximum bytes.
    pub(crate) fn replaced(&self, pattern: &Pattern) -> Self {
        let filter = Self::new(pattern).with_clearing(self.clearing);
        filter.with_bytes(self.bounds.0)
    }

    /// The timers of the pattern, in its order.
    #[must_use]
    pub fn timers(&self) -> &[Timer] {
        &self.timers
    }

    /// Offers a set of events; `timer` is the number of the timer that they belong to, if any.
    ///
    /// Returns true if events are to be delivered: they were appended to `delivered`. Every node is
    /// cleared then, with [`Clearing::Whole`] including those that were not part of it; the caller
    /// restarts deadlines.
    pub fn offer(
        &mut self,
        events: &[SharedEvent],
        timer: Option<usize>,
        delivered: &mut Vec<SharedEvent>,
    ) -> bool {
        let (most, bytes) = self.bounds;
        let collected = Collected(Cell::new(bytes));
        let offer = Offer {
            events,
            timer,
            collected: &collected,
        };
        let is_delivered = if self.clearing == Clearing::Branch {
            self.root.offer_branches(&offer, delivered) == Outcome::Passed
        } else {
            let is_delivered = self.root.offer(&offer, delivered) == Outcome::Passed;
            if is_delivered {
                self.root.clear(&collected);
            }
            is_delivered
        };
        if collected.0.get() > most {
            self.discarded += self.root.collected();
            self.root.clear(&collected);
        }
        self.bounds.1 = collected.0.get();
        is_delivered
    }

    /// Whether a conjunction of the pattern retains this event while it waits for others.
    #[must_use]
    pub fn retains(&self, event: &SharedEvent) -> bool {
        self.root.retains(event)
    }
}

impl Node {
    fn new(pattern: &Pattern, timers: &mut Vec<Timer>) -> Self {
        let timer = |timers: &mut Vec<Timer>, kind, period| {
            timers.push(Timer { kind, period });
            Self::Timer(timers.len() - 1)
        };
        match *pattern {
            Pattern::Leaf { r#type, source } => Self::Leaf { r#type, source },
            Pattern::Conjunction(ref children) => Self::Conjunction(Conjunction {
                satisfied: vec![false; children.len()],
                children: nodes(children, timers),
                events: Vec::new(),
                bytes: 0,
            }),
            Pattern::Disjunction(ref children) => Self::Disjunction(nodes(children, timers)),
            Pattern::LogicalAnd(ref children) => Self::LogicalAnd(nodes(children, timers)),
            Pattern::Negation(ref child) => Self::Negation(Box::new(Self::new(child, timers))),
            Pattern::Bitmask {
                source_mask,
                type_mask,
                ref child,
            } => Self::Bitmask {
                source_mask,
                type_mask,
                child: Box::new(Self::new(child, timers)),
            },
            Pattern::MaskedType {
                source_mask,
                type_mask,
                source_value,
                type_value,
            } => Self::MaskedType {
                source_mask,
                type_mask,
                source_value,
                type_value,
            },
            Pattern::Null => Self::Null,
            Pattern::Timeout(period) => timer(timers, TimerKind::OneShot, period),
            Pattern::Interval(period) => timer(timers, TimerKind::Interval, period),
            Pattern::Deadline(period) => timer(timers, TimerKind::Deadline, period),
        }
    }

    /// As [`offer`](Self::offer), and clears the alternative that passes events.
    fn offer_branches(&mut self, offer: &Offer<'_>, out: &mut Vec<SharedEvent>) -> Outcome {
        if let Self::Disjunction(children) = self {
            let mut outcomes = children.iter_mut().map(|it| it.offer_branches(offer, out));
            let taken = outcomes.find(|it| *it != Outcome::Ignored);
            return taken.unwrap_or(Outcome::Ignored);
        }
        let outcome = self.offer(offer, out);
        if outcome == Outcome::Passed {
            self.clear(offer.collected);
        }
        outcome
    }

    fn offer(&mut self, offer: &Offer<'_>, out: &mut Vec<SharedEvent>) -> Outcome {
        match self {
            Self::Leaf { r#type, source } => pass_some(offer, out, |event| {
                let header = &event.header;
                matches(*r#type, header.r#type) && matches(*source, header.source)
            }),
            Self::Conjunction(conjunction) => conjunction.offer(offer, out),
            Self::Disjunction(children) => {
                let mut children = children.iter_mut();
                let outcomes = children.find_map(|child| match child.offer(offer, out) {
                    Outcome::Ignored => None,
                    outcome => Some(outcome),
                });
                outcomes.unwrap_or(Outcome::Ignored)
            }
            Self::LogicalAnd(children) => {
                let begin = out.len();
                let all = children.iter_mut().all(|child| {
                    let outcome = child.offer(offer, out);
                    out.truncate(begin);
                    outcome != Outcome::Ignored
                });
                pass_if(all, offer, out)
            }
            Self::Negation(child) => {
                let begin = out.len();
                let outcome = child.offer(offer, out);
                out.truncate(begin);
                pass_if(outcome == Outcome::Ignored, offer, out)
            }
            Self::Bitmask {
                source_mask,
                type_mask,
                child,
            } => match single(offer) {
                Some((r#type, source))
                    if r#type & *type_mask != 0 && source & *source_mask != 0 =>
                {
                    child.offer(offer, out)
                }
                _ => Outcome::Ignored,
            },
            Self::MaskedType {
                source_mask,
                type_mask,
                source_value,
                type_value,
            } => {
                let passes = single(offer).is_some_and(|(r#type, source)| {
                    r#type & *type_mask == *type_value && source & *source_mask == *source_value
                });
                pass_if(passes, offer, out)
            }
            Self::Null => pass_if(true, offer, out),
            Self::Timer(number) => pass_if(offer.timer == Some(*number), offer, out),
        }
    }

    fn retains(&self, event: &SharedEvent) -> bool {
        match self {
            Self::Conjunction(conjunction) => {
                let mut retained = conjunction.events.iter();
                retained.any(|it| it.is(event))
                    || conjunction.children.iter().any(|it| it.retains(event))
            }
            Self::Disjunction(children) | Self::LogicalAnd(children) => {
                children.iter().any(|it| it.retains(event))
            }
            Self::Negation(child) | Self::Bitmask { child, .. } => child.retains(event),
            Self::Leaf { .. } | Self::MaskedType { .. } | Self::Null | Self::Timer(_) => false,
        }
    }

    /// Discards the collected events.
    fn clear(&mut self, collected: &Collected) {
        match self {
            Self::Conjunction(conjunction) => conjunction.clear(collected),
            Self::Disjunction(children) | Self::LogicalAnd(children) => {
                children.iter_mut().for_each(|it| it.clear(collected));
            }
            Self::Negation(child) | Self::Bitmask { child, .. } => child.clear(collected),
            Self::Leaf { .. } | Self::MaskedType { .. } | Self::Null | Self::Timer(_) => {}
        }
    }

    /// The number of collected events, each once.
    #[cold]
    fn collected(&self) -> u64 {
        let mut events = Vec::new();
        self.append_collected(&mut events);
        events.sort_unstable();
        events.dedup();
        events.len() as u64
    }

    /// Appends the addresses of the collected events.
    fn append_collected(&self, to: &mut Vec<*const Event>) {
        match self {
            Self::Conjunction(conjunction) => {
                to.extend(conjunction.events.iter().map(|it| ptr::from_ref(&**it)));
                let children = conjunction.children.iter();
                children.for_each(|it| it.append_collected(to));
            }
            Self::Disjunction(children) | Self::LogicalAnd(children) => {
                children.iter().for_each(|it| it.append_collected(to));
            }
            Self::Negation(child) | Self::Bitmask { child, .. } => child.append_collected(to),
            Self::Leaf { .. } | Self::MaskedType { .. } | Self::Null | Self::Timer(_) => {}
        }
    }
}

impl Conjunction {
    fn offer(&mut self, offer: &Offer<'_>, out: &mut Vec<SharedEvent>) -> Outcome {
        let begin = self.events.len();
        for (child, satisfied) in self.children.iter_mut().zip(&mut self.satisfied) {
            match child.offer(offer, &mut self.events) {
                Outcome::Ignored => {}
                Outcome::Consumed => return Outcome::Consumed,
                // The first event is retained, not the latest.
                Outcome::Passed if mem::replace(satisfied, true) => {
                    self.events.truncate(begin);
                    self.events.shrink_to(MAX_RETAINED);
                    return Outcome::Consumed;
                }
                Outcome::Passed => {
                    let bytes = self.events[begin..].iter().map(SharedEvent::bytes).sum();
                    self.bytes += bytes;
                    offer.collected.add(bytes);
                    if self.satisfied.iter().all(|it| *it) {
                        out.extend(self.events.iter().cloned());
                        return Outcome::Passed;
                    }
                    return Outcome::Consumed;
                }
            }
        }
        Outcome::Ignored
    }

    fn clear(&mut self, collected: &Collected) {
        self.satisfied.fill(false);
        self.events.clear();
        self.events.shrink_to(MAX_RETAINED);
        collected.subtract(mem::take(&mut self.bytes));
        let children = self.children.iter_mut();
        children.for_each(|it| it.clear(collected));
    }
}

fn nodes(patterns: &[Pattern], timers: &mut Vec<Timer>) -> Vec<Node> {
    let patterns = patterns.iter();
    patterns.map(|it| Node::new(it, timers)).collect()
}

pub(crate) fn matches(wanted: i32, given: i32) -> bool {
    wanted == given || wanted == ANY || given == ANY
}

/// Type and source of a single event.
fn single(offer: &Offer<'_>) -> Option<(i32, i32)> {
    match offer.events {
        [event] => Some((event.header.r#type, event.header.source)),
        _ => None,
    }
}

fn pass_if(passes: bool, offer: &Offer<'_>, out: &mut Vec<SharedEvent>) -> Outcome {
    pass_some(offer, out, |_| passes)
}

fn pass_some(
    offer: &Offer<'_>,
    out: &mut Vec<SharedEvent>,
    passes: impl Fn(&SharedEvent) -> bool,
) -> Outcome {
    let begin = out.len();
    out.extend(offer.events.iter().filter(|it| passes(it)).cloned());
    if out.len() == begin {
        Outcome::Ignored
    } else {
        Outcome::Passed
    }
}
