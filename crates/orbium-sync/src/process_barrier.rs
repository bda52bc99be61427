// SPDX-License-Identifier: MIT OR Apache-2.0
//! A memory barrier on all threads of the process at once.
//!
//! A fence orders the memory accesses of its own thread; two threads that each write one place
//! and read the other's need one each. Where one of them comes by often and the other
//! seldom, the seldom one can have the system execute both ([`heavy`]), and the other needs
//! nothing but an order that the compiler keeps ([`light`]).

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

/// The frequent side: between its write and its read.
#[inline(always)]
pub(crate) fn light() {
    compiler_fence(Ordering::SeqCst);
}

/// Whether [`heavy`] is to be had. The process is registered with the system the first time: Linux takes
/// 10 ms for that once the process has a second thread.
pub(crate) fn is_offered() -> bool {
    static IS_OFFERED: OnceLock<bool> = OnceLock::new();
    *IS_OFFERED.get_or_init(system::register)
}

/// Registers the process while that takes no time.
pub(crate) fn register_early() {
    if system::has_one_thread() {
        is_offered();
    }
}

/// The seldom side: between its write and its read. Whether all threads have executed a barrier.
pub(crate) fn heavy() -> bool {
    system::pass()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use rustix::thread::{MembarrierCommand, membarrier};

    pub(super) fn register() -> bool {
        // Miri has no such system call.
        !cfg!(miri) && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    pub(super) fn has_one_thread() -> bool {
        // The links of the folder: two, and one of each thread.
        let threads = fs::metadata("/proc/self/task");
        threads.is_ok_and(|it| it.nlink() == 3)
    }

    pub(super) fn pass() -> bool {
        let expedited = || membarrier(MembarrierCommand::PrivateExpedited).is_ok();
        // A process that lost its registration registers again; the global barrier needs none, but takes
        // milliseconds.
        expedited() || register() && expedited() || membarrier(MembarrierCommand::Global).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn has_one_thread() -> bool {
        false
    }

    pub(super) fn pass() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_that_is_offered_is_passed() {
        register_early();
        assert!(!is_offered() || heavy());
    }
}
