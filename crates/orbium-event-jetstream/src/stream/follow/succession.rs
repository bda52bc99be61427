// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of one name are served one after the other: requests of the one before would get events that are stored after it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use orbium::lock::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::stream::requests::EXPIRES;

/// Maximum wait of a consumer for the end of its predecessor, which may be in a push that does not return.
const MAX_WAIT: Duration = EXPIRES.saturating_mul(3);

type Turn = tokio::sync::Mutex<()>;

/// The names that are served.
#[derive(Default)]
pub(crate) struct Succession(Mutex<BTreeMap<String, Arc<Turn>>>);

impl Succession {
    /// Waits until no consumer of that name is served, or for as long as it may take. Until the guard is dropped others wait.
    pub(super) async fn begin(&self, name: &str) -> Option<OwnedMutexGuard<()>> {
        timeout(MAX_WAIT, self.of(name).lock_owned()).await.ok()
    }

    fn of(&self, name: &str) -> Arc<Turn> {
        let mut all = self.0.lock();
        if let Some(turn) = all.get(name) {
            return Arc::clone(turn);
        }
        all.retain(|_, turn| Arc::strong_count(turn) > 1);
        let turn = Arc::<Turn>::default();
        all.insert(name.to_owned(), Arc::clone(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_waits_for_its_guard_and_for_no_other() {
        let all = Succession::default();
        let guard = all.of("north").try_lock_owned();
        assert!(guard.is_ok());
        assert!(all.of("north").try_lock_owned().is_err());
        assert!(all.of("south").try_lock_owned().is_ok());
        drop(guard);
        assert!(all.of("north").try_lock_owned().is_ok());
        let _east = all.of("east").try_lock_owned();
        assert_eq!(all.0.lock().len(), 1);
    }
}
