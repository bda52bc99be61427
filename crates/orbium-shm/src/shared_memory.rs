// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that processes share, and sleeping on words of it.
#![expect(unsafe_code, reason = "mappings")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate,
    memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex::{self, Flags, Timespec};

/// Without these seals the other side could truncate the memory.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// `TMPFS_MAGIC`: the file system of a memfd with ordinary pages.
const TMPFS: i128 = 0x0102_1994;

/// A time beyond the range of the kernel.
const FOR_EVER: Timespec = Timespec {
    tv_sec: i64::MAX,
    tv_nsec: 0,
};

/// New memory of that many zero bytes, which no process can lengthen or shorten. The name is shown
/// in `/proc`.
///
/// # Errors
/// The system's error.
pub(crate) fn sealed_memory(name: &CStr, bytes: u64) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Hosts may require memory that cannot be executed; kernels before 6.3 do not support the flag.
    let memory = memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| memfd_create(name, flags))?;
    ftruncate(&memory, bytes)?;
    fcntl_add_seals(&memory, SEALS)?;
    Ok(memory)
}

/// Whether a descriptor refers to memory with a sealed length.
///
/// # Errors
///
/// The system's error, also for a descriptor of anything but memory.
pub(crate) fn is_sealed(memory: &OwnedFd) -> io::Result<bool> {
    Ok(fcntl_get_seals(memory)?.contains(SEALS))
}

/// Whether a descriptor refers to memory in ordinary pages. Huge ones come from a pool that may be
/// exhausted when one is touched, which ends the process.
///
/// # Errors
/// The system's error.
pub(crate) fn is_of_ordinary_pages(memory: &OwnedFd) -> io::Result<bool> {
    // The type of the number differs between systems.
    Ok(i128::from(fstatfs(memory)?.f_type) == TMPFS)
}

/// Bytes of the file or memory of a descriptor.
///
/// # Errors
/// The system's error.
pub(crate) fn length(memory: &OwnedFd) -> io::Result<u64> {
    let length = fstat(memory)?.st_size;
    u64::try_from(length).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Maps memory for reading and writing, shared by all processes that map it, at an address of the
/// system's choice. It remains mapped until [`unmap`].
///
/// # Errors
/// The system's error.
pub(crate) fn map(memory: &impl AsFd, bytes: usize) -> io::Result<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping takes the place of none.
    let base = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, memory, 0) }?;
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Ends a mapping.
///
/// # Safety
/// [`map`] returned that address for that many bytes, and no thread accesses them
/// any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: as the caller promises. An error would mean that nothing is there.
    let _ = unsafe { munmap(base.as_ptr().cast(), bytes) };
}

/// Sleeps until a word is woken, unless it has another value than that. The word may be in memory
/// shared by processes.
///
/// # Errors
/// `WouldBlock`: it has another value; `TimedOut`; `Interrupted`; the system's
/// error.
pub(crate) fn sleep_on(word: &AtomicU32, value: u32, timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(|it| Timespec::try_from(it).unwrap_or(FOR_EVER));
    Ok(futex::wait(word, Flags::empty(), value, timeout.as_ref())?)
}

/// Wakes at most that many threads that sleep on a word, in any process.
pub(crate) fn wake(word: &AtomicU32, count: u32) {
    // Cannot fail for an existing word.
    let _ = futex::wake(word, Flags::empty(), count.min(i32::MAX as u32));
}
