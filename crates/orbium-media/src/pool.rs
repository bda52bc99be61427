// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers of one size, taken from the heap once.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use orbium_core::lock::{Mutex, MutexGuard};

#[derive(Debug)]
pub(crate) struct Pool(Mutex<Vec<Box<[u8]>>>);

/// A buffer that is returned to its pool when dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    octets: Box<[u8]>,
    pool: Arc<Pool>,
}

impl Pool {
    /// `count` buffers, each of `len` octets.
    pub(crate) fn new(count: usize, len: usize) -> Arc<Self> {
        // The kernel allocates the pages when they are first written.
        let buffers = (0..count).map(|_| vec![0; len].into_boxed_slice());
        Arc::new(Self(Mutex::new(buffers.collect())))
    }

    pub(crate) fn take(self: &Arc<Self>) -> Option<Buffer> {
        let octets = self.lock().pop()?;
        Some(Buffer {
            octets,
            pool: Arc::clone(self),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<[u8]>>> {
        self.0.lock()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // There is room, as it was taken from there.
        self.pool.lock().push(mem::take(&mut self.octets));
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.octets
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.octets
    }
}
