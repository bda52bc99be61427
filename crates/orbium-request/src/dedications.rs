// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads of an ORB: the deciding hook, and their number.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_channel::dedication::Undedicated;
use orbium_invocation::dedication::Dedication;

/// The place of a connection with a dedicated thread, until it is dropped.
#[derive(Debug)]
pub struct GrantedPlace(Arc<AtomicUsize>);

impl GrantedPlace {
    /// `None` if the limit is reached.
    fn take(taken: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        let more = |count: usize| (count < limit).then_some(count + 1);
        // The count guards no data: atomicity alone keeps it within the limit.
        let took = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        took.ok().map(|_| Self(Arc::clone(taken)))
    }
}

impl Drop for GrantedPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Grants dedicated threads, and counts them.
#[derive(Default)]
pub struct Dedications {
    decides: OnceLock<Arc<dyn Dedication>>,
    granted: Arc<AtomicUsize>,
}

impl Dedications {
    /// Installs the hook that decides about dedicated threads; `false` if there is one already.
    pub fn install(&self, dedication: Arc<dyn Dedication>) -> bool {
        self.decides.set(dedication).is_ok()
    }

    /// The hook that decides, if it is installed.
    #[inline]
    pub fn decides(&self) -> Option<&Arc<dyn Dedication>> {
        self.decides.get()
    }

    /// The number of connections with dedicated threads.
    pub fn granted(&self) -> usize {
        self.granted.load(Ordering::Acquire)
    }

    /// A place for a further connection, if there are fewer than `limit`.
    ///
    /// # Errors
    /// [`Undedicated::Limit`].
    pub fn place(&self, limit: usize) -> Result<GrantedPlace, Undedicated> {
        GrantedPlace::take(&self.granted, limit).ok_or(Undedicated::Limit)
    }
}
