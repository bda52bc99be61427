// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that a thread lends to another: it borrows from the lender's stack, so the lender waits until
//! it has run, or takes it back unrun.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::lock::{Condvar, Mutex};

/// Has another thread run `work`, which may borrow from the stack of this one. `manage` passes the
/// [`Loan`] on and waits for it by the [`Lender`]; once it returns, work that was not begun is
/// withdrawn, and the end of running work is awaited. Returns `None` if it was not begun.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel::<orbium_sync::Loan>();
/// let other = std::thread::spawn(move || receiver.recv().unwrap().run(|| {}));
/// let text = String::from("borrowed");
/// let length = orbium_sync::lend(
///     || text.len(),
///     |loan, lender| {
///         sender.send(loan).unwrap();
///         lender.wait(None);
///     },
/// );
/// assert_eq!(length, Some(8));
/// assert!(other.join().unwrap());
/// ```
///
/// # Panics
/// As `manage`, or as the work does on the other thread.
#[allow(unsafe_code)]
pub fn lend<W, R>(work: W, manage: impl FnOnce(Loan, &Lender)) -> Option<R>
where
    W: FnOnce() -> R + Send,
    R: Send,
{
    let mut slot = Slot {
        work: Some(work),
        result: None,
    };
    let mut place = NonNull::from(&mut slot);
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Lent(Work {
            slot: place.cast(),
            run: run::<W, R>,
        })),
        changed: Condvar::default(),
    });
    // Dropped on every exit from `manage`, before the slot is.
    let lender = Lender(Arc::clone(&shared));
    manage(Loan(shared), &lender);
    drop(lender);
    // SAFETY: the lender, as it was dropped, has found the work withdrawn or over: no thread
    // reaches the slot any more, and what another wrote to it happened before.
    let slot = unsafe { place.as_mut() };
    let result = slot.result.take()?;
    Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// The work on the lender's stack, and then its result, or its panic.
struct Slot<W, R> {
    work: Option<W>,
    result: Option<Result<R, Box<dyn Any + Send>>>,
}

/// Runs the work of a slot.
///
/// # Safety
/// It is a `Slot<W, R>` that is there until this has returned, and no other thread reaches it.
#[allow(unsafe_code)]
unsafe fn run<W: FnOnce() -> R, R>(slot: NonNull<()>) {
    // SAFETY: as the caller says.
    let slot = unsafe { slot.cast::<Slot<W, R>>().as_mut() };
    if let Some(work) = slot.work.take() {
        slot.result = Some(catch_unwind(AssertUnwindSafe(work)));
    }
}

/// Work on the stack of its lender, and the function that runs it there.
#[derive(Clone, Copy)]
struct Work {
    slot: NonNull<()>,
    run: unsafe fn(NonNull<()>),
}

#[allow(unsafe_code)]
// SAFETY: `lend` makes it of work that is `Send` and has a result that is, and the one thread that
// takes it out of the state reaches both alone.
unsafe impl Send for Work {}

#[derive(Clone, Copy)]
enum State {
    /// No thread has begun it.
    Lent(Work),
    Running,
    /// It has ended, was withdrawn or returned.
    Over,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    /// Takes out work that no thread has begun.
    fn take(&self, next: State) -> Option<Work> {
        let mut state = self.state.lock();
        let State::Lent(work) = *state else {
            return None;
        };
        *state = next;
        Some(work)
    }

    fn end(&self) {
        *self.state.lock() = State::Over;
        self.changed.notify_one();
    }
}

/// Lent work, for the thread that is to run it. Dropping it returns the work.
pub struct Loan(Arc<Shared>);

impl Loan {
    /// Runs the work, and `then` before its lender continues; `false` if it was begun, withdrawn or
    /// returned before.
    #[allow(unsafe_code)]
    pub fn run(&self, then: impl FnOnce()) -> bool {
        let Some(work) = self.0.take(State::Running) else {
            return false;
        };
        let _end = End(&self.0);
        // SAFETY: it was lent until the line above, and the lender, which has the slot on its
        // stack, waits for the end of work that runs. Only this thread took it out.
        unsafe { (work.run)(work.slot) };
        then();
        true
    }

