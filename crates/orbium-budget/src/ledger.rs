// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a group, their charging and demotion.

use std::time::Duration;

use orbium_sys::{NativeThread, Scheduling};

use crate::Budget;
use crate::account::Account;
use crate::budget::MIN_BUDGET;
use crate::host::Host;

/// The interval at which threads with a changed scheduling are demoted again while a budget is
/// exhausted.
const DEMOTION_INTERVAL: Duration = Duration::from_millis(1);

/// The state of a group; the caller holds its lock.
#[derive(Debug)]
pub(crate) struct Ledger {
    budget: Budget,
    account: Account,
    threads: Vec<Member>,
    demotions: u64,
}

#[derive(Debug)]
struct Member {
    thread: NativeThread,
    own: Scheduling,
    /// Its processor time at the last check.
    seen: Duration,
    demoted: bool,
}

impl Ledger {
    pub(crate) fn new(budget: Budget, host: &impl Host) -> Self {
        Self {
            account: Account::new(budget.time, budget.period, host.now()),
            budget,
            threads: Vec::new(),
            demotions: 0,
        }
    }

    /// Adds a thread with its own scheduling, or changes that of a present one. The consumption of
    /// an added thread before is not charged.
    pub(crate) fn enter(&mut self, thread: NativeThread, own: Scheduling, host: &impl Host) {
        match self.threads.iter_mut().find(|it| it.thread == thread) {
            Some(member) => member.own = own,
            None => self.threads.push(Member {
                thread,
                own,
                seen: host.processor_time(thread).unwrap_or_default(),
                demoted: false,
            }),
        }
        self.look(host);
    }

    /// Removes a thread, after it is charged. A demoted one has its own scheduling again.
    pub(crate) fn leave(&mut self, thread: NativeThread, host: &impl Host) {
        self.look(host);
        let Some(index) = self.threads.iter().position(|it| it.thread == thread) else {
            return;
        };
        let mut member = self.threads.swap_remove(index);
        member.restore(self.budget.background, host);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Charges the group, and demotes or restores its threads. Returns the time until the next
    /// check is due: before that the budget cannot be exhausted.
    pub(crate) fn look(&mut self, host: &impl Host) -> Duration {
        let was_exhausted = self.account.is_exhausted();
        let mut consumed = Duration::ZERO;
        for member in &mut self.threads {
            consumed = consumed.saturating_add(member.take(host));
        }
        let now = host.now();
        self.account.charge(now, consumed);
        let is_exhausted = self.account.is_exhausted();
        if is_exhausted {
            let background = self.budget.background;
            for member in &mut self.threads {
                self.demotions += u64::from(member.demote(background, host));
            }
        } else if was_exhausted {
            for member in &mut self.threads {
                member.restore(self.budget.background, host);
            }
        }
        let until = self.account.until_replenished(now);
        let next = if is_exhausted {
            DEMOTION_INTERVAL
        } else {
            // Processor time passes no faster than real time, in each of them.
            self.account.remaining(Duration::ZERO) / self.concurrency()
        };
        next.min(until).max(MIN_BUDGET)
    }

    fn concurrency(&self) -> u32 {
        u32::try_from(self.threads.len()).unwrap_or(u32::MAX).max(1)
    }

    /// The present remainder of this period.
    pub(crate) fn remaining(&self, host: &impl Host) -> Duration {
        let since = |it: &Member| {
            let now = host.processor_time(it.thread).unwrap_or(it.seen);
            now.saturating_sub(it.seen)
        };
        self.account
            .remaining(self.threads.iter().map(since).sum::<Duration>())
    }

    pub(crate) fn exhaustions(&self) -> u64 {
        self.account.exhaustions()
    }

    pub(crate) fn demotions(&self) -> u64 {
        self.demotions
    }

    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }
}

impl Member {
    /// The consumption since the last check.
    fn take(&mut self, host: &impl Host) -> Duration {
        let now = host.processor_time(self.thread).unwrap_or(self.seen);
        let consumed = now.saturating_sub(self.seen);
        self.seen = now;
        consumed
    }

