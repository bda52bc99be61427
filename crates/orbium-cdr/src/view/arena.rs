// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for the parts of views that cannot be borrowed from the message.

use std::cell::{Cell, RefCell};
use std::mem;

use bumpalo::Bump;

use crate::allocation;
use crate::{CdrError, CdrErrorKind, CdrReader};

/// Maximum bytes of an arena that a thread retains for the next request; a larger one is freed.
const MAX_RETAINED: usize = 64 * 1024;

/// Maximum arenas that a thread retains: it needs one for each request that it serves at once, as
/// with calls in process and requests dispatched while a servant waits.
const MAX_IDLE: usize = 4;

/// Bytes of memory for each byte of a request. An empty string has four bytes on the wire and
/// sixteen as `&str`; members and padding between them add some.
const PER_BYTE: usize = 8;

thread_local! {
    static IDLE: RefCell<Vec<Bump>> = const { RefCell::new(Vec::new()) };
}

/// Memory for the views of one request: the slices of a sequence's elements, and text that had to
/// be converted.
///
/// A thread retains the memory, so that requests of the same size do not allocate.
#[derive(Debug)]
pub struct Arena {
    bump: Bump,
    /// Bytes that the request may still allocate.
    left: Cell<usize>,
}

impl Arena {
    /// An arena for the unread data of `reader`: it returns at most eight times as many bytes,
    /// regardless of the counts in the data.
    #[must_use]
    pub fn new(reader: &CdrReader<'_>) -> Self {
        let idle = IDLE.try_with(|idle| idle.try_borrow_mut().ok()?.pop());
        Self {
            bump: idle.ok().flatten().unwrap_or_default(),
            left: Cell::new(reader.remaining().saturating_mul(PER_BYTE)),
        }
    }

    /// Subtracts bytes from the budget that the request justifies.
    fn spend(&self, bytes: Option<usize>, reader: &CdrReader<'_>) -> Result<(), CdrError> {
        let left = bytes.and_then(|bytes| self.left.get().checked_sub(bytes));
        let Some(left) = left else {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        };
        if !allocation::is_there(bytes.unwrap_or_default()) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
        self.left.set(left);
        Ok(())
    }

    /// Reads `count` elements.
    pub(crate) fn read<'v, 'r, T: Copy + 'v>(
        &'v self,
        reader: &mut CdrReader<'r>,
        count: usize,
        mut read: impl FnMut(&mut CdrReader<'r>) -> Result<T, CdrError>,
    ) -> Result<&'v [T], CdrError> {
        self.spend(count.checked_mul(size_of::<T>()), reader)?;
        let items = self
            .bump
            .alloc_slice_try_fill_with(count, |_| read(reader))?;
        Ok(items)
    }

    /// Copies elements that were read elsewhere.
    pub(crate) fn copy<T: Copy>(
        &self,
        items: &[T],
        reader: &CdrReader<'_>,
    ) -> Result<&[T], CdrError> {
        self.spend(Some(size_of_val(items)), reader)?;
        Ok(self.bump.alloc_slice_copy(items))
    }

    /// Copies text that was converted.
    pub(crate) fn copy_text(&self, text: &str, reader: &CdrReader<'_>) -> Result<&str, CdrError> {
        self.spend(Some(text.len()), reader)?;
        Ok(self.bump.alloc_str(text))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.bump.allocated_bytes() == 0 || self.bump.allocated_bytes() > MAX_RETAINED {
            return;
        }
        let mut bump = mem::take(&mut self.bump);
        bump.reset();
        // A thread that is ending retains nothing.
        let _ = IDLE.try_with(|idle| {
            if let Ok(mut idle) = idle.try_borrow_mut()
                && idle.len() < MAX_IDLE
            {
                idle.push(bump);
            }
        });
    }
}
