// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that two processes share for one connection.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::octets::SharedOctets;
use crate::ring::Control;

/// Fewest octets of a ring.
pub(crate) const SMALLEST: u32 = 4 * 1024;

/// Most octets of a ring.
pub(crate) const LARGEST: u32 = 64 * 1024 * 1024;

/// Octets before the rings, for the control words of both.
const HEAD: usize = 4096;

/// Without these seals the other side could cut the memory off under us.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// `TMPFS_MAGIC`: what a memfd of ordinary pages lies on.
const TMPFS: i64 = 0x0102_1994;

/// The direction that a ring carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToServer = 0,
    ToClient = 1,
}

impl Way {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// A mapping of the memory: the control words of two rings, then the rings.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    ring: usize,
}

// SAFETY: the memory is reached through atomics only, and belongs to no thread.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// Whether rings can have that size.
pub(crate) fn is_ring(octets: u32) -> bool {
    octets.is_power_of_two() && (SMALLEST..=LARGEST).contains(&octets)
}

fn total(ring: usize) -> usize {
    HEAD + 2 * ring
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Region {
    /// New memory, with rings of that size, and its descriptor.
    ///
    /// # Errors
    /// `InvalidInput` for a size that rings cannot have; the system's error.
    pub(crate) fn create(ring: u32) -> io::Result<(Self, OwnedFd)> {
        if !is_ring(ring) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Hosts may insist on memory that cannot be executed; kernels before
        // 6.3 do not know what that is.
        let memory = memfd_create("orbium", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| memfd_create("orbium", flags))?;
        rustix::fs::ftruncate(&memory, total(ring as usize) as u64)?;
        fcntl_add_seals(&memory, SEALS)?;
        Ok((Self::map(&memory, ring as usize)?, memory))
    }

    /// Memory that came from a peer, who says that its rings have that size.
    ///
    /// # Errors
    /// `InvalidData` unless it is so, and will stay so; the system's error.
    pub(crate) fn open(memory: &OwnedFd, ring: u32) -> io::Result<Self> {
        if !is_ring(ring) {
            return Err(bad("shared memory: rings of a size that they cannot have"));
        }
        let seals = fcntl_get_seals(memory).map_err(|_| bad("shared memory: not a memfd"))?;
        if !seals.contains(SEALS) {
            return Err(bad("shared memory: not sealed"));
        }
        // Huge pages come from a pool that may be empty when one is touched.
        if rustix::fs::fstatfs(memory)?.f_type as i64 != TMPFS {
            return Err(bad("shared memory: not of ordinary pages"));
        }
        let size = rustix::fs::fstat(memory)?.st_size;
        if u64::try_from(size) != Ok(total(ring as usize) as u64) {
            return Err(bad("shared memory: not of the size that was told"));
        }
        Self::map(memory, ring as usize)
    }

    /// Maps memory that was checked.
    fn map(memory: &impl AsFd, ring: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let base = unsafe { mmap(null_mut(), total(ring), access, MapFlags::SHARED, memory, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, ring })
    }

    /// The control words of a ring.
    #[inline]
    pub(crate) fn control(&self, way: Way) -> &Control {
        const { assert!(2 * size_of::<Control>() <= HEAD && align_of::<Control>() <= HEAD) };
        // SAFETY: both lie in the first page of the mapping, aligned to more
        // than they need and initialised, for fresh pages are zeros and every
        // value of the words is one. They are atomics, so the peer may change
        // them. The mapping lasts as long as `self`, and cannot be cut short:
        // its size was checked after it was sealed.
        unsafe {
            let first = self.base.cast::<Control>();
            first.add(way as usize).as_ref()
        }
    }

    /// The octets of a ring.
    #[inline]
    pub(crate) fn octets(&self, way: Way) -> SharedOctets<'_> {
        // SAFETY: within the mapping, which is HEAD and two rings long; both
        // are multiples of eight, and the mapping begins with a page. As above,
        // they are atomics, initialised, and last as long as `self`.
        let words = unsafe {
            let first = self.base.add(HEAD + self.ring * way as usize);
            std::slice::from_raw_parts(first.cast::<AtomicU64>().as_ptr(), self.ring / 8)
        };
        SharedOctets::new(words)
    }

    /// Copies octets to the start of a ring, as one block: for
    /// [`PingPong`](crate::ping_pong::PingPong), whose flags order the two sides.
    ///
    /// # Panics
    /// There are more than the ring has.
    pub(crate) fn copy_in(&self, way: Way, from: &[u8]) {
        assert!(from.len() <= self.ring);
        // SAFETY: within the mapping, see `octets`, and bounded by the line
        // above. Our own memory does not overlap it. The peer is of this program
        // and leaves the ring alone until its flag is raised.
        unsafe {
            let ring = self.base.add(HEAD + self.ring * way as usize);
            ring.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len());
        }
    }

    /// Copies octets from the start of a ring, as `copy_in` does into it.
    ///
    /// # Panics
    /// There are more than the ring has.
    pub(crate) fn copy_out(&self, way: Way, into: &mut [u8]) {
        assert!(into.len() <= self.ring);
        let len = into.len();
        // SAFETY: as in `copy_in`; octets have no values that they cannot have.
        unsafe {
            let ring = self.base.add(HEAD + self.ring * way as usize);
            ring.copy_to_nonoverlapping(NonNull::from(into).cast(), len);
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: our own mapping, and every reference into it borrows `self`.
        // An error would mean that it is not mapped.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), total(self.ring)) };
    }
}
