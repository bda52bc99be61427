// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that their clients have cancelled.

use std::collections::HashMap;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_sync::lock::{Mutex, MutexGuard};

use orbium_request::Unanswered;

/// Maximum number of cancelled requests recorded while replies may still be sent.
const MAX: usize = 1024;

/// The ids of cancelled requests of a connection, and its open requests, which are cancelled
/// immediately.
#[derive(Debug, Default)]
pub(crate) struct Cancelled {
    open: Mutex<HashMap<u32, Weak<dyn Unanswered>>>,
    ids: Mutex<Vec<u32>>,
    /// Whether there are any, readable without the lock.
    some: AtomicBool,
}

impl Cancelled {
    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.ids.lock()
    }

    /// Records a cancelled request, up to `MAX`.
    pub(crate) fn insert(&self, request_id: u32) {
        let mut ids = self.lock();
        if ids.len() < MAX && !ids.contains(&request_id) {
            ids.push(request_id);
            self.some.store(true, Ordering::Release);
        }
    }

    fn lock_open(&self) -> MutexGuard<'_, HashMap<u32, Weak<dyn Unanswered>>> {
        self.open.lock()
    }

    /// Registers an open request.
    pub(crate) fn open(&self, request_id: u32, request: Weak<dyn Unanswered>) {
        self.lock_open().insert(request_id, request);
    }

    /// Removes an open request.
    pub(crate) fn close(&self, request_id: u32) {
        self.lock_open().remove(&request_id);
    }

    /// Cancels an open request; returns whether there is one with that id.
    pub(crate) fn reaches_open(&self, request_id: u32) -> bool {
        let open = self.lock_open().remove(&request_id);
        // Without the lock: this closes the request.
        let open = open.and_then(|it| it.upgrade());
        open.is_some_and(|it| {
            it.cancel();
            true
        })
    }

    /// Cancels all open requests: the client is gone.
    pub(crate) fn end_open(&self) {
        let open = std::mem::take(&mut *self.lock_open());
        for request in open.values().filter_map(Weak::upgrade) {
            request.cancel();
        }
    }

    /// Removes a cancelled request; returns whether it was recorded.
    pub(crate) fn remove(&self, request_id: u32) -> bool {
        self.some.load(Ordering::Acquire) && self.remove_from_some(request_id)
    }

    #[cold]
    fn remove_from_some(&self, request_id: u32) -> bool {
        let mut ids = self.lock();
        let mut place = None;
        for (at, id) in ids.iter().enumerate() {
            if *id == request_id {
                place = Some(at);
                break;
            }
        }
        if let Some(place) = place {
            ids.swap_remove(place);
        }
        self.some.store(!ids.is_empty(), Ordering::Release);
        place.is_some()
    }

    /// Removes all.
    pub(crate) fn clear(&self) {
        if self.some.load(Ordering::Acquire) {
            self.clear_some();
        }
    }

    #[cold]
    fn clear_some(&self) {
        let mut ids = self.lock();
        ids.clear();
        self.some.store(false, Ordering::Release);
    }
}
