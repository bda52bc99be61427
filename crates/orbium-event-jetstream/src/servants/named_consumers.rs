// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registry of named consumers, with the proxy of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

use crate::servants::proxies::Proxy;

/// The proxies of connected named consumers, one for each name.
#[derive(Default)]
pub(crate) struct Names(Mutex<BTreeMap<String, Arc<dyn Proxy>>>);

impl Names {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn Proxy>>> {
        self.0.lock()
    }

    /// Assigns a name to a proxy, and returns its previous owner.
    pub(crate) fn claim(&self, name: &str, proxy: Arc<dyn Proxy>) -> Option<Arc<dyn Proxy>> {
        self.lock().insert(name.to_owned(), proxy)
    }

    /// Removes a name from its proxy.
    pub(crate) fn release(&self, name: &str) -> Option<Arc<dyn Proxy>> {
        self.lock().remove(name)
    }

    /// Removes a name from this proxy, unless another one has it.
    pub(crate) fn release_if(&self, name: &str, number: u64) {
        let mut names = self.lock();
        let is_its_own = names.get(name).is_some_and(|it| it.number() == number);
        let released = is_its_own.then(|| names.remove(name));
        drop(names);
        drop(released);
    }
}
