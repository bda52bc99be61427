// SPDX-License-Identifier: MIT OR Apache-2.0
//! An admission that divides the capacity equally.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use orbium_channel::dedication::Undedicated;
use orbium_core::ThreadRequest;
use orbium_core::lock::{Mutex, MutexGuard};

use super::admission::{AdjustableRate, Admission, BindingRequest, Reservation, Verdict};
use super::budget::{Budget, Prepared, requests_for, share_for};
use super::{Offer, Reason, ReasonCode};

/// Accepts a binding if its least rate is available, and divides the time of a lane equally
/// (max-min fairness): a binding that requests less than its share gets its full rate, and the
/// others divide the rest. A further binding lowers the rates of existing ones, within their
/// offers; one that ends raises them. Clients obtain their rate by
/// [`Bound::present_terms`](super::Bound::present_terms).
///
/// All else is determined by its [`Budget`]: the shares of lanes, costs, priorities, buffers,
/// protocols and the number of bindings.
///
/// ```
/// use orbium_rt::{Budget, FairShare};
/// use std::time::Duration;
///
/// // 1,000 requests a second in all, whatever the number of clients.
/// let quotes = FairShare::new(Budget::new().share(1.0).cost(Duration::from_millis(1)));
/// assert_eq!(quotes.active(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct FairShare {
    budget: Budget,
    lanes: Arc<Mutex<Lanes>>,
}

#[derive(Debug, Default)]
struct Lanes {
    last: u64,
    members: HashMap<String, Vec<Member>>,
}

/// A binding with a share.
#[derive(Clone, Debug)]
struct Member {
    number: u64,
    wanted: Wanted,
    rate: AdjustableRate,
}

/// The desired rate of a binding, and the least acceptable one.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    requests: u32,
    least: u32,
    period: Duration,
    cost: Duration,
}

/// The membership of a binding in a lane.
#[derive(Debug)]
struct Held {
    lanes: Arc<Mutex<Lanes>>,
    lane: String,
    number: u64,
    capacity: u64,
}

fn lock(lanes: &Mutex<Lanes>) -> MutexGuard<'_, Lanes> {
    lanes.lock()
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut lanes = lock(&self.lanes);
        let Some(members) = lanes.members.get_mut(&self.lane) else {
            return;
        };
        members.retain(|it| it.number != self.number);
        if members.is_empty() {
            lanes.members.remove(&self.lane);
        } else {
            divide(members, self.capacity);
        }
    }
}

impl Wanted {
    fn of(offer: &Offer, cost: Duration) -> Self {
        Self {
            requests: offer.rate.requests,
            least: offer.least_requests,
            period: offer.rate.period,
            cost,
        }
    }

    fn share(&self, requests: u32) -> u64 {
        share_for(requests, self.period, self.cost)
    }

    /// Its share of a processor if the share of each binding is limited to `level`.
    fn part(&self, level: u64) -> u64 {
        let least = self.share(self.least);
        level.clamp(least, self.share(self.requests).max(least))
    }

    /// The requests in a period that a part is enough for.
    fn requests(&self, part: u64) -> u32 {
        let requests = requests_for(part, self.period, self.cost);
        requests.clamp(self.least, self.requests)
    }
}

/// The highest level at which all shares together do not exceed the capacity; `None` if the least
/// shares do.
fn level(wanted: &[Wanted], capacity: u64) -> Option<u64> {
    let fits = |level: u64| {
        let parts = wanted.iter().map(|it| it.part(level));
        parts.fold(0, u64::saturating_add) <= capacity
    };
    if !fits(0) {
        return None;
    }
    let (mut fitting, mut beyond) = (0, capacity.saturating_add(1));
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Some(fitting)
}

/// Assigns each member its share. Has no effect if the least shares exceed the capacity, which was
/// checked before the last of them became a member.
fn divide(members: &[Member], capacity: u64) {
    let wanted: Vec<Wanted> = members.iter().map(|it| it.wanted).collect();
    if let Some(level) = level(&wanted, capacity) {
        for member in members {
            let requests = member.wanted.requests(member.wanted.part(level));
            member.rate.set(requests);
        }
    }
}

