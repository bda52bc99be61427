// SPDX-License-Identifier: MIT OR Apache-2.0
//! Items of a lane's queue: received requests, and collocated calls.

use std::sync::Arc;
use std::time::Instant;

use orbium_invocation::{Priority, QueuedCall};
use orbium_lane::{Order, QueueBounds, QueuePermit};

use crate::connections::connection::ServerConnection;
use crate::intake::{Queued, count_waited, no_room};
use crate::lane::rank::Place;
use orbium_request::ServerContext;

/// In place of a connection's id: the share of collocated callers in the queue.
const WITHIN_THE_PROCESS: u64 = u64::MAX;

/// A queued item. Dropped, it was not begun.
pub(super) enum Item {
    Request(Queued),
    Call(LocalCall),
}

/// A collocated call.
pub(super) struct LocalCall {
    pub(super) queued: QueuedCall,
    place: Place,
    permit: Option<QueuePermit>,
    /// The time of the call, if measured.
    arrived: Option<Instant>,
}

impl LocalCall {
    pub(super) fn new(queued: QueuedCall, context: &ServerContext, order: Order) -> Self {
        let priority = queued.priority.map_or(0, Priority::number);
        Self {
            place: Place::of_call(order, priority, queued.deadline),
            queued,
            permit: None,
            arrived: context.measurements().map(|_| Instant::now()),
        }
    }
}

impl Item {
    /// Acquires a permit of bounds that several lanes share; `false` if there is none.
    pub(super) fn acquire(&mut self, bounds: &QueueBounds) -> bool {
        match self {
            Self::Request(request) => request.acquire(bounds),
            Self::Call(call) => {
                call.permit = bounds.acquire(call.queued.octets);
                call.permit.is_some()
            }
        }
    }

    /// Releases its permit.
    pub(super) fn give_place_back(&mut self) {
        match self {
            Self::Request(request) => request.give_place_back(),
            Self::Call(call) => call.permit = None,
        }
    }

    /// Ends the queueing: releases the permit and records the time.
    pub(super) fn begin(&mut self, context: &ServerContext, lane: (u32, &str)) {
        match self {
            Self::Request(request) => request.begin(context, lane),
            Self::Call(call) => {
                call.permit = None;
                if let Some(arrived) = call.arrived {
                    count_waited(context, lane, arrived);
                }
            }
        }
    }

    /// Its place in the queue.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Request(request) => request.place(),
            Self::Call(call) => call.place,
        }
    }

    /// The size of the item.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Request(request) => request.len(),
            Self::Call(call) => call.queued.octets,
        }
    }

    /// The connection of the request.
    pub(super) fn connection(&self) -> Option<&ServerConnection> {
        match self {
            Self::Request(request) => Some(request.connection()),
            Self::Call(_) => None,
        }
    }

    /// The number for its share of the queue.
    pub(super) fn sharer(&self) -> u64 {
        match self {
            Self::Request(request) => request.connection().id,
            Self::Call(_) => WITHIN_THE_PROCESS,
        }
    }

    /// The connection that has to wait until this oneway was served.
    pub(super) fn oneway(&self) -> Option<u64> {
        match self {
            Self::Request(request) => request.is_oneway().then(|| request.connection().id),
            Self::Call(_) => None,
        }
    }

    /// Whether it is a matching request.
    pub(super) fn is_request(&self, which: impl FnOnce(&Queued) -> bool) -> bool {
        matches!(self, Self::Request(request) if which(request))
    }

    /// Whether it is the call with that number.
    pub(super) fn is_call(&self, number: u64) -> bool {
        matches!(self, Self::Call(call) if call.queued.number == number)
    }

    /// Answers that the queue is full: it was not begun.
    #[cold]
    pub(super) fn refuse(&self) {
        match self {
            Self::Request(request) => request.refuse(),
            Self::Call(call) => Arc::clone(&call.queued.call).refuse(no_room()),
        }
    }
}
