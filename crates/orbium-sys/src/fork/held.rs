// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resources that a forked child must not share with its parent, as their owners register
//! them.

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::ptr;

use super::table::lock;

/// A descriptor that is replaced in a forked child, so that it does not refer to the same file. To
/// be dropped before the descriptor is closed: declare it first.
#[derive(Debug)]
pub struct Held(RawFd);

impl Held {
    /// Registers a descriptor until this is dropped.
    #[must_use]
    #[inline]
    pub fn new(descriptor: &impl AsFd) -> Self {
        Self::of(descriptor.as_fd().as_raw_fd())
    }

    fn of(descriptor: RawFd) -> Self {
        super::watch();
        lock().set(descriptor, true);
        Self(descriptor)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        lock().set(self.0, false);
    }
}

/// A mapping of memory shared with other processes, but not with forked children. To be dropped
/// before the mapping ends.
#[derive(Debug)]
pub struct Mapped(usize);

impl Mapped {
    /// Registers a mapping.
    ///
    /// # Safety
    /// The place is the start of a mapping of whole pages with that many octets,
    /// which may be read and written, stays until this is dropped, and is looked at
    /// as atomics only.
    #[must_use]
    pub unsafe fn new(base: ptr::NonNull<u8>, octets: usize) -> Self {
        super::watch();
        let place = base.as_ptr().expose_provenance();
        lock().mappings.push((place, octets));
        Self(place)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let mut table = lock();
        let place = table.mappings.iter().position(|(base, _)| *base == self.0);
        if let Some(place) = place {
            table.mappings.swap_remove(place);
        }
    }
}