impl FairShare {
    /// Divides the shares of that budget.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            lanes: Arc::default(),
        }
    }

    /// The number of bindings.
    #[must_use]
    pub fn active(&self) -> usize {
        lock(&self.lanes).members.values().map(Vec::len).sum()
    }

    fn decide(&self, asked: &BindingRequest<'_>) -> Result<Verdict, Reason> {
        let Prepared {
            mut terms,
            reasons,
            cost,
        } = self.budget.prepare(asked)?;
        let capacity = self.budget.share_of_lane(asked.lane);
        let mine = Wanted::of(asked.offer, cost);
        let held = asked.held.and_then(Reservation::downcast_ref::<Held>);
        let is_other = |it: &&Member| held.is_none_or(|held| held.number != it.number);
        let mut lanes = lock(&self.lanes);
        let bindings = lanes.members.values().flatten().filter(is_other).count();
        self.budget.has_room_for_another(bindings)?;
        let members = lanes.members.get(asked.lane).map_or(&[][..], Vec::as_slice);
        let others = members.iter().filter(is_other).map(|it| it.wanted);
        let others: Vec<Wanted> = others.collect();
        let all: Vec<Wanted> = others.iter().copied().chain([mine]).collect();
        let Some(level) = level(&all, capacity) else {
            return self.counter(mine, &others, capacity).map(|requests| {
                let text = format!(
                    "there is time left for {requests} requests in {:?}",
                    mine.period
                );
                terms.rate.requests = requests;
                Verdict::Counter(terms, Reason::new(ReasonCode::Rate, text))
            });
        };
        terms.rate.requests = mine.requests(mine.part(level));
        if let Some(reason) = reasons.into_iter().next() {
            return Ok(Verdict::Counter(terms, reason));
        }
        lanes.last += 1;
        let number = lanes.last;
        let rate = AdjustableRate::new(terms.rate.requests);
        let members = lanes.members.entry(asked.lane.to_owned()).or_default();
        members.push(Member {
            number,
            wanted: mine,
            rate: rate.clone(),
        });
        divide(members, capacity);
        let held = Held {
            lanes: Arc::clone(&self.lanes),
            lane: asked.lane.to_owned(),
            number,
            capacity,
        };
        Ok(Verdict::Accept(terms, Reservation::adjustable(held, rate)))
    }

    /// The number of requests per period that remain if all others have only their least rate.
    ///
    /// # Errors
    /// None remain.
    fn counter(&self, mine: Wanted, others: &[Wanted], capacity: u64) -> Result<u32, Reason> {
        let least = others.iter().map(|it| it.part(0));
        let left = capacity.saturating_sub(least.fold(0, u64::saturating_add));
        match requests_for(left, mine.period, mine.cost) {
            0 => {
                let text = "all others have the least that they have agreed to";
                Err(Reason::new(ReasonCode::Rate, text))
            }
            requests => Ok(requests),
        }
    }
}

impl Admission for FairShare {
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict {
        self.decide(asked).unwrap_or_else(Verdict::Refuse)
    }

    fn thread(&self, asked: &ThreadRequest<'_>) -> Result<(), Undedicated> {
        self.budget.thread(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: u64 = 1_000_000_000;

    fn wanted(requests: u32, least: u32) -> Wanted {
        Wanted {
            requests,
            least,
            period: Duration::from_secs(1),
            cost: Duration::from_millis(1),
        }
    }

    fn divided(all: &[Wanted], capacity: u64) -> Option<Vec<u32>> {
        let level = level(all, capacity)?;
        Some(all.iter().map(|it| it.requests(it.part(level))).collect())
    }

    #[test]
    fn equal_demands_have_equal_parts() {
        let all = [wanted(1_000, 1); 3];
        assert_eq!(divided(&all, WHOLE), Some(vec![333; 3]));
        assert_eq!(divided(&all[..1], WHOLE), Some(vec![1_000]));
    }

    #[test]
    fn a_small_demand_is_met_and_the_others_divide_the_rest() {
        let all = [wanted(100, 1), wanted(1_000, 1), wanted(1_000, 1)];
        assert_eq!(divided(&all, WHOLE), Some(vec![100, 450, 450]));
    }

    #[test]
    fn the_least_is_kept() {
        let all = [wanted(1_000, 700), wanted(1_000, 1), wanted(1_000, 1)];
        assert_eq!(divided(&all, WHOLE), Some(vec![700, 150, 150]));
        let too_many = [wanted(600, 600), wanted(600, 401)];
        assert_eq!(divided(&too_many, WHOLE), None);
        let exactly = [wanted(600, 600), wanted(600, 400)];
        assert_eq!(divided(&exactly, WHOLE), Some(vec![600, 400]));
    }

    #[test]
    fn less_than_all_is_wanted() {
        let all = [wanted(10, 1), wanted(20, 1)];
        assert_eq!(divided(&all, WHOLE), Some(vec![10, 20]));
        assert_eq!(divided(&[], WHOLE), Some(vec![]));
    }
}
