// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refusals of real-time settings by the host.

use std::fmt;
use std::io;

use crate::{Reservation, Scheduling};

/// Refusal by the system, which requires a change on the host; `orbium doctor` has the commands.
#[non_exhaustive]
pub enum RealTimeError {
    /// The scheduling class does not have that priority.
    NoSuchPriority(Scheduling),
    /// This process is not permitted that class and priority, because of RLIMIT_RTPRIO and
    /// CAP_SYS_NICE, or of a control group.
    PriorityNotPermitted(Scheduling),
    /// The system cannot guarantee it for any thread: no runtime, one beyond the deadline, a
    /// deadline beyond the period, or a period out of its range.
    NoSuchReservation(Reservation),
    /// The other reservations leave too little processor time.
    NoBandwidth(Reservation),
    /// This process is not permitted to reserve: it lacks CAP_SYS_NICE, or the thread may not run
    /// on all processors.
    ReservationNotPermitted(Reservation),
    /// None of these processors exists, or may be used by this process.
    NoSuchProcessor(Vec<usize>),
    /// Locking memory, or that much, is not permitted: RLIMIT_MEMLOCK, CAP_IPC_LOCK.
    MemoryLockLimit,
    /// This operating system does not support it.
    Unsupported(&'static str),
    /// Any other error.
    System(io::Error),
}

impl fmt::Display for RealTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPriority(wanted) => {
                let range = wanted.class.range();
                write!(
                    f,
                    "{wanted} is not there: the class has priorities {} to {}",
                    range.start(),
                    range.end()
                )
            }
            Self::PriorityNotPermitted(wanted) => write!(
                f,
                "{wanted} is not permitted to this process: raise RLIMIT_RTPRIO or give it \
                 CAP_SYS_NICE (orbium doctor tells more)"
            ),
            Self::NoSuchReservation(wanted) => write!(
                f,
                "{wanted} cannot be reserved: the runtime is to fit in the deadline, and that in the period"
            ),
            Self::NoBandwidth(wanted) => write!(
                f,
                "{wanted} cannot be reserved together with the others: reserve less, or raise \
                 kernel.sched_rt_runtime_us"
            ),
            Self::ReservationNotPermitted(wanted) => write!(
                f,
                "{wanted} is not permitted to this process: give it CAP_SYS_NICE and all processors"
            ),
            Self::NoSuchProcessor(processors) => {
                write!(f, "none of the processors {processors:?} may be used")
            }
            Self::MemoryLockLimit => f.write_str(
                "memory may not be locked: raise RLIMIT_MEMLOCK or give the process \
                 CAP_IPC_LOCK (orbium doctor tells more)",
            ),
            Self::Unsupported(what) => write!(f, "{what}: not on this operating system"),
            Self::System(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RealTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RealTimeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for RealTimeError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}
