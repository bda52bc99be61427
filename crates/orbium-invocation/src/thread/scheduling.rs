// SPDX-License-Identifier: MIT OR Apache-2.0
//! The native scheduling that the calling thread was given, and how it gets its own back.

use std::cell::Cell;

use orbium_sys::{RealTimeError, Scheduling};

use crate::thread::priority::{self, Priority};

thread_local! {
    /// The scheduling that this thread was given last.
    static GIVEN: Cell<Option<Scheduling>> = const { Cell::new(None) };
}

/// Gives the calling thread a scheduling class and native priority, until it is
/// given another. A thread of an ORB gets its own back after the request. No
/// system call if it was given the same before.
///
/// # Errors
/// The host refuses it; the thread keeps what it had.
pub fn give_scheduling(scheduling: Scheduling) -> Result<(), RealTimeError> {
    if GIVEN.get() != Some(scheduling) {
        scheduling.apply_to_this_thread()?;
        GIVEN.set(Some(scheduling));
    }
    Ok(())
}

/// Gives the calling thread a scheduling that it may have from its creator.
///
/// # Errors
/// The host refuses it; the thread keeps what it had.
pub fn begin_with(scheduling: Scheduling) -> Result<(), RealTimeError> {
    match Scheduling::of_this_thread() {
        Ok(own) if own == scheduling => {
            GIVEN.set(Some(own));
            Ok(())
        }
        _ => give_scheduling(scheduling),
    }
}

/// The calling thread has its native priority back after [`at`], without having
/// been given any.
pub fn note_scheduling() {
    GIVEN.set(Scheduling::of_this_thread().ok());
}

/// Gives the calling thread that scheduling, which may have been changed by other means
/// than [`give_scheduling`].
pub fn restore(scheduling: Scheduling) {
    GIVEN.set(None);
    give_back(scheduling);
}

fn give_back(scheduling: Scheduling) {
    if let Err(error) = give_scheduling(scheduling) {
        orbium_trace::log::error!(target: "orbium::lane", %error, "a thread keeps the priority of a request");
    }
}

/// Runs `work` at a CORBA priority, and at a native one if it is given; the
/// thread has its own again afterwards, even if `work` panics or has set others.
/// No system call if it has that native priority already.
///
/// # Errors
/// The host refuses the native priority; nothing was done.
pub fn at<R>(
    priority: Option<Priority>,
    scheduling: Option<Scheduling>,
    work: impl FnOnce() -> R,
) -> Result<R, RealTimeError> {
    struct Back {
        given: Option<Scheduling>,
        /// What the thread has if it was given nothing.
        own: Option<Scheduling>,
    }
    impl Drop for Back {
        fn drop(&mut self) {
            if GIVEN.get() == self.given {
                return;
            }
            if let Some(scheduling) = self.given.or(self.own) {
                give_back(scheduling);
            }
            GIVEN.set(self.given);
        }
    }
    let given = GIVEN.get();
    let own = match (given, scheduling) {
        (None, Some(_)) => Scheduling::of_this_thread().ok(),
        _ => None,
    };
    let _back = Back { given, own };
    if let Some(wanted) = scheduling {
        give_scheduling(wanted)?;
    }
    Ok(priority::while_at(priority, work))
}
