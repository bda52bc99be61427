// SPDX-License-Identifier: MIT OR Apache-2.0
//! The existing proxies of one kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{ExceptionKind, SystemException};
use orbium_event::Pattern;
use orbium_event::rtec::orbium_event::ConsumerState;

/// A proxy for the channel.
pub(crate) trait Proxy: Send + Sync {
    /// The state of the connected peer; `None` without one.
    fn state(&self) -> Option<ConsumerState>;

    /// The subscription of the peer, if it is a connected consumer and not a gateway.
    fn subscription(&self) -> Option<Pattern> {
        None
    }

    /// Types and sources that the peer publishes, if it is a supplier and not a gateway.
    fn published(&self) -> Vec<(i32, i32)> {
        Vec::new()
    }

    /// Ends the connection and deactivates the object.
    fn end(&self);

    /// Its number among the proxies of its kind.
    fn number(&self) -> u64;
}

/// The proxies of suppliers, or of consumers.
pub(crate) struct Proxies {
    most: usize,
    all: Mutex<Numbered>,
}

#[derive(Default)]
struct Numbered {
    last: u64,
    by_number: BTreeMap<u64, Arc<dyn Proxy>>,
}

impl Proxies {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            all: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        self.all.lock()
    }

    /// Adds the proxy that `make` returns for its number.
    ///
    /// # Errors
    /// `IMP_LIMIT`: the maximum number is reached.
    pub(crate) fn add<P: Proxy + 'static>(
        &self,
        make: impl FnOnce(u64) -> Arc<P>,
    ) -> Result<Arc<P>, SystemException> {
        let mut all = self.lock();
        if all.by_number.len() >= self.most {
            return Err(ExceptionKind::ImpLimit.into());
        }
        all.last += 1;
        let number = all.last;
        let proxy = make(number);
        let of_channel: Arc<dyn Proxy> = Arc::clone(&proxy) as _;
        all.by_number.insert(number, of_channel);
        Ok(proxy)
    }

    pub(crate) fn remove(&self, number: u64) {
        let removed = self.lock().by_number.remove(&number);
        drop(removed);
    }

    fn all(&self) -> Vec<Arc<dyn Proxy>> {
        self.lock().by_number.values().cloned().collect()
    }

    /// The states of connected peers.
    pub(crate) fn connected(&self) -> Vec<ConsumerState> {
        self.all().iter().filter_map(|it| it.state()).collect()
    }

    /// The subscriptions for observers.
    pub(crate) fn subscriptions(&self) -> Vec<Pattern> {
        self.all()
            .iter()
            .filter_map(|it| it.subscription())
            .collect()
    }

    /// The publications for observers.
    pub(crate) fn published(&self) -> Vec<(i32, i32)> {
        self.all().iter().flat_map(|it| it.published()).collect()
    }

    /// Ends every proxy.
    pub(crate) fn end_all(&self) {
        for proxy in self.all() {
            proxy.end();
        }
    }
}
