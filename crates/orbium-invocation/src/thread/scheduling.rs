// SPDX-License-Identifier: MIT OR Apache-2.0
//! The native scheduling that the calling thread was given, and how it gets its own back.

use std::cell::Cell;

use orbium_sys::{RealTimeError, Reservation, Scheduling};

use crate::thread::priority::{self, Priority};

thread_local! {
    /// The scheduling that this thread was given last.
    static GIVEN: Cell<Option<Scheduling>> = const { Cell::new(None) };
    /// Whether it has a reservation in place of that.
    static RESERVED: Cell<bool> = const { Cell::new(false) };
}

/// Sets the scheduling class and native priority of the calling thread, until they are
/// given another. A thread of an ORB gets its own back after the request, and one with
/// a reservation ([`reserve`]) keeps that: it runs before all native priorities. No
/// system call if it was given the same before.
///
/// # Errors
/// The host refuses it; the thread keeps what it had.
pub fn give_scheduling(scheduling: Scheduling) -> Result<(), RealTimeError> {
    if !RESERVED.get() && GIVEN.get() != Some(scheduling) {
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
    RESERVED.set(false);
    match Scheduling::of_this_thread() {
        Ok(own) if own == scheduling => {
            GIVEN.set(Some(own));
            Ok(())
        }
        _ => give_scheduling(scheduling),
    }
}

/// Whether the calling thread has been given a reservation.
#[must_use]
pub fn is_reserved() -> bool {
    RESERVED.get()
}

/// Gives the calling thread a reservation in place of its scheduling, until [`restore`] or
/// [`begin_with`]: requests that it serves at other native priorities leave it as it is. No admission by
/// the host if it has that very reservation.
///
/// # Errors
/// The host refuses it; the thread keeps what it had.
pub fn reserve(reservation: Reservation) -> Result<(), RealTimeError> {
    if !RESERVED.get() || !has(reservation) {
        RESERVED.set(false);
        reservation.apply_to_this_thread()?;
        RESERVED.set(true);
    }
    Ok(())
}

/// Whether the calling thread has that reservation, as far as the host says.
fn has(reservation: Reservation) -> bool {
    Reservation::of_this_thread().is_ok_and(|it| it == Some(reservation))
}

/// The calling thread has its native priority back after [`at`], without having
/// been given any.
pub fn note_scheduling() {
    GIVEN.set(Scheduling::of_this_thread().ok());
}

/// Gives the calling thread that scheduling, which may have been changed by other means
/// than [`give_scheduling`].
pub fn restore(scheduling: Scheduling) {
    RESERVED.set(false);
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
