// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places of requests in the queue of a lane, by its order.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use orbium_giop::ServiceContexts;
use orbium_giop::riop::Riop;
use orbium_lane::{Order, RequestTiming};

/// Default criticality and importance of a request: MEDIUM.
const MEDIUM: u8 = 2;

/// The place of a request in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// By priority: higher first.
    Level(i16),
    /// By rank: the least first.
    Ranked(Rank),
}

/// The rank of a request, constant while it is queued. Deadlines are points of time; and laxity
/// (deadline − now − execution time) orders all queued requests at any one time as deadline −
/// execution time does, as a queued request is not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    criticality: Reverse<u8>,
    latest: Latest,
    importance: Reverse<u8>,
}

/// The time by which a request has to end or, by laxity, to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Latest {
    At(Instant),
    /// After all others.
    Never,
}

impl Place {
    /// The rank of a request with that priority, those times of a schedule and that end time, which
    /// has arrived now.
    pub(crate) fn of_request(
        order: Order,
        (priority, timing): (i16, Option<RequestTiming>),
        contexts: &ServiceContexts<'_>,
        deadline: Option<Instant>,
    ) -> Self {
        match order {
            Order::Fifo => Self::Level(0),
            Order::Priority => Self::Level(priority),
            Order::Subpriority => Self::Level(timing.map_or(i16::MIN, |it| !level(it.subpriority))),
            by => Self::Ranked(ranked(by, timing, Riop::of(contexts).as_ref(), deadline)),
        }
    }

    /// The rank of a collocated call, which has no service contexts.
    pub(crate) fn of_call(order: Order, priority: i16, deadline: Option<Instant>) -> Self {
        Self::of_request(order, (priority, None), &ServiceContexts::EMPTY, deadline)
    }
}

/// A subpriority in the range of the levels.
fn level(subpriority: u32) -> i16 {
    i16::try_from(subpriority).unwrap_or(i16::MAX - 1)
}

#[cold]
fn ranked(
    order: Order,
    timing: Option<RequestTiming>,
    said: Option<&Riop>,
    end: Option<Instant>,
) -> Rank {
    let relative = said.and_then(Riop::deadline);
    // A deadline beyond the range of the clock is ignored.
    let by_riop = || Instant::now().checked_add(relative?);
    let scheduled = timing.and_then(|it| it.deadline);
    let deadline = scheduled.or_else(by_riop).or(end);
    let execution = match order {
        Order::EarliestDeadline => Duration::ZERO,
        _ => timing.map_or(Duration::ZERO, |it| it.execution),
    };
    let latest = deadline.map(|it| it.checked_sub(execution).unwrap_or(it));
    let said = said.filter(|_| order == Order::MaximumUrgency);
    let degree = |of: fn(&Riop) -> Option<u8>| Reverse(said.and_then(of).unwrap_or(MEDIUM));
    Rank {
        criticality: degree(|it| it.criticality),
        latest: latest.map_or(Latest::Never, Latest::At),
        importance: degree(|it| it.importance),
    }
}