    /// Demotes the thread to the background, unless it already has it. A thread for which the ORB
    /// has set another scheduling after its demotion, as for a request with its own priority, is
    /// demoted again; one with a reservation keeps that. Returns whether it is newly demoted.
    fn demote(&mut self, background: Scheduling, host: &impl Host) -> bool {
        let Some(has) = host.scheduling(self.thread) else {
            return false;
        };
        if has == background || !host.set_scheduling(self.thread, background) {
            return false;
        }
        !std::mem::replace(&mut self.demoted, true)
    }

    /// Restores the own scheduling, unless another one than the background was set.
    fn restore(&mut self, background: Scheduling, host: &impl Host) {
        let demoted = std::mem::take(&mut self.demoted);
        if demoted && host.scheduling(self.thread) == Some(background) {
            // It was accepted before; if the system refuses it now, the thread stays in the
            // background.
            host.set_scheduling(self.thread, self.own);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use super::*;

    #[derive(Default)]
    struct Fake(RefCell<Facts>);

    #[derive(Default)]
    struct Facts {
        now: Duration,
        threads: HashMap<u32, (Duration, Scheduling)>,
        refuses: bool,
        /// Whether the threads have reservations.
        reserves: bool,
    }

    impl Fake {
        /// Runs a thread for that time, while others are idle.
        fn run(&self, thread: u32, milliseconds: u64) {
            let mut facts = self.0.borrow_mut();
            facts.now += ms(milliseconds);
            facts.threads.get_mut(&thread).unwrap().0 += ms(milliseconds);
        }

        fn rest(&self, milliseconds: u64) {
            self.0.borrow_mut().now += ms(milliseconds);
        }

        fn has(&self, thread: u32) -> Scheduling {
            self.0.borrow().threads[&thread].1
        }
    }

    fn number(thread: NativeThread) -> u32 {
        (1..9)
            .find(|it| NativeThread::numbered(*it) == thread)
            .unwrap()
    }

    impl Host for Fake {
        fn now(&self) -> Duration {
            self.0.borrow().now
        }

        fn processor_time(&self, thread: NativeThread) -> Option<Duration> {
            let facts = self.0.borrow();
            facts.threads.get(&number(thread)).map(|it| it.0)
        }

        fn scheduling(&self, thread: NativeThread) -> Option<Scheduling> {
            let facts = self.0.borrow();
            let known = facts.threads.get(&number(thread)).map(|it| it.1);
            known.filter(|_| !facts.reserves)
        }

        fn set_scheduling(&self, thread: NativeThread, scheduling: Scheduling) -> bool {
            let mut facts = self.0.borrow_mut();
            let refuses = facts.refuses;
            let known = facts.threads.get_mut(&number(thread));
            known
                .filter(|_| !refuses)
                .map(|it| it.1 = scheduling)
                .is_some()
        }
    }

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    const OWN: Scheduling = Scheduling::fifo(10);
    const LOW: Scheduling = Scheduling::OTHER;

    /// 2 ms in 10 ms for threads 1 to `threads`.
    fn group(threads: u32) -> (Fake, Ledger) {
        let host = Fake::default();
        let mut ledger = Ledger::new(Budget::new(ms(2), ms(10)), &host);
        for thread in 1..=threads {
            let fact = (ms(50), OWN);
            host.0.borrow_mut().threads.insert(thread, fact);
            ledger.enter(NativeThread::numbered(thread), OWN, &host);
        }
        (host, ledger)
    }

    /// Conformance: RT 6 - budgets of lanes: exhausted, threads are demoted until it is replenished - in virtual time
    #[test]
    fn threads_are_demoted_until_their_budget_is_replenished() {
        let (host, mut ledger) = group(2);
        assert_eq!(ledger.look(&host), ms(1), "both could run");
        host.run(1, 1);
        assert_eq!(ledger.look(&host), ms(1) / 2);
        assert_eq!(ledger.remaining(&host), ms(1));
        host.run(2, 1);
        assert_eq!(ledger.remaining(&host), ms(0));
        ledger.look(&host);
        assert_eq!((host.has(1), host.has(2)), (LOW, LOW));
        assert_eq!((ledger.exhaustions(), ledger.demotions()), (1, 2));
        host.run(1, 7);
        assert_eq!(ledger.look(&host), ms(1), "until the period ends");
        assert_eq!(host.has(1), LOW);
        host.rest(1);
        ledger.look(&host);
        assert_eq!((host.has(1), host.has(2)), (OWN, OWN));
        assert_eq!(ledger.remaining(&host), ms(2));
        assert_eq!((ledger.exhaustions(), ledger.demotions()), (1, 2));
    }

    #[test]
    fn a_thread_that_was_given_another_scheduling_is_demoted_again() {
        let (host, mut ledger) = group(1);
        let thread = NativeThread::numbered(1);
        host.run(1, 2);
        ledger.look(&host);
        // A request with its own priority.
        host.set_scheduling(thread, Scheduling::fifo(20));
        host.run(1, 1);
        ledger.look(&host);
        assert_eq!(host.has(1), LOW);
        // One set at the time of replenishment is kept.
        host.set_scheduling(thread, Scheduling::fifo(20));
        host.rest(7);
        ledger.look(&host);
        assert_eq!(host.has(1), Scheduling::fifo(20));
        assert_eq!(ledger.demotions(), 1);
    }

    #[test]
    fn a_thread_that_comes_while_it_is_exhausted_is_demoted_at_once() {
        let (host, mut ledger) = group(1);
        host.run(1, 2);
        ledger.look(&host);
        host.0.borrow_mut().threads.insert(2, (ms(0), OWN));
        ledger.enter(NativeThread::numbered(2), OWN, &host);
        assert_eq!(host.has(2), LOW);
        ledger.leave(NativeThread::numbered(1), &host);
        host.0.borrow_mut().threads.remove(&1);
        host.rest(8);
        ledger.look(&host);
        assert_eq!(host.has(2), OWN);
        ledger.leave(NativeThread::numbered(2), &host);
        assert!(ledger.is_empty());
    }

    /// Regression: a thread that entered again while it was demoted stayed in the background; one
    /// with another scheduling since was restored to the first.
    #[test]
    fn a_thread_that_enters_again_is_restored_to_its_present_scheduling() {
        let (host, mut ledger) = group(1);
        let thread = NativeThread::numbered(1);
        host.run(1, 2);
        ledger.look(&host);
        let other = Scheduling::fifo(20);
        ledger.enter(thread, other, &host);
        assert_eq!(host.has(1), LOW);
        host.rest(8);
        assert_eq!(ledger.look(&host), ms(2), "it is one thread");
        assert_eq!(host.has(1), other);
    }

    /// Regression: the demotion ended the reservation.
    #[test]
    fn a_thread_with_a_reservation_is_not_demoted() {
        let (host, mut ledger) = group(1);
        host.0.borrow_mut().reserves = true;
        host.run(1, 2);
        ledger.look(&host);
        assert_eq!(host.has(1), OWN);
        assert_eq!((ledger.exhaustions(), ledger.demotions()), (1, 0));
    }

    /// Regression: it stayed in the background, also in another group.
    #[test]
    fn a_demoted_thread_that_leaves_has_its_own_scheduling_again() {
        let (host, mut ledger) = group(1);
        host.run(1, 2);
        ledger.look(&host);
        ledger.leave(NativeThread::numbered(1), &host);
        assert_eq!(host.has(1), OWN);
        assert!(ledger.is_empty());
    }

    #[test]
    fn demotions_that_the_host_refuses_are_not_counted() {
        let (host, mut ledger) = group(1);
        host.0.borrow_mut().refuses = true;
        host.run(1, 3);
        ledger.look(&host);
        assert_eq!(host.has(1), OWN);
        assert_eq!((ledger.exhaustions(), ledger.demotions()), (1, 0));
    }
}
