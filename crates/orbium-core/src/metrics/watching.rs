// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slot of an ORB for its watch.

use std::path::PathBuf;

use orbium_sync::lock::Mutex;

use crate::Orb;

/// The watch of an ORB, if it has one.
#[derive(Default)]
pub(crate) struct Watching(pub(crate) Mutex<Option<(Orb, PathBuf)>>);

impl Watching {
    /// Ends the watch.
    pub(crate) fn end(&self) {
        let watch = self.0.lock().take();
        if let Some((orb, _)) = watch {
            let _ = orb.shutdown(true);
        }
    }
}
