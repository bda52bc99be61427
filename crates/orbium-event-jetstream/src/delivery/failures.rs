// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failure counts of consumers, by event: deliveries to unreachable consumers do not count.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

/// The failures of one consumer, by the position of the event in the stream.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<BTreeMap<u64, u64>>);

impl Failures {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.0.lock()
    }

    /// Counts one more failure of an event, and returns their number. At most so many events are
    /// counted: beyond that the oldest count is reset.
    pub(crate) fn add(&self, sequence: u64, most: usize) -> u64 {
        let mut all = self.lock();
        if all.len() >= most && !all.contains_key(&sequence) {
            all.pop_first();
        }
        let count = all.entry(sequence).or_default();
        *count += 1;
        *count
    }

    /// Removes the count of an event that is not delivered any more.
    pub(crate) fn end(&self, sequence: u64) {
        self.lock().remove(&sequence);
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

/// The failures of named consumers. They outlive the connection, so that the failures of an event
/// that repeatedly ends its consumer add up.
#[derive(Debug)]
pub(crate) struct NamedFailures {
    most: usize,
    by_name: Mutex<BTreeMap<String, Arc<Failures>>>,
}

impl NamedFailures {
    /// The failures of so many names, and of connected consumers.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            by_name: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Failures>>> {
        self.by_name.lock()
    }

    /// The failures of a consumer name.
    pub(crate) fn of(&self, name: &str) -> Arc<Failures> {
        let mut all = self.lock();
        if let Some(failures) = all.get(name) {
            return Arc::clone(failures);
        }
        let is_connected = |it: &Arc<Failures>| Arc::strong_count(it) > 1;
        all.retain(|_, it| is_connected(it) || !it.is_empty());
        if all.len() >= self.most {
            let unused = all.iter().find(|(_, it)| !is_connected(it));
            if let Some(unused) = unused.map(|(name, _)| name.clone()) {
                all.remove(&unused);
            }
        }
        let failures = Arc::<Failures>::default();
        all.insert(name.to_owned(), Arc::clone(&failures));
        failures
    }

    /// Resets the failures of a name for its next consumer.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_begins_anew_when_it_has_ended_or_too_many_fail() {
        let failures = Failures::default();
        assert_eq!([7, 7, 8].map(|it| failures.add(it, 2)), [1, 2, 1]);
        failures.end(8);
        assert_eq!(failures.add(8, 2), 1);
        assert_eq!([9, 8, 7].map(|it| failures.add(it, 2)), [1, 2, 1]);
    }

    #[test]
    fn failures_of_a_name_outlive_its_connection_within_a_bound() {
        let all = NamedFailures::new(2);
        all.of("north").add(7, 9);
        // It has no failures, and is evicted.
        drop(all.of("idle"));
        let south = all.of("south");
        assert_eq!((all.of("north").add(7, 9), all.lock().len()), (2, 2));
        all.of("east").add(7, 9);
        assert_eq!((all.of("north").add(7, 9), all.lock().len()), (1, 2));
        assert!(Arc::ptr_eq(&south, &all.of("south")));
        all.forget("south");
        assert!(!Arc::ptr_eq(&south, &all.of("south")));
    }
}
