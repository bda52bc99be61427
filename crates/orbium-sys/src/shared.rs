// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that processes share, and sleeping on words of it.
#![expect(unsafe_code, reason = "system calls that no small safe crate offers")]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use libc::{c_int, c_long, c_uint};

/// Without these the other side could cut the memory off under us.
const SEALS: c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// `TMPFS_MAGIC`: what a memfd of ordinary pages lies on.
const TMPFS: i128 = 0x0102_1994;

/// The result of a call that reports errors by -1 and errno.
fn checked(result: c_int) -> io::Result<c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

fn create(name: &CStr, flags: c_uint) -> io::Result<OwnedFd> {
    // SAFETY: the name ends with a zero, and is only read.
    let memory = checked(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    // SAFETY: the descriptor is new, and owned by nothing else.
    Ok(unsafe { OwnedFd::from_raw_fd(memory) })
}

/// New memory of that many octets, zeros, which can be made neither longer nor
/// shorter by any process. The name shows in `/proc`.
///
/// # Errors
/// The system's error.
pub fn sealed_memory(name: &CStr, octets: u64) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // Hosts may insist on memory that cannot be executed; kernels before 6.3 do
    // not know what that is.
    let memory = create(name, flags | libc::MFD_NOEXEC_SEAL).or_else(|_| create(name, flags))?;
    let memory = File::from(memory);
    memory.set_len(octets)?;
    // SAFETY: the descriptor is open, and the argument is a number.
    checked(unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
    Ok(memory.into())
}

/// Whether a descriptor is of memory with a sealed length.
///
/// # Errors
///
/// The system's error, such as that it is of no memory.
pub fn is_sealed(memory: &OwnedFd) -> io::Result<bool> {
    // SAFETY: the descriptor is open; there is no argument.
    let seals = checked(unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_GET_SEALS) })?;
    Ok(seals & SEALS == SEALS)
}

/// Whether a descriptor is of memory in ordinary pages. Huge ones come from a
/// pool that may be empty when one is touched, which ends the process.
///
/// # Errors
/// The system's error.
pub fn is_of_ordinary_pages(memory: &OwnedFd) -> io::Result<bool> {
    let mut facts = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open, and there is room for what is written.
    checked(unsafe { libc::fstatfs(memory.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: the call has succeeded, so all of it is written.
    let facts = unsafe { facts.assume_init() };
    // The sort of the number differs between C libraries.
    Ok(i128::from(facts.f_type) == TMPFS)
}

/// Octets of the file or memory behind a descriptor.
///
/// # Errors
/// The system's error.
pub fn length(memory: &OwnedFd) -> io::Result<u64> {
    let mut facts = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the descriptor is open, and there is room for what is written.
    checked(unsafe { libc::fstat(memory.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: the call has succeeded, so all of it is written.
    let length = unsafe { facts.assume_init() }.st_size;
    u64::try_from(length).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Maps memory, to be read and written and seen by all processes that map it, at a place of
/// the system's choice. It stays until [`unmap`].
///
/// # Errors
/// The system's error.
pub fn map(memory: &impl AsFd, octets: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let memory = memory.as_fd().as_raw_fd();
    // SAFETY: a new mapping takes the place of none.
    let base = unsafe { libc::mmap(ptr::null_mut(), octets, access, libc::MAP_SHARED, memory, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Ends a mapping.
///
/// # Safety
/// [`map`] returned that address for that many bytes, and no thread accesses them
/// any more.
pub unsafe fn unmap(base: NonNull<u8>, octets: usize) {
    // SAFETY: as the caller promises. An error would mean that nothing is there.
    let _ = unsafe { libc::munmap(base.as_ptr().cast(), octets) };
}

fn futex(
    word: &AtomicU32,
    operation: c_int,
    value: u32,
    timeout: Option<&libc::timespec>,
) -> io::Result<()> {
    let timeout = timeout.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the kernel looks at the word, which is aligned and lives, as at an
    // atomic, and reads the time; both operations take these arguments only.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, timeout) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Sleeps until a word is woken, unless it has another value than that. The word
/// may lie in memory that processes share.
///
/// # Errors
/// `WouldBlock`: it has another value; `TimedOut`; `Interrupted`; the system's
/// error.
pub fn sleep_on(word: &AtomicU32, value: u32, timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        // Less than a thousand millions: it fits.
        tv_nsec: timeout.subsec_nanos() as c_long,
    });
    futex(word, libc::FUTEX_WAIT, value, timeout.as_ref())
}

/// Wakes at most so many threads that sleep on a word, in any process.
pub fn wake(word: &AtomicU32, count: u32) {
    // Nothing can be wrong with a word that is there.
    let _ = futex(word, libc::FUTEX_WAKE, count.min(i32::MAX as u32), None);
}
