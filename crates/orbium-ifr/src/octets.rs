// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of a database in memory, for its engine.

use std::io;

use orbium::lock::{Mutex, MutexGuard};

use redb::StorageBackend;

/// Maximum number of bytes: the claim of a damaged header is not allocated.
const MAX_OCTETS: u64 = 1 << 30;

/// The bytes of a database.
#[derive(Debug)]
pub(crate) struct Octets(Mutex<Vec<u8>>);

fn out_of_range() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

impl Octets {
    pub(crate) fn new(octets: Vec<u8>) -> Self {
        Self(Mutex::new(octets))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock()
    }

    /// Passes so many bytes from an offset to a closure.
    fn with<T>(&self, offset: u64, len: usize, act: impl FnOnce(&mut [u8]) -> T) -> io::Result<T> {
        let start = usize::try_from(offset).map_err(|_| out_of_range())?;
        let end = start.checked_add(len).ok_or_else(out_of_range)?;
        let mut octets = self.lock();
        let used = octets.get_mut(start..end).ok_or_else(out_of_range)?;
        Ok(act(used))
    }
}

impl StorageBackend for Octets {
    fn len(&self) -> io::Result<u64> {
        Ok(self.lock().len() as u64)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.with(offset, len, |used| used.to_vec())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > MAX_OCTETS {
            return Err(out_of_range());
        }
        self.lock().resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(offset, data.len(), |used| used.copy_from_slice(data))
    }
}
