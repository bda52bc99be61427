// SPDX-License-Identifier: MIT OR Apache-2.0
//! CORBA priorities, and that of the calling thread (RT-CORBA 1.2, clauses 5.5 and 5.6).
//!
//! Only the number: its meaning for the operating system is defined by a priority mapping, outside
//! this crate. A thread that never sets a priority has no cost. Requests carry it if their
//! reference has the policy.

use std::cell::Cell;
use std::fmt;

/// A CORBA priority: 0 to 32767, the greater the more urgent.
///
/// ```
/// use orbium_invocation::Priority;
///
/// let urgent = Priority::new(100).ok_or("no priority")?;
/// assert!(urgent > Priority::MIN);
/// assert_eq!(Priority::new(-1), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i16);

/// A number that is not a CORBA priority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NoPriority(pub i16);

impl fmt::Display for NoPriority {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is no CORBA priority: they go from 0 to 32767",
            self.0
        )
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NoPriority {}

impl Priority {
    /// The lowest: 0.
    pub const MIN: Self = Self(0);
    /// The highest: 32767.
    pub const MAX: Self = Self(i16::MAX);

    /// The priority with that number; `None` for a negative one.
    #[must_use]
    #[inline]
    pub const fn new(number: i16) -> Option<Self> {
        if number >= 0 {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The number.
    #[must_use]
    #[inline]
    pub const fn number(self) -> i16 {
        self.0
    }
}

impl TryFrom<i16> for Priority {
    type Error = NoPriority;

    #[inline]
    fn try_from(number: i16) -> Result<Self, NoPriority> {
        Self::new(number).ok_or(NoPriority(number))
    }
}

impl From<Priority> for i16 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No priority.
const NONE: i16 = -1;

thread_local! {
    static CURRENT: Cell<i16> = const { Cell::new(NONE) };
}

/// The CORBA priority of the calling thread: the one set last or, within a request that is served
/// at a priority, that of the request.
#[must_use]
#[inline]
pub fn current() -> Option<Priority> {
    Priority::new(CURRENT.get())
}

/// Whether the calling thread has that priority; a faster `current` for the path of a call.
#[must_use]
#[inline]
pub fn is(number: i16) -> bool {
    CURRENT.get() == number
}

/// The number of a priority for [`is`].
#[must_use]
pub fn number_of(priority: Option<Priority>) -> i16 {
    priority.map_or(NONE, Priority::number)
}

/// Sets or removes the CORBA priority of the calling thread. The operating system is not involved.
#[inline]
pub fn set_current(priority: Option<Priority>) {
    CURRENT.set(priority.map_or(NONE, Priority::number));
}

/// Runs `work` with that CORBA priority, and restores the previous one afterwards, even if `work`
/// panics.
#[inline]
pub fn while_at<R>(priority: Option<Priority>, work: impl FnOnce() -> R) -> R {
    struct Restore(i16);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.get());
    set_current(priority);
    work()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn no_negative_number_is_a_priority() {
        assert_eq!(Priority::new(0), Some(Priority::MIN));
        assert_eq!(Priority::try_from(i16::MAX), Ok(Priority::MAX));
        for number in [-1, i16::MIN] {
            assert_eq!(Priority::try_from(number), Err(NoPriority(number)));
        }
    }

    #[test]
    fn each_thread_has_its_own_and_none_at_first() {
        set_current(Priority::new(7));
        let other = std::thread::spawn(current).join().unwrap();
        assert_eq!((current(), other), (Priority::new(7), None));
        set_current(None);
        assert_eq!(current(), None);
    }

    #[test]
    fn it_is_restored_whatever_happens() {
        set_current(Priority::new(3));
        let nested = while_at(Priority::new(9), || {
            while_at(None, || assert_eq!(current(), None));
            current()
        });
        assert_eq!((nested, current()), (Priority::new(9), Priority::new(3)));
        let failed = || while_at(Priority::new(9), || resume_unwind(Box::new("servant")));
        assert!(catch_unwind(AssertUnwindSafe(failed)).is_err());
        assert_eq!(current(), Priority::new(3));
    }
}
