// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling of threads: class and priority.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::io;
use std::mem::zeroed;

use crate::RealTimeError;
use crate::thread::scheduling_class::{Scheduling, SchedulingClass};
use crate::thread::spawning::try_on_thread;

impl Scheduling {
    /// The scheduling of the calling thread.
    ///
    /// # Errors
    /// The system's error.
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

    /// Applies the scheduling to the calling thread. Threads that it creates later inherit it.
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

    /// Whether a thread of this process may have it: tried on a thread created for it, which ends
    /// at once.
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

    #[test]
    fn each_class_has_its_range() {
        assert_eq!(SchedulingClass::Other.range(), 0..=0);
        for class in [SchedulingClass::Fifo, SchedulingClass::RoundRobin] {
            assert!(class.range().end() - class.range().start() >= 30);
        }
    }

    #[test]
    fn a_thread_has_the_scheduling_that_it_was_given() {
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
