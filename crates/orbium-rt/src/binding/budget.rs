// SPDX-License-Identifier: MIT OR Apache-2.0
//! An admission that counts its reservations.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use orbium_channel::dedication::Undedicated;
use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{Priority, ThreadRequest};

use super::admission::{Admission, BindingRequest, Reservation, Verdict};
use super::qos::owned;
use super::{Buffer, Offer, Rate, Reason, ReasonCode, Terms};

/// A whole processor in units of utilisation.
const WHOLE: u64 = 1_000_000_000;

/// Limits the reservations: of processor time for each lane, of which a binding takes its rate
/// times the cost of a request, and of bindings, priorities, buffers and protocols. An offer that
/// exceeds them is answered with what remains.
///
/// The server declares the costs of requests, as measured in the worst case.
#[derive(Clone, Debug)]
pub struct Budget {
    bindings: usize,
    share: u64,
    shares: HashMap<String, u64>,
    cost: Duration,
    costs: HashMap<String, Duration>,
    priorities: RangeInclusive<i16>,
    burst: u32,
    buffer: Buffer,
    protocols: Vec<String>,
    /// The share that a binding may reserve.
    reservation: u64,
    used: Arc<Mutex<Used>>,
}

#[derive(Debug, Default)]
struct Used {
    bindings: usize,
    /// By lane.
    shares: HashMap<String, u64>,
}

/// The reservation of one binding.
#[derive(Debug)]
struct Held {
    used: Arc<Mutex<Used>>,
    lane: String,
    share: u64,
}

fn lock(used: &Mutex<Used>) -> MutexGuard<'_, Used> {
    used.lock()
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut used = lock(&self.used);
        used.bindings -= 1;
        if let Some(share) = used.shares.get_mut(&self.lane) {
            *share -= self.share;
            if *share == 0 {
                used.shares.remove(&self.lane);
            }
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bindings: 64,
            share: WHOLE / 2,
            shares: HashMap::new(),
            cost: Duration::from_millis(1),
            costs: HashMap::new(),
            priorities: 0..=i16::MAX,
            burst: 1024,
            buffer: Buffer {
                requests: 256,
                octets: 1 << 20,
            },
            protocols: Vec::new(),
            reservation: 0,
            used: Arc::default(),
        }
    }
}

/// A share of processors, from 0 to 64, in units of utilisation.
fn parts(share: f64) -> u64 {
    // Within the range of both types.
    (share.clamp(0.0, 64.0) * WHOLE as f64) as u64
}

impl Used {
    fn reserve(&mut self, lane: &str, share: u64) {
        self.bindings += 1;
        *self.shares.entry(lane.to_owned()).or_default() += share;
    }
}

impl Budget {
    /// The available buffer for an offer, and the reason if it is less than the minimum.
    fn buffer_for(&self, offer: &Offer) -> (Buffer, Option<Reason>) {
        let buffer = Buffer {
            requests: offer.buffer.requests.min(self.buffer.requests),
            octets: offer.buffer.octets.min(self.buffer.octets),
        };
        let least = offer.least_buffer;
        if buffer.requests >= least.requests && buffer.octets >= least.octets {
            return (buffer, None);
        }
        let Buffer { requests, octets } = self.buffer;
        let text = format!("there is room for {requests} requests and {octets} octets");
        (buffer, Some(Reason::new(ReasonCode::Buffer, text)))
    }

    /// 64 bindings, half a processor for each lane, 1 ms for each request, all
    /// priorities and protocols, bursts up to 1024, and buffers up to 256 requests
    /// and 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The maximum number of bindings.
    #[must_use]
    pub fn bindings(mut self, most: usize) -> Self {
        self.bindings = most;
        self
    }

    /// The share of a processor that may be reserved in each lane; more than 1.0 if several serve
    /// it.
    #[must_use]
    pub fn share(mut self, share: f64) -> Self {
        self.share = parts(share);
        self
    }

    /// The same for the lane of that name.
    #[must_use]
    pub fn share_of(mut self, lane: impl Into<String>, share: f64) -> Self {
        self.shares.insert(lane.into(), parts(share));
        self
    }

