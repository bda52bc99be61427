// SPDX-License-Identifier: MIT OR Apache-2.0
//! The native scheduling set for the calling thread, and its restoration.

use std::cell::Cell;

use orbium_sys::{NativeThread, RealTimeError, Reservation, Scheduling};

use crate::thread::priority::{self, Priority};

thread_local! {
    /// The scheduling set last for this thread.
    static GIVEN: Cell<Option<Scheduling>> = const { Cell::new(None) };
    /// Whether it has a reservation instead.
    static RESERVED: Cell<bool> = const { Cell::new(false) };
}

/// Sets the scheduling class and native priority of the calling thread, until they are set again. A
/// thread of an ORB has its own restored after the request, and one with a reservation
/// ([`reserve`]) keeps that: it runs before all native priorities. No system call if the same was
/// set before.
///
/// # Errors
/// The host refuses it; the scheduling is unchanged.
pub fn set_thread_scheduling(scheduling: Scheduling) -> Result<(), RealTimeError> {
    if !RESERVED.get() && GIVEN.get() != Some(scheduling) {
        scheduling.apply_to_this_thread()?;
        GIVEN.set(Some(scheduling));
    }
    Ok(())
}

/// Sets a scheduling of the calling thread that it may have inherited from its creator.
///
/// # Errors
/// The host refuses it; the scheduling is unchanged.
pub fn begin_with(scheduling: Scheduling) -> Result<(), RealTimeError> {
    RESERVED.set(false);
    // Not the scheduling cached by glibc, which its creator may have lost since.
    match NativeThread::current().scheduling() {
        Ok(own) if own == scheduling => {
            GIVEN.set(Some(own));
            Ok(())
        }
        _ => {
            GIVEN.set(None);
            set_thread_scheduling(scheduling)
        }
    }
}

/// Whether the calling thread has a reservation.
#[must_use]
pub fn is_reserved() -> bool {
    RESERVED.get()
}

/// Sets a reservation of the calling thread in place of its scheduling, until [`restore`] or
/// [`begin_with`]: serving requests at other native priorities does not change it. No admission by
/// the host if it already has that reservation.
///
/// # Errors
/// The host refuses it; the scheduling is unchanged.
pub fn reserve(reservation: Reservation) -> Result<(), RealTimeError> {
    if !RESERVED.get() || !has(reservation) {
        RESERVED.set(false);
        reservation.apply_to_this_thread()?;
        RESERVED.set(true);
    }
    Ok(())
}

/// Whether the calling thread has that reservation, according to the host.
fn has(reservation: Reservation) -> bool {
    Reservation::of_this_thread().is_ok_and(|it| it == Some(reservation))
}

/// Records the present native priority of the calling thread for restoration after [`at`], without
/// setting one.
pub fn note_scheduling() {
    GIVEN.set(Scheduling::of_this_thread().ok());
}

/// Restores that scheduling of the calling thread, which may have been changed by other means than
/// [`set_thread_scheduling`].
pub fn restore(scheduling: Scheduling) {
    RESERVED.set(false);
    GIVEN.set(None);
    give_back(scheduling);
}

fn give_back(scheduling: Scheduling) {
    if let Err(error) = set_thread_scheduling(scheduling) {
        orbium_trace::log::error!(target: "orbium::lane", %error, "a thread keeps the priority of a request");
    }
}

/// Runs `work` at a CORBA priority, and at a native one if given; the previous ones are restored
/// afterwards, even if `work` panics or has set others. No system call if the thread already has
/// that native priority.
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
        /// The scheduling of the thread if none was set.
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
        set_thread_scheduling(wanted)?;
    }
    Ok(priority::while_at(priority, work))
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::thread;

    use super::*;

    /// Regression: glibc gives a thread what its creator has set, although the creator was demoted
    /// by another thread since; the new thread kept the scheduling after the demotion.
    #[test]
    fn a_thread_of_a_demoted_creator_begins_with_its_scheduling() {
        let own = Scheduling::fifo(1);
        let creator = thread::spawn(move || {
            if let Err(refused) = own.apply_to_this_thread() {
                return eprintln!("skipped: {refused}");
            }
            let demoted = NativeThread::current().set_scheduling(Scheduling::OTHER);
            demoted.unwrap();
            let created = thread::spawn(move || {
                begin_with(own).unwrap();
                NativeThread::current().scheduling().unwrap()
            });
            assert_eq!(created.join().unwrap(), own);
        });
        creator.join().unwrap();
    }
}
