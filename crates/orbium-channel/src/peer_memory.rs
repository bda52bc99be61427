// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that peers can make the ORB use: one budget for all connections.
//!
//! The memory of a connection for small messages is not counted. Beyond that a receive buffer, a
//! message in assembly, a queued request or a reply that its client does not receive is charged
//! before the memory is allocated, and credited when it is released.
//!
//! A holder may use at most as much as it leaves free: the first half of the budget, the next half
//! of the rest, and so on. Thus a few large messages never exclude small ones, and the largest is
//! refused first.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

/// Octets of the smallest receive buffer, uncharged: many small messages arrive at once. With all
/// other memory of a server for an idle connection it is less than 8 KiB.
pub const SMALL: usize = 6 * 1024 + 256;

/// The budget if the memory of the host cannot be determined.
const UNKNOWN_HOST: usize = 512 << 20;

/// Memory that peers currently make an ORB use; see `Orb::peer_memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerMemory {
    /// Octets in use now.
    pub held: usize,
    /// The maximum number of octets in use so far.
    pub most: usize,
    /// The budget in octets: `Limits::peer_memory`, or its default.
    pub budget: usize,
    /// Messages refused so far because they did not fit into the budget, or because
    /// the system had no memory for them.
    pub refused: u64,
}

#[derive(Debug)]
struct Counters {
    /// Maximum decoded octets for each octet of a frame.
    ratio: usize,
    budget: usize,
    held: AtomicUsize,
    most: AtomicUsize,
    refused: AtomicU64,
}

/// The budget of an ORB, or no bound at all. Clones are the same budget.
#[derive(Clone, Default)]
pub struct Budget(Option<Arc<Counters>>);

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// There is no memory for a peer's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl NoMemory {
    /// The exception in the reply to the peer's request, or for the caller of the reply.
    pub const fn exception(completion: Completion) -> SystemException {
        let (kind, code) = (ExceptionKind::NoResources, minor::PEER_MEMORY);
        SystemException::orbium(kind, code, completion)
    }
}

impl Budget {
    /// No bound, for users that are not part of an ORB.
    pub const NONE: Self = Self(None);

    /// A budget of that many octets; by default half of the memory that the process
    /// may use.
    pub fn new(octets: Option<usize>, ratio: usize) -> Self {
        let share = || orbium_sys::usable_memory().map_or(UNKNOWN_HOST, |memory| memory / 2);
        Self(Some(Arc::new(Counters {
            ratio,
            budget: octets.unwrap_or_else(share),
            held: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
        })))
    }

    /// An empty charge.
    pub fn charge(&self) -> Charge {
        Charge {
            budget: self.clone(),
            octets: 0,
        }
    }

    /// Whether connections should release memory that they could reuse.
    pub fn is_tight(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|counters| counters.held.load(Ordering::Relaxed) > counters.budget / 4)
    }

    /// Maximum decoded octets for each octet of a frame.
    pub fn ratio(&self) -> usize {
        self.0
            .as_ref()
            .map_or(usize::MAX, |counters| counters.ratio)
    }

    /// Counts a message for which there was no memory.
    #[cold]
    pub fn count_refused(&self) {
        if let Some(counters) = &self.0 {
            counters.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The figures.
    pub fn figures(&self) -> PeerMemory {
        let counters = self.0.as_deref();
        let octets = |of: fn(&Counters) -> &AtomicUsize| {
            counters.map_or(0, |counters| of(counters).load(Ordering::Relaxed))
        };
        PeerMemory {
            held: octets(|it| &it.held),
            most: octets(|it| &it.most),
            budget: counters.map_or(usize::MAX, |it| it.budget),
            refused: counters.map_or(0, |it| it.refused.load(Ordering::Relaxed)),
        }
    }
}

/// Charge of one holder to the budget; credited when dropped.
#[derive(Debug, Default)]
pub struct Charge {
    budget: Budget,
    octets: usize,
}

impl Charge {
    /// Changes the charge to that many octets.
    ///
    /// # Errors
    /// The charge would exceed the free rest of the budget, and is unchanged.
    pub fn set(&mut self, octets: usize) -> Result<(), NoMemory> {
        let Some(counters) = &self.budget.0 else {
            return Ok(());
        };
        if octets <= self.octets {
            counters
                .held
                .fetch_sub(self.octets - octets, Ordering::Relaxed);
            self.octets = octets;
            return Ok(());
        }
        let own = self.octets;
        let charged = |held: usize| {
            let others = held.saturating_sub(own);
            let after = others.checked_add(octets)?;
            (after.checked_add(octets)? <= counters.budget).then_some(after)
        };
        let held = &counters.held;
        let before = held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, charged)
            .map_err(|_| NoMemory)?;
        let after = before.saturating_sub(own) + octets;
        counters.most.fetch_max(after, Ordering::Relaxed);
        self.octets = octets;
        Ok(())
    }

    /// The budget charged.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Charge {
    #[inline]
    fn drop(&mut self) {
        if self.octets > 0 {
            // Less is never refused.
            let _ = self.set(0);
        }
    }
}

/// The number of octets to charge for a message of that size: 0 for a small one.
#[must_use]
pub fn counted(octets: usize) -> usize {
    if octets <= SMALL { 0 } else { octets }
}

/// A copy of a message in `room`, charged if it is large.
pub fn copied(
    message: &[u8],
    mut room: Vec<u8>,
    budget: &Budget,
) -> Result<(Vec<u8>, Charge), NoMemory> {
    let mut charge = budget.charge();
    if message.len() > SMALL {
        charge.set(message.len())?;
    }
    append(&mut room, message)?;
    Ok((room, charge))
}

/// Appends octets, if the system has memory for them.
pub fn append(to: &mut Vec<u8>, octets: &[u8]) -> Result<(), NoMemory> {
    to.try_reserve(octets.len()).map_err(|_| NoMemory)?;
    to.extend_from_slice(octets);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: ORB - one budget for all that peers make an ORB hold
    #[test]
    fn the_first_may_have_half_and_the_next_half_of_the_rest() {
        let budget = Budget::new(Some(1000), 100);
        let (mut first, mut second) = (budget.charge(), budget.charge());
        assert_eq!(first.set(501), Err(NoMemory));
        first.set(500).unwrap();
        assert_eq!(second.set(251), Err(NoMemory));
        second.set(250).unwrap();
        assert_eq!(budget.figures().held, 750);
        let mut small = budget.charge();
        small.set(10).unwrap();
        drop(first);
        second.set(400).unwrap();
        second.set(0).unwrap();
        drop((second, small));
        let figures = budget.figures();
        assert_eq!((figures.held, figures.most), (0, 760));
    }

    #[test]
    fn without_a_budget_nothing_is_refused() {
        let mut charge = Budget::NONE.charge();
        charge.set(usize::MAX).unwrap();
        assert!(!Budget::NONE.is_tight());
    }

    #[test]
    fn more_than_a_quarter_is_tight() {
        let budget = Budget::new(Some(1000), 100);
        let mut charge = budget.charge();
        charge.set(250).unwrap();
        assert!(!budget.is_tight());
        charge.set(251).unwrap();
        assert!(budget.is_tight());
    }
}
