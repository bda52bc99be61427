// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads by the numbers that the system has for them: their processor time and their scheduling.

use std::io;
use std::time::Duration;

use crate::{RealTimeError, Scheduling};

/// A thread of this host, including kernel threads, by the system's number. The number may be
/// reused by another thread after the thread has ended: the user of this must know that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NativeThread(i32);

impl NativeThread {
    /// The calling thread. On systems other than Linux all threads are equal.
    #[must_use]
    pub fn current() -> Self {
        Self(system::current())
    }

    /// The thread with a number, as in `/proc`; its existence is checked only by the operations.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        // There is no thread with a larger number, nor with the maximum.
        Self(i32::try_from(number).unwrap_or(i32::MAX))
    }

    /// The processor time that it has used.
    ///
    /// # Errors
    /// The thread has ended; or `Unsupported` on systems other than Linux.
    pub fn processor_time(self) -> io::Result<Duration> {
        system::processor_time(self.0)
    }

    /// Its scheduling class and priority according to the system. `Scheduling::of_this_thread` may
    /// return those that the thread has set itself, which glibc caches.
    ///
    /// # Errors
    /// The thread has ended, or has a [`Reservation`](crate::Reservation) in place of a class and
    /// priority; or `Unsupported` on systems other than Linux.
    pub fn scheduling(self) -> io::Result<Scheduling> {
        system::scheduling(self.0)
    }

    /// Sets its scheduling class and priority. A reservation of the thread ends.
    ///
    /// # Errors
    /// [`RealTimeError::NoSuchPriority`], [`RealTimeError::PriorityNotPermitted`];
    /// [`RealTimeError::System`]: the thread has ended, or another system than Linux.
    pub fn set_scheduling(self, scheduling: Scheduling) -> Result<(), RealTimeError> {
        match system::set_scheduling(self.0, scheduling) {
            Ok(()) => Ok(()),
            Err(error) => Err(match error.raw_os_error() {
                Some(libc::EINVAL) => RealTimeError::NoSuchPriority(scheduling),
                Some(libc::EPERM) => RealTimeError::PriorityNotPermitted(scheduling),
                _ => error.into(),
            }),
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![expect(unsafe_code, reason = "system calls that no safe crate offers")]

    use std::io;
    use std::mem::zeroed;
    use std::time::Duration;

    use crate::thread::scheduling_class::SCHED_DEADLINE;
    use crate::{Scheduling, SchedulingClass};

    pub(super) fn current() -> i32 {
        // SAFETY: it takes nothing and returns a number.
        unsafe { libc::gettid() }
    }

    pub(super) fn processor_time(thread: i32) -> io::Result<Duration> {
        // The result of `pthread_getcpuclockid` for a thread: CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED.
        let clock = !thread << 3 | 6;
        // SAFETY: a `timespec` is integers, for which zero is a value.
        let mut time: libc::timespec = unsafe { zeroed() };
        // SAFETY: one `timespec` is written, which lives until the call has returned.
        match unsafe { libc::clock_gettime(clock, &raw mut time) } {
            0 => Ok(Duration::new(
                u64::try_from(time.tv_sec).unwrap_or(0),
                u32::try_from(time.tv_nsec).unwrap_or(0),
            )),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn scheduling(thread: i32) -> io::Result<Scheduling> {
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        // SAFETY: it takes two numbers and returns one.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
        // SAFETY: one `sched_param` is written, which lives until the call has returned.
        let result =
            unsafe { libc::syscall(libc::SYS_sched_getparam, thread, &raw mut parameters) };
        let (Ok(policy @ 0..), 0) = (i32::try_from(policy), result) else {
            return Err(io::Error::last_os_error());
        };
        let policy = policy & !libc::SCHED_RESET_ON_FORK;
        if policy == SCHED_DEADLINE.into() {
            return Err(io::Error::other("the thread has a reservation"));
        }
        Ok(Scheduling {
            class: SchedulingClass::of_policy(policy),
            priority: parameters.sched_priority,
        })
    }

    pub(super) fn set_scheduling(thread: i32, scheduling: Scheduling) -> io::Result<()> {
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        parameters.sched_priority = scheduling.priority;
        // The system call itself: musl does not implement the function.
        // SAFETY: one `sched_param` is read, which lives until the call has returned.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sched_setscheduler,
                thread,
                scheduling.class.policy(),
                &raw const parameters,
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    use crate::Scheduling;

    pub(super) fn current() -> i32 {
        0
    }

    pub(super) fn processor_time(_: i32) -> io::Result<Duration> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn scheduling(_: i32) -> io::Result<Scheduling> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn set_scheduling(_: i32, _: Scheduling) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;
    use crate::Reservation;

    #[test]
    fn another_thread_is_given_what_it_is_said_to_have() {
        let (number, has_number) = channel();
        let (end, has_end) = channel::<()>();
        let thread = thread::spawn(move || {
            let own = NativeThread::current().0;
            number.send(u32::try_from(own).unwrap()).unwrap();
            let _ = has_end.recv();
        });
        let other = NativeThread::numbered(has_number.recv().unwrap());
        assert_eq!(other.scheduling().unwrap(), Scheduling::OTHER);
        let wanted = Scheduling::fifo(7);
        match other.set_scheduling(wanted) {
            Ok(()) => assert_eq!(other.scheduling().unwrap(), wanted),
            Err(RealTimeError::PriorityNotPermitted(it)) => assert_eq!(it, wanted),
            Err(other) => panic!("{other}"),
        }
        let beyond = other.set_scheduling(Scheduling::fifo(1000));
        assert!(
            matches!(beyond, Err(RealTimeError::NoSuchPriority(_))),
            "{beyond:?}"
        );
        drop(end);
        thread.join().unwrap();
        assert!(NativeThread::numbered(u32::MAX).scheduling().is_err());
    }

    #[test]
    fn another_thread_is_seen_and_scheduled() {
        let (send, receive) = channel();
        let (end, ended) = channel::<()>();
        let other = thread::spawn(move || {
            send.send(NativeThread::current()).unwrap();
            assert!(ended.recv().is_err());
            NativeThread::current().scheduling().unwrap()
        });
        let native = receive.recv().unwrap();
        assert_ne!(native, NativeThread::current());
        assert!(native.processor_time().is_ok());
        let wanted = Scheduling::fifo(1);
        let given = native.set_scheduling(wanted);
        if given.is_ok() {
            assert_eq!(native.scheduling().unwrap(), wanted);
        }
        drop(end);
        let had = other.join().unwrap();
        match given {
            Ok(()) => assert_eq!(had, wanted),
            Err(RealTimeError::PriorityNotPermitted(it)) => assert_eq!(it, wanted),
            Err(other) => panic!("{other}"),
        }
    }

    /// Regression: a thread with a reservation was reported as one of SCHED_OTHER, and lost its
    /// reservation when that was restored.
    #[test]
    fn a_reservation_is_no_class_with_a_priority() {
        let reserved = thread::spawn(|| {
            let ms = Duration::from_millis;
            match Reservation::new(ms(1), ms(100)).apply_to_this_thread() {
                Ok(()) => assert!(NativeThread::current().scheduling().is_err()),
                Err(refused) => eprintln!("skipped: {refused}"),
            }
        });
        reserved.join().unwrap();
    }

    #[test]
    fn the_processor_time_of_a_thread_grows() {
        let own = NativeThread::current();
        let before = own.processor_time().unwrap();
        while own.processor_time().unwrap() == before {}
    }

    #[test]
    fn there_is_no_priority_beyond_the_highest() {
        let wanted = Scheduling::fifo(1000);
        let refused = NativeThread::current().set_scheduling(wanted);
        assert!(matches!(refused, Err(RealTimeError::NoSuchPriority(it)) if it == wanted));
    }
}