    /// The maximum processor time of a request, at least 1 ns.
    #[must_use]
    pub fn cost(mut self, cost: Duration) -> Self {
        self.cost = cost;
        self
    }

    /// The same for objects of the adapter of that name.
    #[must_use]
    pub fn cost_in(mut self, adapter: impl Into<String>, cost: Duration) -> Self {
        self.costs.insert(adapter.into(), cost);
        self
    }

    /// The permitted priorities of bindings and of dedicated threads.
    #[must_use]
    pub fn priorities(mut self, numbers: RangeInclusive<i16>) -> Self {
        self.priorities = numbers;
        self
    }

    /// The largest burst and the largest buffer.
    #[must_use]
    pub fn at_most(mut self, burst: u32, buffer: Buffer) -> Self {
        (self.burst, self.buffer) = (burst.max(1), buffer);
        self
    }

    /// The protocols that bindings may have.
    #[must_use]
    pub fn protocols(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.protocols = owned(names);
        self
    }

    /// The share of a processor that the host may reserve for each binding's thread; 0 by default.
    /// The host decides itself whether that is available.
    #[must_use]
    pub fn reservations(mut self, share: f64) -> Self {
        self.reservation = parts(share);
        self
    }

    /// The number of bindings.
    #[must_use]
    pub fn active(&self) -> usize {
        lock(&self.used).bindings
    }

    /// The reserved share of a processor of a lane.
    #[must_use]
    pub fn promised(&self, lane: &str) -> f64 {
        let share = lock(&self.used).shares.get(lane).copied();
        share.unwrap_or(0) as f64 / WHOLE as f64
    }

    fn cost_of(&self, adapter: &str) -> Duration {
        let cost = self.costs.get(adapter).copied().unwrap_or(self.cost);
        cost.max(Duration::from_nanos(1))
    }

    /// A protocol that both permit, and whether it is the connection's.
    fn protocol(&self, asked: &BindingRequest<'_>) -> Option<(String, bool)> {
        let permitted = |name: &str| {
            let known = self.protocols.iter().any(|it| it == name);
            self.protocols.is_empty() || known
        };
        if permitted(asked.protocol) {
            return Some((asked.protocol.to_owned(), true));
        }
        let other = asked.offer.protocols.iter().find(|it| permitted(it));
        other.map(|it| (it.clone(), false))
    }
}

/// The share of a processor of a rate with that cost of a request.
pub(super) fn share_for(requests: u32, period: Duration, cost: Duration) -> u64 {
    let time = u128::from(requests) * cost.as_nanos() * u128::from(WHOLE);
    u64::try_from(time.div_ceil(period.as_nanos().max(1))).unwrap_or(u64::MAX)
}

/// Requests in a period that a share is enough for.
pub(super) fn requests_for(share: u64, period: Duration, cost: Duration) -> u32 {
    let per_request = cost.as_nanos().max(1) * u128::from(WHOLE);
    let requests = u128::from(share) * period.as_nanos() / per_request;
    u32::try_from(requests).unwrap_or(u32::MAX)
}

/// The result for an offer, except for the available rate.
pub(super) struct Prepared {
    /// With the desired rate.
    pub(super) terms: Terms,
    /// The reasons why these terms are not within the offer.
    pub(super) reasons: Vec<Reason>,
    /// The processor time of a request.
    pub(super) cost: Duration,
}

