// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a connection, for servants that watch it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_request::ConnectionWatch;

/// A flag set by the end of a connection, created when a servant watches it.
#[derive(Debug, Default)]
pub(super) struct Watched(OnceLock<Arc<AtomicBool>>);

impl Watched {
    pub(super) fn end(&self) {
        if let Some(ended) = self.0.get() {
            ended.store(true, Ordering::Release);
        }
    }

    /// A watch of the connection with that number.
    pub(super) fn watch(&self, id: u64, has_ended: impl Fn() -> bool) -> ConnectionWatch {
        let made = || Arc::new(AtomicBool::new(false));
        let ended = self.0.get_or_init(made);
        // It may have ended before the flag existed. A concurrent end is recorded when the
        // connection is dropped.
        if has_ended() {
            ended.store(true, Ordering::Release);
        }
        ConnectionWatch::new(id, ended)
    }
}
