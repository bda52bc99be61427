// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hand-off of a value to another thread.

use std::sync::Arc;

use orbium_sync::ThreadCache;
use orbium_sync::lock::Mutex;

/// Has another thread run `go_on` with the value of this one; returns the value if no thread is
/// available.
pub(super) fn hand_off<T: Send + 'static>(
    threads: &ThreadCache,
    had: Box<T>,
    go_on: impl FnOnce(Box<T>) + Send + 'static,
) -> Result<(), Box<T>> {
    let passed = Arc::new(Mutex::new(Some(had)));
    let taken = Arc::clone(&passed);
    let spawned = threads.run(move || {
        let had = taken.lock().take();
        if let Some(had) = had {
            go_on(had);
        }
    });
    let Err(error) = spawned else {
        return Ok(());
    };
    crate::log::debug!(target: "orbium::conn", %error, "no thread");
    let back = passed.lock().take();
    // Only this thread could have taken it.
    back.map_or(Ok(()), Err)
}
