// SPDX-License-Identifier: MIT OR Apache-2.0
//! A memory barrier on all threads of the process at once.
//!
//! A fence orders the memory accesses of its own thread; two threads that each write one place and
//! read the other's need one each. If one of them runs often and the other rarely, the rare one can
//! have the system execute both ([`heavy`]), and the other needs only an order that the compiler
//! preserves ([`light`]).

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

/// The frequent side: between its write and its read.
#[inline(always)]
pub(crate) fn light() {
    compiler_fence(Ordering::SeqCst);
}

/// Whether [`heavy`] is available. The process is registered with the system the first time: Linux
/// takes 10 ms for that once the process has a second thread.
pub(crate) fn is_offered() -> bool {
    static IS_OFFERED: OnceLock<bool> = OnceLock::new();
    *IS_OFFERED.get_or_init(system::register)
}

/// Registers the process while that is fast.
pub(crate) fn register_early() {
    if system::has_one_thread() {
        is_offered();
    }
}

/// The rare side, between its write and its read. Returns whether all threads have executed a
/// barrier.
pub(crate) fn heavy() -> bool {
    system::pass()
}

#[cfg(target_os = "linux")]
mod system {
    #![expect(
        unsafe_code,
        reason = "one system call, for which `rustix` is long to compile"
    )]

    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use libc::c_int;

    const GLOBAL: c_int = libc::MEMBARRIER_CMD_GLOBAL as c_int;
    const EXPEDITED: c_int = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED as c_int;
    const REGISTER: c_int = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED as c_int;

    fn membarrier(command: c_int) -> bool {
        const NO_FLAGS: c_int = 0;
        // SAFETY: it takes two numbers and returns one.
        unsafe { libc::syscall(libc::SYS_membarrier, command, NO_FLAGS) == 0 }
    }

    pub(super) fn register() -> bool {
        // Miri does not support the system call.
        !cfg!(miri) && membarrier(REGISTER)
    }

    pub(super) fn has_one_thread() -> bool {
        // The links of the directory: two, and one for each thread.
        let threads = fs::metadata("/proc/self/task");
        threads.is_ok_and(|it| it.nlink() == 3)
    }

    pub(super) fn pass() -> bool {
        let expedited = || membarrier(EXPEDITED);
        // A process that lost its registration registers again; the global barrier requires none,
        // but takes milliseconds.
        expedited() || register() && expedited() || membarrier(GLOBAL)
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
