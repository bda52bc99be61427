// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is not paged out.

use orbium_sys::RealTimeError;
#[cfg(target_os = "linux")]
use rustix::{
    io::Errno,
    mm::{MlockAllFlags, mlockall},
};

/// Memory of the process that is locked against paging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockedMemory {
    /// The currently mapped memory.
    Present,
    /// The current and all future memory: each later mapping, including stacks of new threads, is
    /// populated at once. Large mappings take their time.
    All,
}

/// Locks the memory of this process.
///
/// # Errors
/// [`RealTimeError::MemoryLockLimit`]; [`RealTimeError::Unsupported`] on systems
/// other than Linux.
#[cfg(target_os = "linux")]
pub(crate) fn lock_memory(which: LockedMemory) -> Result<(), RealTimeError> {
    let flags = match which {
        LockedMemory::Present => MlockAllFlags::CURRENT,
        LockedMemory::All => MlockAllFlags::CURRENT | MlockAllFlags::FUTURE,
    };
    mlockall(flags).map_err(|error| match error {
        Errno::PERM | Errno::NOMEM | Errno::AGAIN => RealTimeError::MemoryLockLimit,
        _ => RealTimeError::System(error.into()),
    })
}

/// Not on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lock_memory(_: LockedMemory) -> Result<(), RealTimeError> {
    Err(RealTimeError::Unsupported("locking memory"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_locked_or_the_limit_is_named() {
        match lock_memory(LockedMemory::Present) {
            Ok(()) => rustix::mm::munlockall().unwrap(),
            Err(RealTimeError::MemoryLockLimit) => {}
            Err(other) => panic!("{other}"),
        }
    }
}
