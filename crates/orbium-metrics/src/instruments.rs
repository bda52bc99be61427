// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruments of an ORB: the book of its connections, and the measurements once metrics are
//! on.

use std::fmt;
use std::sync::{Arc, OnceLock};

use orbium_sys::fork::PerProcess;

use crate::{ConnectionBook, Measurements};

/// The instruments of an ORB, shared by its client and its server.
#[derive(Default)]
pub struct Instruments {
    measurements: OnceLock<Arc<Measurements>>,
    /// A forked child has a separate book.
    book: PerProcess<ConnectionBook>,
}

impl Instruments {
    /// The connections of this process, client's and server's.
    #[must_use]
    pub fn book(&self) -> &ConnectionBook {
        self.book.get_or_init(|| {
            let book = ConnectionBook::default();
            if self.measurements.get().is_some() {
                book.count_traffic();
            }
            book
        })
    }

    /// The measurements; `None` while metrics are off.
    #[must_use]
    #[inline(always)]
    pub fn measurements(&self) -> Option<&Arc<Measurements>> {
        self.measurements.get()
    }

    /// Turns metrics on.
    pub fn turn_on(&self) -> &Arc<Measurements> {
        let all = self.measurements.get_or_init(Arc::default);
        self.book().count_traffic();
        all
    }
}

impl fmt::Debug for Instruments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instruments")
            .field("on", &self.measurements.get().is_some())
            .finish_non_exhaustive()
    }
}