impl Budget {
    /// The terms for an offer, except for its rate.
    ///
    /// # Errors
    /// No terms are acceptable.
    pub(super) fn prepare(&self, asked: &BindingRequest<'_>) -> Result<Prepared, Reason> {
        let offer = asked.offer;
        let mut reasons = Vec::new();
        let (low, high) = (*self.priorities.start().max(&0), *self.priorities.end());
        if low > high {
            let text = "bindings have no priorities here";
            return Err(Reason::new(ReasonCode::Priority, text));
        }
        let number = offer.priority.high.clamp(low, high);
        if number < offer.priority.low || number > offer.priority.high {
            let text = format!("bindings have priorities from {low} to {high} here");
            reasons.push(Reason::new(ReasonCode::Priority, text));
        }
        let Some((protocol, same)) = self.protocol(asked) else {
            let text = format!("bindings go over {} here", self.protocols.join(", "));
            return Err(Reason::new(ReasonCode::Protocol, text));
        };
        if !same {
            let text = format!("over {protocol} rather than {}", asked.protocol);
            reasons.push(Reason::new(ReasonCode::Protocol, text));
        }
        let (buffer, too_small) = self.buffer_for(offer);
        reasons.extend(too_small);
        let cost = self.cost_of(asked.adapter);
        if offer.deadline.is_some_and(|deadline| deadline < cost) {
            let text = format!("a request takes up to {cost:?}");
            return Err(Reason::new(ReasonCode::Deadline, text));
        }
        if let Some(reservation) = offer.reservation {
            let reserved = share_for(1, reservation.period, reservation.runtime);
            if reserved > self.reservation {
                let most = self.reservation as f64 / WHOLE as f64;
                let text = format!("a binding may reserve {most} of a processor here");
                return Err(Reason::new(ReasonCode::Reservation, text));
            }
        }
        let terms = Terms {
            priority: Priority::new(number).unwrap_or(Priority::MIN),
            rate: Rate {
                burst: offer.rate.burst.min(self.burst),
                ..offer.rate
            },
            excess: offer.excess,
            buffer,
            deadline: offer.deadline,
            reservation: offer.reservation,
            protocol,
        };
        Ok(Prepared {
            terms,
            reasons,
            cost,
        })
    }

    /// Whether one more binding is permitted in addition to that many.
    ///
    /// # Errors
    /// The reason for a refusal.
    pub(super) fn has_room_for_another(&self, bindings: usize) -> Result<(), Reason> {
        if bindings < self.bindings {
            return Ok(());
        }
        let most = self.bindings;
        let text = format!("there are {most} bindings, as many as there may be");
        Err(Reason::new(ReasonCode::Bindings, text))
    }

    /// The share that may be reserved in a lane.
    pub(super) fn share_of_lane(&self, lane: &str) -> u64 {
        self.shares.get(lane).copied().unwrap_or(self.share)
    }

    fn decide(&self, asked: &BindingRequest<'_>) -> Result<Verdict, Reason> {
        let offer = asked.offer;
        let Prepared {
            mut terms,
            mut reasons,
            cost,
        } = self.prepare(asked)?;
        let held = asked.held.and_then(Reservation::downcast_ref::<Held>);
        let (held, own) = held.map_or((0, 0), |it| (it.share, 1));
        let mut used = lock(&self.used);
        self.has_room_for_another(used.bindings.saturating_sub(own))?;
        let all = self.share_of_lane(asked.lane);
        let taken = used.shares.get(asked.lane).copied().unwrap_or(0);
        let taken = taken.saturating_sub(held);
        let period = offer.rate.period;
        let left = requests_for(all.saturating_sub(taken), period, cost);
        let requests = offer.rate.requests.min(left);
        if requests < offer.least_requests {
            let text = format!("there is time left for {left} requests in {period:?}");
            let reason = Reason::new(ReasonCode::Rate, text);
            if requests == 0 {
                return Err(reason);
            }
            reasons.push(reason);
        }
        terms.rate.requests = requests;
        if let Some(reason) = reasons.into_iter().next() {
            return Ok(Verdict::Counter(terms, reason));
        }
        let share = share_for(requests, period, cost);
        used.reserve(asked.lane, share);
        drop(used);
        let held = Held {
            used: Arc::clone(&self.used),
            lane: asked.lane.to_owned(),
            share,
        };
        Ok(Verdict::Accept(terms, Reservation::new(held)))
    }
}

impl Admission for Budget {
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict {
        self.decide(asked).unwrap_or_else(Verdict::Refuse)
    }

    fn thread(&self, asked: &ThreadRequest<'_>) -> Result<(), Undedicated> {
        let permitted = |it: Priority| self.priorities.contains(&it.number());
        if asked.priority.is_none_or(permitted) {
            Ok(())
        } else {
            Err(Undedicated::Priority)
        }
    }
}

#[cfg(test)]
mod tests;