    /// Returns the work, unless it was begun: its lender no longer waits.
    pub fn give_back(&self) {
        if self.0.take(State::Over).is_some() {
            self.0.changed.notify_one();
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Ends running work when it is dropped, also by a panic.
struct End<'l>(&'l Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The lender's handle on lent work.
pub struct Lender(Arc<Shared>);

impl Lender {
    /// Waits until the work has ended or was returned, for at most `time` if it is set; spurious
    /// wake-ups are possible. Returns whether the work is over.
    pub fn wait(&self, time: Option<Duration>) -> bool {
        let mut state = self.0.state.lock();
        if time.is_some() && !matches!(*state, State::Over) {
            state = self.0.changed.wait_at_most(state, time);
        }
        while time.is_none() && !matches!(*state, State::Over) {
            state = self.0.changed.wait_at_most(state, None);
        }
        matches!(*state, State::Over)
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        if self.0.take(State::Over).is_none() {
            self.wait(None);
        }
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loan")
    }
}

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lender")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn another_thread_runs_work_that_borrows_and_its_result_moves_back() {
        let (sender, loans) = mpsc::channel::<Loan>();
        let text = String::from("lent");
        let mut runs = 0;
        thread::scope(|scope| {
            scope.spawn(move || {
                let loan = loans.recv().unwrap();
                assert!(loan.run(|| {}));
                assert!(!loan.run(|| panic!("it has run")));
            });
            let work = || {
                runs += 1;
                (text.as_ptr(), vec![7; 100]).1.len() + text.len()
            };
            let ended = lend(work, |loan, lender| {
                sender.send(loan).unwrap();
                assert!(lender.wait(None));
            });
            assert_eq!(ended, Some(104));
        });
        assert_eq!(runs, 1);
    }

    #[test]
    fn work_that_was_not_begun_is_withdrawn() {
        let mut kept = None;
        let word = String::from("not run");
        let ended = lend(
            || drop(word),
            |loan, lender| {
                kept = Some(loan);
                assert!(!lender.wait(Some(SHORT)));
            },
        );
        assert_eq!(ended, None);
        assert!(!kept.unwrap().run(|| panic!("it was withdrawn")));
    }

    #[test]
    fn a_loan_that_is_dropped_ends_the_wait() {
        let ended = lend(
            || (),
            |loan, lender| {
                drop(loan);
                assert!(lender.wait(None));
            },
        );
        assert_eq!(ended, None);
        let ended = lend(
            || (),
            |loan, lender| {
                loan.give_back();
                assert!(lender.wait(None) && !loan.run(|| {}));
            },
        );
        assert_eq!(ended, None);
    }

    /// Lends work to another thread, and stops waiting once it runs: by a panic if it `panics`.
    fn leave_running(panics: bool) -> Option<String> {
        let (sender, loans) = mpsc::channel::<Loan>();
        let (begun, begins) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        let text = String::from("in use");
        thread::scope(|scope| {
            scope.spawn(move || loans.recv().unwrap().run(|| {}));
            let text = &text;
            let work = move || {
                begun.send(()).unwrap();
                goes_on.recv().unwrap();
                text.clone()
            };
            lend(work, |loan, lender| {
                sender.send(loan).unwrap();
                begins.recv().unwrap();
                assert!(!lender.wait(Some(SHORT)));
                go_on.send(()).unwrap();
                assert!(!panics, "while it runs");
            })
        })
    }

    #[test]
    fn the_end_of_running_work_is_awaited_by_one_that_waits_no_longer() {
        assert_eq!(leave_running(false).as_deref(), Some("in use"));
        assert!(catch_unwind(|| leave_running(true)).is_err());
    }

    #[test]
    fn the_lender_panics_as_the_work_does() {
        let (sender, loans) = mpsc::channel::<Loan>();
        let other = thread::spawn(move || loans.recv().unwrap().run(|| {}));
        let lending = AssertUnwindSafe(|| {
            lend(
                || panic!("in the work"),
                |loan, lender| {
                    sender.send(loan).unwrap();
                    lender.wait(None);
                },
            )
        });
        assert!(catch_unwind(lending).is_err());
        // The thread that ran it continues.
        assert!(other.join().unwrap());
    }
}
