// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lent work under a model checker: in every schedule it is run once or not at all, its lender has
//! the result if it was run, and nothing of it is reached when the lender has gone on.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p orbium-sync --test loom_lent --release`
//!
//! The module is compiled here over the checker's locks; what the work borrows is in a cell that it
//! watches for races.
#![cfg(loom)]

#[path = "../src/lent.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the whole module is compiled here, and only some of it is called"
)]
mod lent;

mod lock;

use std::time::Duration;

use lent::{Lender, Loan, lend};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// What work borrows. The work is the one thread that reaches it while it is lent.
struct Borrowed(UnsafeCell<u32>);

#[allow(unsafe_code)]
// SAFETY: for the checker, which reports races.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    #[allow(unsafe_code)]
    fn add_one(&self) -> u32 {
        self.0.with_mut(|it| {
            // SAFETY: the checker reports an access at the same time.
            let it = unsafe { &mut *it };
            *it += 1;
            *it
        })
    }
}

/// Lends work to a thread that has the loan from the beginning; how the lender waits is `wait`'s.
fn check(other: fn(Loan), wait: fn(&Lender)) {
    loom::model(move || {
        let borrowed = Borrowed(UnsafeCell::new(0));
        let mut running = None;
        let ended = lend(
            || borrowed.add_one(),
            |loan, lender| {
                running = Some(thread::spawn(move || other(loan)));
                wait(lender);
            },
        );
        // Nothing of it is reached any more, and what was done is seen.
        assert_eq!(borrowed.add_one(), ended.map_or(1, |runs| runs + 1));
        running.unwrap().join().unwrap();
    });
}

#[test]
fn lent_work_ends_before_its_lender_goes_on() {
    check(
        |loan| assert!(loan.run(|| {})),
        |lender| assert!(lender.wait(None)),
    );
}

#[test]
fn work_is_withdrawn_or_its_end_is_awaited() {
    check(|loan| _ = loan.run(|| {}), |_| {});
    check(
        |loan| _ = loan.run(|| {}),
        |lender| {
            lender.wait(Some(Duration::ZERO));
        },
    );
}

#[test]
fn a_loan_given_back_ends_the_wait() {
    check(drop, |lender| assert!(lender.wait(None)));
}

#[test]
fn two_threads_with_one_loan_run_it_once() {
    check(
        |loan| {
            let loan = Arc::new(loan);
            let theirs = Arc::clone(&loan);
            let second = thread::spawn(move || theirs.run(|| {}));
            let first = loan.run(|| {});
            assert!(first != second.join().unwrap());
        },
        |lender| assert!(lender.wait(None)),
    );
}
