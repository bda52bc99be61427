// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling of threads: class and priority.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::io;
use std::mem::zeroed;

use crate::RealTimeError;
use crate::scheduling_class::{Scheduling, SchedulingClass};
use crate::threads::try_on_thread;

impl Scheduling {
    /// That of the calling thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn of_this_thread() -> io::Result<Self> {
        let mut policy = 0;
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        // SAFETY: the handle is that of the calling thread, which runs; both are
        // written, and live until the call has returned.
        let result = unsafe {
            libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut parameters)
        };
        match result {
            0 => Ok(Self {
                class: SchedulingClass::of_policy(policy),
                priority: parameters.sched_priority,
            }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Gives it to the calling thread. Threads that it makes later have it too.
    ///
    /// # Errors
    /// [`RealTimeError::NoSuchPriority`], [`RealTimeError::PriorityNotPermitted`].
    pub fn apply_to_this_thread(self) -> Result<(), RealTimeError> {
        match self.set() {
            0 => Ok(()),
            libc::EINVAL => Err(RealTimeError::NoSuchPriority(self)),
            libc::EPERM => Err(RealTimeError::PriorityNotPermitted(self)),
            error => Err(io::Error::from_raw_os_error(error).into()),
        }
    }

    /// Whether a thread of this process may have it: tried on a thread made for
    /// it, which ends at once.
    ///
    /// # Errors
    /// As [`apply_to_this_thread`](Self::apply_to_this_thread).
    pub fn try_out(self) -> Result<(), RealTimeError> {
        try_on_thread(None, Box::new(move || self.apply_to_this_thread()))
    }

    /// Returns the number of an error, or 0.
    fn set(self) -> i32 {
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        parameters.sched_priority = self.priority;
        // Not `sched_setscheduler`, which musl does not implement.
        // SAFETY: the handle is that of the calling thread, which runs; one
        // `sched_param` is read, which lives until the call has returned.
        unsafe {
            libc::pthread_setschedparam(
                libc::pthread_self(),
                self.class.policy(),
                &raw const parameters,
            )
        }
    }
}

/// Threads of others: what an administrator does.
#[cfg(target_os = "linux")]
impl Scheduling {
    /// That of a thread of this host, also one of the kernel's, by the number that `/proc` has for
    /// it.
    ///
    /// # Errors
    /// What the system says.
    pub fn of_thread(thread: u32) -> io::Result<Self> {
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        let thread = i64::from(thread);
        // By number, for musl has no such functions.
        // SAFETY: the call takes a number and returns one.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
        let Ok(policy @ 0..) = i32::try_from(policy) else {
            return Err(io::Error::last_os_error());
        };
        // SAFETY: one `sched_param` is written, which lives until the call has returned.
        let refused =
            unsafe { libc::syscall(libc::SYS_sched_getparam, thread, &raw mut parameters) };
        match refused {
            0 => Ok(Self {
                class: SchedulingClass::of_policy(policy),
                priority: parameters.sched_priority,
            }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives it to a thread of this host, also to one of the kernel's.
    ///
    /// # Errors
    /// [`RealTimeError::NoSuchPriority`], [`RealTimeError::PriorityNotPermitted`]; what the system
    /// says, for example if the thread has ended.
    pub fn apply_to_thread(self, thread: u32) -> Result<(), RealTimeError> {
        // SAFETY: a `sched_param` is integers, for which zero is a value.
        let mut parameters: libc::sched_param = unsafe { zeroed() };
        parameters.sched_priority = self.priority;
        // SAFETY: one `sched_param` is read, which lives until the call has returned.
        let refused = unsafe {
            libc::syscall(
                libc::SYS_sched_setscheduler,
                i64::from(thread),
                i64::from(self.class.policy()),
                &raw const parameters,
            )
        };
        if refused == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        Err(match error.raw_os_error() {
            Some(libc::EINVAL) => RealTimeError::NoSuchPriority(self),
            Some(libc::EPERM) => RealTimeError::PriorityNotPermitted(self),
            _ => error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn there_is_no_priority_beyond_the_highest() {
        for wanted in [Scheduling::fifo(0), Scheduling::round_robin(1000)] {
            let refused = wanted.try_out();
            assert!(
                matches!(refused, Err(RealTimeError::NoSuchPriority(it)) if it == wanted),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn it_is_given_or_refused_and_the_caller_keeps_its_policy() {
        let wanted = Scheduling::fifo(1);
        if let Err(refused) = wanted.try_out() {
            assert!(
                matches!(refused, RealTimeError::PriorityNotPermitted(it) if it == wanted),
                "{refused:?}"
            );
        }
        assert_eq!(Scheduling::of_this_thread().unwrap(), Scheduling::OTHER);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_thread_is_given_what_it_is_said_to_have() {
        let (number, has_number) = std::sync::mpsc::channel();
        let (end, has_end) = std::sync::mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            // SAFETY: the call takes nothing and returns a number.
            let own = unsafe { libc::syscall(libc::SYS_gettid) };
            number.send(u32::try_from(own).unwrap()).unwrap();
            let _ = has_end.recv();
        });
        let other = has_number.recv().unwrap();
        assert_eq!(Scheduling::of_thread(other).unwrap(), Scheduling::OTHER);
        let wanted = Scheduling::fifo(7);
        match wanted.apply_to_thread(other) {
            Ok(()) => assert_eq!(Scheduling::of_thread(other).unwrap(), wanted),
            Err(RealTimeError::PriorityNotPermitted(it)) => assert_eq!(it, wanted),
            Err(other) => panic!("{other}"),
        }
        let beyond = Scheduling::fifo(1000).apply_to_thread(other);
        assert!(
            matches!(beyond, Err(RealTimeError::NoSuchPriority(_))),
            "{beyond:?}"
        );
        drop(end);
        thread.join().unwrap();
        assert!(Scheduling::of_thread(u32::MAX).is_err());
    }

    #[test]
    fn each_class_has_its_range() {
        assert_eq!(SchedulingClass::Other.range(), 0..=0);
        for class in [SchedulingClass::Fifo, SchedulingClass::RoundRobin] {
            assert!(class.range().end() - class.range().start() >= 30);
        }
    }

    #[test]
    fn what_was_given_is_what_a_thread_has() {
        let thread = thread::spawn(|| {
            let wanted = Scheduling::round_robin(*SchedulingClass::RoundRobin.range().start());
            match wanted.apply_to_this_thread() {
                Ok(()) => {
                    assert_eq!(Scheduling::of_this_thread().unwrap(), wanted);
                    Scheduling::OTHER.apply_to_this_thread().unwrap();
                    assert_eq!(Scheduling::of_this_thread().unwrap(), Scheduling::OTHER);
                }
                Err(RealTimeError::PriorityNotPermitted(it)) => assert_eq!(it, wanted),
                Err(other) => panic!("{other}"),
            }
        });
        thread.join().unwrap();
    }
}
