// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that two processes share for one connection.
#![expect(unsafe_code, reason = "a mapping, and its bytes as atomics")]

use std::io;
use std::mem::size_of;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use orbium_sys::fork::Mapped;

use crate::octets::SharedOctets;
use crate::ring::Control;
use crate::shared_memory;

/// Fewest octets of a ring.
pub(crate) const MIN_RING_SIZE: u32 = 4 * 1024;

/// Most octets of a ring.
pub(crate) const MAX_RING_SIZE: u32 = 64 * 1024 * 1024;

/// Octets before the rings, for the control words of both.
const HEAD: usize = 4096;

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
    /// Excludes the mapping from forked children. Dropped before the mapping ends.
    mapped: Option<Mapped>,
}

// SAFETY: a mapping belongs to no thread; any may use it, and end it.
unsafe impl Send for Region {}
// SAFETY: through a reference the memory is seen as atomics only.
unsafe impl Sync for Region {}

/// Whether rings can have that size.
pub(crate) fn is_ring(octets: u32) -> bool {
    octets.is_power_of_two() && (MIN_RING_SIZE..=MAX_RING_SIZE).contains(&octets)
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
        let memory = shared_memory::sealed_memory(c"orbium", total(ring as usize) as u64)?;
        Ok((Self::map(&memory, ring as usize)?, memory))
    }

    /// Maps memory received from a peer, with the size of its rings as stated by the peer.
    ///
    /// # Errors
    /// `InvalidData` unless the size is correct and sealed; the system's error.
    pub(crate) fn open(memory: &OwnedFd, ring: u32) -> io::Result<Self> {
        if !is_ring(ring) {
            return Err(bad("shared memory: rings of a size that they cannot have"));
        }
        let sealed =
            shared_memory::is_sealed(memory).map_err(|_| bad("shared memory: not a memfd"))?;
        if !sealed {
            return Err(bad("shared memory: not sealed"));
        }
        if !shared_memory::is_of_ordinary_pages(memory)? {
            return Err(bad("shared memory: not of ordinary pages"));
        }
        if shared_memory::length(memory)? != total(ring as usize) as u64 {
            return Err(bad(
                "shared memory: the size differs from the announced one",
            ));
        }
        Self::map(memory, ring as usize)
    }

    /// Maps memory that was checked.
    fn map(memory: &OwnedFd, ring: usize) -> io::Result<Self> {
        let base = shared_memory::map(memory, total(ring))?;
        // SAFETY: a new mapping of whole pages, for `HEAD` and rings are, which lasts
        // until `drop`, and is seen as atomics only.
        let mapped = Some(unsafe { Mapped::new(base, total(ring)) });
        Ok(Self { base, ring, mapped })
    }

    /// The control words of a ring.
    #[inline]
    pub(crate) fn control(&self, way: Way) -> &Control {
        const { assert!(2 * size_of::<Control>() <= HEAD && align_of::<Control>() <= HEAD) };
        // SAFETY: both lie in the first page of the mapping, aligned to more
        // than they need and initialised, for pages are zeros at first and every
        // value of the words is one. They are atomics, so the peer may change
        // them. The mapping lasts as long as `self`, and cannot be cut short:
        // the memory has that size and is sealed, by `create` or as `open` has
        // found.
        unsafe {
            let first = self.base.cast::<Control>();
            first.add(way as usize).as_ref()
        }
    }

    /// The octets of a ring.
    #[inline]
    pub(crate) fn octets(&self, way: Way) -> SharedOctets<'_> {
        // SAFETY: within the mapping, which is HEAD and two rings long; both
        // are multiples of eight (`is_ring`), and the mapping begins with a
        // page. As above, they are atomics, initialised, and last as long as
        // `self`.
        let words = unsafe {
            let first = self.base.add(HEAD + self.ring * way as usize);
            std::slice::from_raw_parts(first.cast::<AtomicU64>().as_ptr(), self.ring / 8)
        };
        SharedOctets::new(words)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.mapped = None;
        // SAFETY: `map` gave that place for as many octets, and every reference
        // into it borrows `self`.
        unsafe { shared_memory::unmap(self.base, total(self.ring)) };
    }
}
