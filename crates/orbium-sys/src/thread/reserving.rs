// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reservations of threads.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::thread::spawning::try_on_thread;
use crate::{RealTimeError, Reservation};

/// Maximum wait between two attempts at an admission.
const RETRY: Duration = Duration::from_millis(1);

impl Reservation {
    /// Applies the reservation to the calling thread, in place of its scheduling class and
    /// priority. The bandwidth of a reservation that has just ended is released no later than one
    /// of its periods after: while bandwidth is missing, this retries until one period of its own
    /// has passed.
    ///
    /// # Errors
    /// [`RealTimeError::NoSuchReservation`], [`RealTimeError::NoBandwidth`],
    /// [`RealTimeError::ReservationNotPermitted`]; [`RealTimeError::Unsupported`] on systems other
    /// than Linux.
    pub fn apply_to_this_thread(self) -> Result<(), RealTimeError> {
        let until = Instant::now().checked_add(self.period);
        loop {
            match system::reserve(self) {
                Err(RealTimeError::NoBandwidth(_))
                    if until.is_some_and(|until| Instant::now() < until) =>
                {
                    sleep(RETRY.min(self.period));
                }
                outcome => return outcome,
            }
        }
    }

    /// Whether a thread of this process may have it: tried on a thread created for it, which ends
    /// at once.
    ///
    /// # Errors
    /// As [`apply_to_this_thread`](Self::apply_to_this_thread).
    pub fn try_out(self) -> Result<(), RealTimeError> {
        try_on_thread(None, Box::new(move || self.apply_to_this_thread()))
    }

    /// The reservation of the calling thread, if it has one.
    ///
    /// # Errors
    /// The system's error.
    pub fn of_this_thread() -> std::io::Result<Option<Self>> {
        system::reserved()
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![expect(unsafe_code, reason = "system calls that no safe crate offers")]

    use std::io;
    use std::time::Duration;

    use crate::thread::scheduling_class::SCHED_DEADLINE;
    use crate::{RealTimeError, Reservation};

    /// Threads that this one creates have no reservation; otherwise it could create none.
    const RESET_ON_FORK: u64 = 1;
    const RECLAIM: u64 = 2;

    /// `struct sched_attr` of Linux, in its first version.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }

    const SIZE: u32 = size_of::<Attributes>() as u32;

    fn nanoseconds(time: Duration) -> u64 {
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn reserve(wanted: Reservation) -> Result<(), RealTimeError> {
        let attributes = Attributes {
            size: SIZE,
            policy: SCHED_DEADLINE.into(),
            flags: RESET_ON_FORK | if wanted.reclaims { RECLAIM } else { 0 },
            runtime: nanoseconds(wanted.runtime),
            deadline: nanoseconds(wanted.deadline),
            period: nanoseconds(wanted.period),
            ..Attributes::default()
        };
        // SAFETY: thread 0 is the calling one; as many bytes are read as `size` says, of a value
        // that lives until the call has returned.
        let result =
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0_u32) };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        Err(match error.raw_os_error() {
            Some(libc::EBUSY) => RealTimeError::NoBandwidth(wanted),
            Some(libc::EINVAL) => RealTimeError::NoSuchReservation(wanted),
            Some(libc::EPERM) => RealTimeError::ReservationNotPermitted(wanted),
            Some(libc::ENOSYS) => RealTimeError::Unsupported("reserving time of a processor"),
            _ => error.into(),
        })
    }

    pub(super) fn reserved() -> io::Result<Option<Reservation>> {
        let mut attributes = Attributes::default();
        // SAFETY: thread 0 is the calling one; at most `SIZE` bytes are written, into a value of
        // that size that lives until the call has returned.
        let result =
            unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0_u32) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(
            (attributes.policy == u32::from(SCHED_DEADLINE)).then(|| Reservation {
                runtime: Duration::from_nanos(attributes.runtime),
                deadline: Duration::from_nanos(attributes.deadline),
                period: Duration::from_nanos(attributes.period),
                reclaims: attributes.flags & RECLAIM != 0,
            }),
        )
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use crate::{RealTimeError, Reservation};

    pub(super) fn reserve(_: Reservation) -> Result<(), RealTimeError> {
        Err(RealTimeError::Unsupported("reserving time of a processor"))
    }

    pub(super) fn reserved() -> io::Result<Option<Reservation>> {
        Ok(None)
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::thread;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn impossible_reservations_are_refused() {
        let longer_than_its_deadline = Reservation {
            runtime: 3 * MS,
            deadline: 2 * MS,
            period: 10 * MS,
            reclaims: false,
        };
        for wanted in [
            longer_than_its_deadline,
            Reservation::new(Duration::ZERO, 10 * MS),
            Reservation::new(Duration::MAX, Duration::MAX),
        ] {
            let refused = wanted.try_out();
            assert!(
                matches!(
                    refused,
                    Err(RealTimeError::NoSuchReservation(it)
                        | RealTimeError::ReservationNotPermitted(it)) if it == wanted
                ),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_thread_has_what_it_was_given_and_the_next_one_has_not() {
        let wanted = Reservation {
            runtime: MS,
            deadline: 50 * MS,
            period: 100 * MS,
            reclaims: false,
        };
        for wanted in [wanted, wanted.reclaiming()] {
            check_given(wanted);
        }
    }

    fn check_given(wanted: Reservation) {
        let given = thread::spawn(move || {
            wanted.apply_to_this_thread()?;
            assert_eq!(Reservation::of_this_thread()?, Some(wanted));
            let of_next = thread::spawn(Reservation::of_this_thread).join().unwrap();
            assert_eq!(of_next?, None);
            Ok::<(), RealTimeError>(())
        });
        match given.join().unwrap() {
            Ok(()) => {}
            Err(RealTimeError::ReservationNotPermitted(it)) => {
                assert_eq!(it, wanted);
                eprintln!("skipped: this process may not reserve time of a processor");
            }
            Err(RealTimeError::NoBandwidth(_)) => {
                eprintln!("skipped: this host has reserved its processors already");
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(Reservation::of_this_thread().unwrap(), None);
    }
}
