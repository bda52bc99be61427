// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of resources that a forked child must not share with its parent.

use std::cell::UnsafeCell;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::c_int;

/// Descriptors by number, and mappings of shared memory by address and octets.
pub(super) struct Table {
    descriptors: Vec<u64>,
    pub(super) mappings: Vec<(usize, usize)>,
}

/// Locked only for a few instructions, and by a fork, so that the child finds it consistent.
static TABLE: Mutex<Table> = Mutex::new(Table {
    descriptors: Vec::new(),
    mappings: Vec::new(),
});

/// The lock while its thread forks.
struct Forking(UnsafeCell<Option<MutexGuard<'static, Table>>>);

// SAFETY: only the thread that holds the lock of TABLE looks into the cell.
unsafe impl Sync for Forking {}

static FORKING: Forking = Forking(UnsafeCell::new(None));

pub(super) fn lock() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before a fork: no other thread changes the table until the fork is complete.
pub(super) fn lock_for_fork() {
    let table = lock();
    // SAFETY: this thread holds the lock, and no other looks into the cell.
    unsafe { *FORKING.0.get() = Some(table) };
}

/// After a fork, in both processes: returns the lock, which the same thread took.
pub(super) fn locked_for_fork() -> Option<MutexGuard<'static, Table>> {
    // SAFETY: this thread has held the lock since `lock_for_fork`; in the child it is
    // the only thread.
    unsafe { (*FORKING.0.get()).take() }
}

impl Table {
    pub(super) fn set(&mut self, descriptor: RawFd, held: bool) {
        let Ok(number) = usize::try_from(descriptor) else {
            return;
        };
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if self.descriptors.len() <= word {
            self.descriptors.resize(word + 1, 0);
        }
        if held {
            self.descriptors[word] |= bit;
        } else {
            self.descriptors[word] &= !bit;
        }
    }

    fn each(&self) -> impl Iterator<Item = RawFd> {
        let numbers = 0..64 * self.descriptors.len();
        let held = numbers.filter(|it| self.descriptors[it / 64] & (1 << (it % 64)) != 0);
        held.map(|it| it as RawFd)
    }

    /// In the child, in which no other thread runs: detaches it from all resources shared with its
    /// parent. All entries remain in the table, as the numbers and addresses remain in use. Nothing
    /// is allocated.
    pub(super) fn cut_off(&mut self) {
        for (base, octets) in &self.mappings {
            make_private(*base, *octets);
        }
        let Some(first) = self.each().next() else {
            return;
        };
        let (end, is_spare) = match socket_without_peer() {
            Some(end) => (end, true),
            // No descriptor is free: one of those to be replaced makes room.
            None => (socket_in_place_of(first), false),
        };
        for descriptor in self.each().filter(|it| *it != end) {
            replace(descriptor, end);
        }
        if is_spare {
            close(end);
        }
    }
}

fn close(descriptor: c_int) {
    // SAFETY: the descriptor is the caller's to close; nothing is pointed to.
    unsafe { libc::close(descriptor) };
}

/// Replaces a descriptor by a copy of another. The previous file is left as when a process ends:
/// nothing is sent.
fn replace(descriptor: RawFd, end: c_int) {
    if end < 0 {
        // No replacement: the number must not be reused, as another file may get it.
        return close(descriptor);
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: numbers only. The descriptor belongs to a user of this crate, which still finds a
    // socket at its number.
    unsafe {
        libc::dup3(end, descriptor, libc::O_CLOEXEC)
    };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: as above.
    unsafe {
        libc::dup2(end, descriptor);
        libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC)
    };
}

/// A socket without its peer: it receives the end, and sends nothing.
fn socket_without_peer() -> Option<c_int> {
    let mut pair = [-1; 2];
    // SAFETY: two descriptors are written, for which there is room.
    let made = unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()) };
    if made != 0 {
        return None;
    }
    close(pair[1]);
    Some(pair[0])
}

/// A socket that never had a peer, at the number of a descriptor that is closed; negative if none
/// is available.
fn socket_in_place_of(descriptor: RawFd) -> c_int {
    close(descriptor);
    // SAFETY: nothing is pointed to. The lowest free number is the one just freed,
    // since this is the only thread, and all were taken.
    unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) }
}

/// Replaces shared memory by private zero pages.
fn make_private(base: usize, octets: usize) {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let how = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let at = ptr::with_exposed_provenance_mut(base);
    // SAFETY: a mapping of this place and length is registered as long as it is
    // there, and its users look at it as at atomics that another process may change
    // at any time: to zeros, too.
    unsafe { libc::mmap(at, octets, access, how, -1, 0) };
}
